import { MillraceError, isMillraceError } from '../errors/millrace-error.ts'
import { type Clock, type Timers } from '../ports/clock.ts'
import { type Lifecycle } from '../ports/lifecycle.ts'

export interface Runnable {
  readonly plugin: string
  readonly lifecycle: Lifecycle
}

/** Starts in order, stops what was started in reverse, and gives up on what does not stop before the deadline. */
export class LifecycleRunner {
  readonly #ordered: readonly Runnable[]
  readonly #time: { readonly clock: Clock, readonly timers: Timers }
  #started: Runnable[] = []
  #stopRequested = false
  /** The start that is under way; it never rejects. */
  #starting: Promise<unknown> = Promise.resolve()

  constructor(ordered: readonly Runnable[], time: { readonly clock: Clock, readonly timers: Timers }) {
    this.#ordered = ordered
    this.#time = time
  }

  /** Rejects with the error of the plugin that failed, after the others were stopped again. */
  async start(stopDeadlineMs: number): Promise<void> {
    for (const runnable of this.#ordered) {
      // A stop that came while one of them was starting has stopped what had been started; nothing may start behind its back.
      if (this.#stopRequested) throw new MillraceError('MR_HOST_START_FAILED', { plugin: runnable.plugin, reason: 'the host was stopped while it started' })
      this.#started.push(runnable)
      try {
        const started = runnable.lifecycle.start()
        this.#starting = started.catch(() => undefined)
        await started
      } catch (error) {
        await this.stop(stopDeadlineMs)
        if (isMillraceError(error)) throw error
        throw new MillraceError('MR_HOST_START_FAILED', { plugin: runnable.plugin, reason: reasonOf(error) }, error)
      }
    }
  }

  /**
   * Resolves with what went wrong, in order; it never rejects. A start that is under way is let finish first, so that nobody is stopped
   * and then goes on starting. Later calls find nothing left to stop.
   */
  async stop(deadlineMs: number): Promise<readonly MillraceError[]> {
    this.#stopRequested = true
    const endMs = this.#time.clock.monotonicMs() + deadlineMs
    await this.#within(deadlineMs, this.#starting)
    const started = this.#started.reverse()
    this.#started = []
    const problems: MillraceError[] = []
    for (const { plugin, lifecycle } of started) {
      try {
        const leftMs = Math.max(0, endMs - this.#time.clock.monotonicMs())
        const stopped = await this.#within(leftMs, lifecycle.stop())
        if (!stopped) problems.push(new MillraceError('MR_HOST_STOP_TIMEOUT', { plugin, deadlineMs }))
      } catch (error) {
        problems.push(isMillraceError(error)
          ? error
          : new MillraceError('MR_HOST_STOP_FAILED', { plugin, reason: reasonOf(error) }, error))
      }
    }
    return problems
  }

  #within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const timer = this.#time.timers.after(limitMs, () => { resolve(false) })
      work.then(() => { timer.cancel(); resolve(true) }, (error: unknown) => { timer.cancel(); reject(error as Error) })
    })
  }
}

const reasonOf = (error: unknown): string => error instanceof Error ? error.message : String(error)
