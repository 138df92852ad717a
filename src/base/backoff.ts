/** Waits that grow from `initialMs` to `maxMs`. */
export interface BackoffOptions {
  readonly initialMs: number
  readonly maxMs: number
  /** Factor from one wait to the next, 1 or more. */
  readonly multiplier: number
  /** Part of the wait that chance moves, 0 to 1: with 0.2 a wait is 80 % to 120 % of its nominal length. */
  readonly jitter: number
}

/** Kafka's clients wait like this between retries. */
export const defaultBackoff: BackoffOptions = { initialMs: 100, maxMs: 1000, multiplier: 2, jitter: 0.2 }

/**
 * How long to wait after `failures` failures in a row (1 = the first failed). Whole milliseconds, never above `maxMs`, also with jitter.
 * `random` gives a number in [0, 1).
 */
export function backoffMs(failures: number, options: BackoffOptions, random: () => number): number {
  const nominal = Math.min(options.maxMs, options.initialMs * options.multiplier ** Math.max(0, failures - 1))
  const moved = nominal * (1 + options.jitter * (random() * 2 - 1))
  return Math.round(Math.min(options.maxMs, moved))
}
