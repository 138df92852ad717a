import { type LogState } from './log-state.ts'

/**
 * Syncs the indexes of one log after the other, so that no more than one sync of this kind is in flight. `finished` is called once, with the
 * first error or undefined; it may be called before this returns.
 */
export function syncIndexesOf(logs: readonly LogState[], finished: (error: unknown) => void): void {
  const left = [...logs]
  const next = (): void => {
    for (let log = left.shift(); log !== undefined; log = left.shift()) {
      if (log.failure !== undefined) continue
      let here = true
      let isDone = false
      const done = (error: unknown): void => {
        isDone = true
        if (error !== undefined) finished(error)
        else if (!here) next()
      }
      try {
        log.syncIndexes(done)
      } catch (error) {
        return finished(error)
      }
      here = false
      // The rest when the disk has answered.
      if (!isDone) return
    }
    finished(undefined)
  }
  next()
}
