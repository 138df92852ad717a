import { type Timer, type Timers } from '../../../kernel/ports/clock.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'

/**
 * What is out of sight and to be freed after a while: a read or a copy from outside may still be at it. It is freed only while the data
 * directories are this process's; what a stop leaves is removed by the next start.
 */
export class DelayedRemovals {
  private readonly files: FileSystem
  private readonly timers: Timers
  private readonly waiting = new Set<Timer>()
  private ended = false

  constructor(files: FileSystem, timers: Timers) {
    this.files = files
    this.timers = timers
  }

  /** Removes files, or directories with all that is in them. One that is gone is fine. `done` is told how it went. */
  remove(paths: readonly string[], delayMs: number, done: (error: unknown) => void): void {
    if (this.ended) return
    const timer = this.timers.after(delayMs, () => {
      this.waiting.delete(timer)
      let failure: unknown
      try {
        for (const path of paths) this.files.remove(path)
      } catch (error) {
        failure = error
      }
      done(failure)
    })
    this.waiting.add(timer)
  }

  /** Nothing is removed any more, and no timer is left. */
  end(): void {
    this.ended = true
    for (const timer of this.waiting) timer.cancel()
    this.waiting.clear()
  }
}
