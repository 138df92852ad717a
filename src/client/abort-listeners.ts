/** What waits on a signal, and the one listener of the signal that calls it. */
interface Waiting {
  readonly callbacks: Set<() => void>
  readonly listener: () => void
}

const waitingOn = new WeakMap<AbortSignal, Waiting>()

/**
 * Calls `abort` when the signal is aborted, unless the function that it returns was called before. Not for a signal that is aborted already. A signal has
 * one listener, however many wait on it: with one each, a signal that many calls share would be taken for a leak, and Node would warn of it.
 */
export function onAbort(signal: AbortSignal | undefined, abort: () => void): () => void {
  if (signal === undefined) return () => undefined
  const waiting = waitingOn.get(signal) ?? listenTo(signal)
  waiting.callbacks.add(abort)
  return () => {
    waiting.callbacks.delete(abort)
    if (waiting.callbacks.size > 0 || waitingOn.get(signal) !== waiting) return
    waitingOn.delete(signal)
    signal.removeEventListener('abort', waiting.listener)
  }
}

function listenTo(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>()
  const listener = (): void => {
    waitingOn.delete(signal)
    for (const callback of callbacks) callback()
  }
  const waiting = { callbacks, listener }
  waitingOn.set(signal, waiting)
  signal.addEventListener('abort', listener, { once: true })
  return waiting
}
