import { describe, expect, it } from 'vitest'
import { longRun, type SeedOutcome } from '../../../scripts/long-run.ts'

interface Night {
  readonly hours?: number
  readonly repeatEvery?: number
  /** What the runs give, in order; then `ok`. Each takes an hour. */
  readonly outcomes?: readonly SeedOutcome[]
  readonly endsAfter?: number
}

async function night({ hours = 3, repeatEvery = 0, outcomes = [], endsAfter = Infinity }: Night) {
  let [nowMs, next] = [0, 100]
  const [ran, lines]: [number[], string[]] = [[], []]
  const result = await longRun({
    hours, repeatEvery, nowMs: () => nowMs, nextSeed: () => next++, print: (line) => { lines.push(line) }, isEnding: () => ran.length >= endsAfter,
    run: async (seed) => {
      nowMs += 3_600_000
      ran.push(seed)
      return outcomes[ran.length - 1] ?? { ok: true, digest: String(seed) }
    },
  })
  return { ...result, ran, lines }
}

describe('a long run', () => {
  it('runs seed after seed until its time is over, the one under way to its end', async () => {
    expect(await night({ hours: 2.5 })).toMatchObject({ ran: [100, 101, 102], seeds: 3, failed: [], lines: ['3 seeds in 180 min, 0 failed'] })
    expect((await night({ hours: 0 })).ran).toEqual([100])
  })

  it('goes on after a failure, and names the seeds that failed', async () => {
    const result = await night({ outcomes: [{ ok: false }, { ok: true }, { ok: false }] })
    expect(result).toMatchObject({ ran: [100, 101, 102], failed: [100, 102], lines: ['3 seeds in 180 min, 2 failed: 100, 102'] })
  })

  it('runs every so many seeds again, and one that does something else has failed', async () => {
    const outcomes = [{ ok: true, digest: 'a' }, { ok: true, digest: 'b' }, { ok: true, digest: 'b' }, { ok: true, digest: 'c' }, { ok: true, digest: 'd' }, { ok: true, digest: 'x' }]
    expect(await night({ hours: 6, repeatEvery: 2, outcomes })).toMatchObject({
      ran: [100, 101, 101, 102, 103, 103], failed: [103], lines: [expect.stringContaining('digest d, then x'), '4 seeds in 360 min, 1 failed: 103'],
    })
  })

  it('that is interrupted ends at once, and holds nothing against the seed under way', async () => {
    expect(await night({ endsAfter: 2, outcomes: [{ ok: true }, { ok: false }] })).toMatchObject({ ran: [100, 101], seeds: 2, failed: [] })
  })
})
