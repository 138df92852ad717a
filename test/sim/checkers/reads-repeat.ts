import { type Checker, type HistoryEvent, Violation } from '../history.ts'
import { PartitionStates } from './partition-states.ts'

/** S7: an offset never yields two different records, over all reads, clients and lives of the broker. */
export class ReadsRepeat implements Checker {
  readonly claim = 'S7 reads repeat'
  private readonly read = new PartitionStates(() => new Map<number, string>())

  see(event: HistoryEvent): void {
    this.read.see(event)
    if (event.kind !== 'read' && event.kind !== 'fetched' && event.kind !== 'scanned') return
    const there = this.read.of(event.partition)
    for (const { offset, timestamp, content } of event.records) {
      const seen = `${content} of ${timestamp}`
      const before = there.get(offset)
      if (before !== undefined && before !== seen) throw new Violation(`${event.partition} gave ${seen} at ${offset}, and ${before} before`)
      there.set(offset, seen)
    }
  }
}
