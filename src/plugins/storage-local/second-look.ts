import { isMillraceError } from '../../kernel/errors/index.ts'
import { type Segment } from './io/segment.ts'
import { type LogWorld } from './log-world.ts'

/** A place of a segment that is not as it was written, by the first read of it. Thrown by look-ups, and caught where they began. */
export class Doubt extends Error {
  readonly segment: Segment
  readonly position: number
  readonly reason: string

  constructor(segment: Segment, position: number, reason: string) {
    super(`${segment.path('.log')} at byte ${position}: ${reason}`)
    this.segment = segment
    this.position = position
    this.reason = reason
  }
}

const misreadRemedy = 'nothing was lost; where it comes again look at memory, cables and controller of this machine'

/** What was read wrong, and right when it was read once more. `where` names it. */
export function tellMisread({ logger }: Pick<LogWorld, 'logger'>, where: Readonly<Record<string, unknown>>): void {
  logger.warn('bytes were read wrong from the disk, and right when they were read once more: they are not damaged', { ...where, remedy: misreadRemedy })
}

/** Whether a log cannot be loaded because it was found damaged. */
export const isDamage = (error: unknown): error is Error & { readonly details: Readonly<Record<string, unknown>> } =>
  isMillraceError(error, 'MR_LOG_CORRUPT') || isMillraceError(error, 'MR_RECORD_CORRUPT')

/** Loads a log; from the beginning once more where it is found damaged, which changes nothing in its files: what was read may not be what is there. */
export function loadTwice<T>(world: Pick<LogWorld, 'integrity' | 'logger'>, load: () => T): T {
  try {
    return load()
  } catch (error) {
    if (!isDamage(error)) throw error
    world.integrity.failed('first')
    try {
      const report = load()
      tellMisread(world, error.details)
      return report
    } catch (again) {
      if (isDamage(again)) world.integrity.failed('second')
      throw again
    }
  }
}
