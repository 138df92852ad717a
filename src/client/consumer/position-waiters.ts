import { type Timers } from '../../kernel/ports/clock.ts'
import { onAbort } from '../abort-listeners.ts'
import { abortReason } from '../client-error.ts'

export interface PositionWait {
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** What to reject with when the time is up. */
  readonly late: () => Error
}

/** Those who wait for positions that have to be looked up. */
export class PositionWaiters {
  private readonly timers: Timers
  private readonly waiters = new Set<() => void>()

  constructor(timers: Timers) {
    this.timers = timers
  }

  /** Resolves with what `look` gives, as soon as it gives something; rejects with what it throws, and with the signal's reason. */
  wait(look: () => number | undefined, { timeoutMs, signal, late }: PositionWait): Promise<number> {
    return new Promise((resolve, reject: (error: Error) => void) => {
      if (signal?.aborted === true) {
        reject(abortReason(signal))
        return
      }
      const waiter = (): void => {
        try {
          const position = look()
          if (position === undefined) return
          resolve(position)
        } catch (error) {
          reject(error as Error)
        }
        stop()
      }
      const stop = (): void => {
        timer.cancel()
        this.waiters.delete(waiter)
        unlisten()
      }
      const timer = this.timers.after(timeoutMs, () => { stop(); reject(late()) })
      const unlisten = onAbort(signal, () => { stop(); reject(abortReason(signal!)) })
      this.waiters.add(waiter)
    })
  }

  /** Something may have changed. */
  lookAgain(): void {
    for (const waiter of [...this.waiters]) waiter()
  }
}
