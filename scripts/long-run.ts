/** How one run of a seed ended. */
export interface SeedOutcome {
  readonly ok: boolean
  /** Equal for two runs of a seed in which the same things happened, where a run can be repeated. */
  readonly digest?: string
}

export interface LongRun {
  readonly hours: number
  /** Steady time. */
  readonly nowMs: () => number
  readonly nextSeed: () => number
  /** Runs a seed, and prints what it does. */
  readonly run: (seed: number) => Promise<SeedOutcome>
  /** Every so many seeds, one is run again, and has to do the same. 0: none. */
  readonly repeatEvery: number
  readonly print: (line: string) => void
  /** True from when the run was asked to end. */
  readonly isEnding: () => boolean
}

export interface LongRunResult {
  readonly seeds: number
  /** Seeds of which a run failed, or did not do the same again. */
  readonly failed: readonly number[]
}

/** Seed after seed until the time is over. It goes on after a failure: a night finds as many as it can. One seed is run at least. */
export async function longRun({ hours, nowMs, nextSeed, run, repeatEvery, print, isEnding }: LongRun): Promise<LongRunResult> {
  const beganMs = nowMs()
  const endMs = beganMs + hours * 3_600_000
  const failed: number[] = []
  let seeds = 0
  do {
    const seed = nextSeed()
    seeds += 1
    const first = await run(seed)
    // A run that was interrupted says nothing about its seed.
    if (isEnding()) break
    if (!first.ok) {
      failed.push(seed)
    } else if (repeatEvery > 0 && seeds % repeatEvery === 0) {
      const second = await run(seed)
      if (isEnding()) break
      if (!second.ok || second.digest !== first.digest) {
        failed.push(seed)
        print(`seed ${seed}: run again it did something else: digest ${first.digest}, then ${second.digest}`)
      }
    }
  } while (nowMs() < endMs)
  const minutes = Math.round((nowMs() - beganMs) / 60_000)
  print(`${seeds} ${seeds === 1 ? 'seed' : 'seeds'} in ${minutes} min, ${failed.length} failed${failed.length === 0 ? '' : `: ${failed.join(', ')}`}`)
  return { seeds, failed }
}
