/** Longest wait in one piece: wall clocks are set, and timers have a largest delay. */
const waitMsMax = 600_000

/** Of an interval, the largest part by which a sweep may be late. */
const jitterShare = 0.1

/** Whether it may be a cron expression at all; only the library that reads it knows. */
export const looksLikeSchedule = (text: string): boolean => text === '' || /^@[a-z]+$/.test(text) || /^\S+( +\S+){4,5}$/.test(text)

/** Milliseconds from one sweep to the next. `chance` is uniform in [0, 1). */
export function intervalDelayMs(intervalMs: number, jitterMs: number, chance: number): number {
  return intervalMs + chance * Math.min(jitterMs, intervalMs * jitterShare)
}

/**
 * How long to wait now for a wall time that is `leftMs` away, `plannedMs` when it was chosen. `'again'`: the clock was set back, and the time is to be
 * chosen again; 0: it has come.
 */
export function waitMs(leftMs: number, plannedMs: number): number | 'again' {
  if (leftMs > plannedMs) return 'again'
  return Math.min(Math.max(0, leftMs), waitMsMax)
}
