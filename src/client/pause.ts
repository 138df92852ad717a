import { type Timers } from '../kernel/ports/clock.ts'
import { abortReason } from './client-error.ts'

/** Resolves after `delayMs`; rejects with the signal's reason if that comes first. */
export function pause(timers: Timers, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal))
      return
    }
    const abort = (): void => {
      timer.cancel()
      reject(abortReason(signal!))
    }
    const timer = timers.after(delayMs, () => {
      signal?.removeEventListener('abort', abort)
      resolve()
    })
    signal?.addEventListener('abort', abort, { once: true })
  })
}
