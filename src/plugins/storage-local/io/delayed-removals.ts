import { type Clock, type Timer, type Timers } from '../../../kernel/ports/clock.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'

/** A slice that has taken so long is ended. */
const sliceMs = 3
/** A clock that does not move by itself must not make a slice endless. */
const stepsPerSliceMax = 64

interface Removal {
  /** The last one is next. What is in a directory comes before it. */
  readonly paths: string[]
  /** Directories of which the contents are among the paths. */
  readonly listed: Set<string>
  readonly done: (error: unknown) => void
}

/**
 * What is out of sight and to be freed after a while: a read or a copy from outside may still be at it. It is freed only while the data
 * directories are this process's; what a stop leaves is removed by the next start. Files go one by one, a few in each turn of the event loop: a deleted
 * topic may have thousands of them, of which a large one takes milliseconds.
 */
export class DelayedRemovals {
  private readonly files: FileSystem
  private readonly clock: Clock
  private readonly timers: Timers
  private readonly waiting = new Set<Timer>()
  /** Their time has come; the first is being removed. */
  private readonly due: Removal[] = []
  private running = false
  private ended = false

  constructor(files: FileSystem, clock: Clock, timers: Timers) {
    this.files = files
    this.clock = clock
    this.timers = timers
  }

  /** Removes files, or directories with all that is in them, in order. One that is gone is fine. `done` is told how it went; after an error the rest stays. */
  remove(paths: readonly string[], delayMs: number, done: (error: unknown) => void): void {
    if (this.ended) return
    const timer = this.timers.after(delayMs, () => {
      this.waiting.delete(timer)
      this.due.push({ paths: [...paths].reverse(), listed: new Set(), done })
      if (!this.running) this.slice()
    })
    this.waiting.add(timer)
  }

  /** Nothing is removed any more, and no timer is left. */
  end(): void {
    this.ended = true
    for (const timer of this.waiting) timer.cancel()
    this.waiting.clear()
    this.due.length = 0
  }

  private readonly slice = (): void => {
    const beganMs = this.clock.monotonicMs()
    this.running = this.due.length > 0
    if (!this.running) return
    for (let steps = 0; steps < stepsPerSliceMax && this.due.length > 0; steps++) {
      this.advance(this.due[0]!)
      if (this.clock.monotonicMs() - beganMs >= sliceMs) break
    }
    // Also when all is done: what comes in this turn belongs to the next one.
    this.timers.soon(this.slice)
  }

  private advance(removal: Removal): void {
    let failure: unknown
    try {
      this.step(removal)
      if (removal.paths.length > 0) return
    } catch (error) {
      failure = error
    }
    this.due.shift()
    removal.done(failure)
  }

  private step({ paths, listed }: Removal): void {
    const path = paths.at(-1)
    if (path === undefined) return
    if (!listed.has(path) && this.files.stat(path)?.kind === 'directory') {
      listed.add(path)
      for (const name of this.files.list(path)) paths.push(`${path}/${name}`)
      return
    }
    this.files.remove(path)
    paths.pop()
  }
}
