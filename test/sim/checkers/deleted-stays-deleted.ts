import { type Checker, type HistoryEvent, Violation } from '../history.ts'
import { PartitionStates } from './partition-states.ts'

/** What DeleteRecords was acknowledged to have deleted is not there any more: the log does not begin below, whatever comes. */
export class DeletedStaysDeleted implements Checker {
  readonly claim = 'deleted records do not come back'
  private readonly low = new PartitionStates(() => ({ watermark: 0 }))

  see(event: HistoryEvent): void {
    this.low.see(event)
    if (event.kind === 'records deleted') {
      const low = this.low.of(event.partition)
      low.watermark = Math.max(low.watermark, event.lowWatermark)
    }
    if (event.kind === 'scanned' && event.startOffset < this.low.of(event.partition).watermark) {
      throw new Violation(`${event.partition} begins at ${event.startOffset}, and its records below ${this.low.of(event.partition).watermark} were deleted`)
    }
  }
}
