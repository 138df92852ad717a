import { type Timers } from '../kernel/ports/clock.ts'
import { onAbort } from './abort-listeners.ts'
import { abortReason } from './client-error.ts'

/** Resolves after `delayMs`; rejects with the signal's reason if that comes first. */
export function pause(timers: Timers, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal))
      return
    }
    const unlisten = onAbort(signal, () => {
      timer.cancel()
      reject(abortReason(signal!))
    })
    const timer = timers.after(delayMs, () => {
      unlisten()
      resolve()
    })
  })
}
