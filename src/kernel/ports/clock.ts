import { token } from '../plugin/token.ts'

/** Time. The only source of it outside `platform`: a test or a simulation moves it by hand. Asking never throws. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC, a whole number. It may jump either way: never measure durations with it. */
  wallMs(): number
  /** Milliseconds since an arbitrary start, with a fraction; never goes back. */
  monotonicMs(): number
}
export const Clock = token<Clock>('Clock', { wallMs: true, monotonicMs: true })

/** A timer that was set. Cancelling one that fired, or was cancelled, does nothing; it never throws. */
export interface Timer {
  /** The callback is not called any more. Once, at any time. */
  cancel(): void
}

/** Callbacks later. No callback runs before the function that set it has returned. Setting one never throws; a callback must not throw. */
export interface Timers {
  /** Once, no sooner than `delayMs` (>= 0) from now. Timers of equal time fire in the order they were set. */
  after(delayMs: number, callback: () => void): Timer
  /** Once, after the I/O events at hand were handled. In the order of the calls. */
  soon(callback: () => void): void
}
export const Timers = token<Timers>('Timers', { after: true, soon: true })

/** Randomness. Real ones are cryptographically strong; those of tests come from a seed. Asking never throws. */
export interface Random {
  /** Uniform in [0, 1). */
  fraction(): number
  /** So many uniform bytes, 0 included, that the caller owns. */
  bytes(length: number): Uint8Array
}
export const Random = token<Random>('Random', { fraction: true, bytes: true })
