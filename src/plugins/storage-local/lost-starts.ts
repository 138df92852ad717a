import { type Logger } from '../../kernel/ports/telemetry.ts'
import { type SegmentedLog } from './segmented-log.ts'

/** In a line of the log; there may be thousands. */
const namesMax = 20

/** The logs of a data directory of which a start found no log start: what was deleted below it, and is in the same segment still, is served again. */
export class LostStarts {
  /** By name, where the log began at the start. */
  private readonly found = new Map<string, number>()
  private wereLost = false

  lost(): void {
    this.wereLost = true
  }

  /** All logs are loaded. */
  tell(logs: ReadonlyMap<string, SegmentedLog>, logger: Logger, path: string): void {
    if (!this.wereLost) return
    for (const [name, { startOffset, endOffset, state }] of logs) if (state.failure === undefined && endOffset > startOffset) this.found.set(name, startOffset)
    if (this.found.size === 0) return
    logger.error('where logs begin is lost: they begin at their first segments, and records that were deleted may be served again', {
      path, logs: this.found.size, partitions: [...this.found.keys()].slice(0, namesMax),
      remedy: 'delete once more, by DeleteRecords, what is not to be read; look at the disk',
    })
  }

  /** The names of those that are here and begin where they did. */
  names(logs: ReadonlyMap<string, SegmentedLog>): string[] {
    return [...this.found].flatMap(([name, start]) => logs.get(name)?.startOffset === start ? [name] : [])
  }
}
