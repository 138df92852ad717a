import { CronTime } from 'cron'
import { MillraceError } from '../../../kernel/errors/millrace-error.ts'

/** Gives the first time after `afterMs`, both in milliseconds since 1970, that the schedule names. */
export type NextDate = (afterMs: number) => number

/**
 * Reads a cron expression, UTC: of the library only its arithmetic, no clock and no timer. Throws MR_HOST_SETTING for one that it cannot read, and for one that
 * names no day of the next eight years.
 */
export function cronDates(expression: string, nowMs: number): NextDate {
  const next: NextDate = afterMs => {
    try {
      // A time that was given, in the only form that the library takes; no clock is asked
      // eslint-disable-next-line no-restricted-globals
      return new CronTime(expression, 'UTC').getNextDateFrom(new Date(afterMs), 'UTC').toMillis()
    } catch (error) {
      const reason = (error as Error).message.split('\n')[0]
      throw new MillraceError('MR_HOST_SETTING', { plugin: 'retention', key: 'schedule', reason: `"${expression}" is no cron expression that names a day to come: ${reason}`, suggestion: '; five fields such as `30 3 * * *` (at 03:30 UTC), or six with seconds first' }, error)
    }
  }
  next(nowMs)
  return next
}
