import { type Checker, type HistoryEvent, type SeenRecord, Violation } from '../history.ts'
import { Overtaken } from './overtaken.ts'
import { PartitionStates } from './partition-states.ts'

/** S1, for whoever reads: what any consumer was given stays: it is at its offset, the same, until retention, a deletion or compaction takes it, whoever produced it and with whatever acks. */
export class ReadIsDurable implements Checker {
  readonly claim = 'S1 what was read is durable'
  private readonly read = new PartitionStates(() => new Map<number, string>())
  private readonly overtaken = new Overtaken()

  see(event: HistoryEvent): void {
    this.read.see(event)
    this.overtaken.see(event)
    if (event.kind === 'read' || event.kind === 'fetched') for (const { offset, content } of event.records) this.read.of(event.partition).set(offset, content)
    if (event.kind === 'scanned') this.check(event.partition, event.startOffset, event.records)
  }

  private check(partition: string, startOffset: number, records: readonly SeenRecord[]): void {
    const found = new Map(records.map(({ offset, content }) => [offset, content]))
    const mayBeGone = this.overtaken.by(partition, records)
    for (const [offset, content] of this.read.of(partition)) {
      if (!found.has(offset) && mayBeGone(offset, content)) continue
      if (offset >= startOffset && found.get(offset) !== content) throw new Violation(`${partition} has ${found.get(offset) ?? 'nothing'} at ${offset}, where a consumer was given ${content}`)
    }
  }
}
