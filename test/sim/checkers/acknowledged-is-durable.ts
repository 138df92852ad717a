import { type Checker, type HistoryEvent, type SeenRecord, Violation } from '../history.ts'
import { Overtaken } from './overtaken.ts'
import { PartitionStates } from './partition-states.ts'

/** S1: what was acknowledged to acks=all is at its offset, with equal key, value and headers, until retention, a deletion of records or compaction takes it. */
export class AcknowledgedIsDurable implements Checker {
  readonly claim = 'S1 acknowledged is durable'
  private readonly acknowledged = new PartitionStates(() => new Map<number, string>())
  private readonly trimmed = new Set<string>()
  private readonly overtaken = new Overtaken()
  /** DeleteRecords was asked for below. */
  private readonly asked = new PartitionStates(() => ({ below: 0 }))

  see(event: HistoryEvent): void {
    this.acknowledged.see(event)
    this.overtaken.see(event)
    this.asked.see(event)
    switch (event.kind) {
      case 'created':
        if (event.trimmed) this.trimmed.add(event.partition)
        return
      case 'deleting': {
        const asked = this.asked.of(event.partition)
        asked.below = Math.max(asked.below, event.offset)
        return
      }
      case 'appended': {
        if (event.acks !== 'all' || event.baseOffset < 0) return
        const there = this.acknowledged.of(event.partition)
        event.contents.forEach((content, index) => there.set(event.baseOffset + index, content))
        return
      }
      case 'read':
      case 'fetched':
        return this.compare(event.partition, event.records)
      case 'scanned':
        this.compare(event.partition, event.records)
        return this.checkAll(event)
    }
  }

  private compare(partition: string, records: readonly SeenRecord[]): void {
    const there = this.acknowledged.of(partition)
    for (const { offset, content } of records) {
      const expected = there.get(offset)
      if (expected !== undefined && expected !== content) throw new Violation(`${partition} has ${content} at ${offset}, where ${expected} was acknowledged`)
    }
  }

  private checkAll(event: HistoryEvent & { kind: 'scanned' }): void {
    const { partition, startOffset } = event
    const { below } = this.asked.of(partition)
    if (startOffset > below && !this.trimmed.has(partition)) throw new Violation(`${partition} begins at ${startOffset}, and no retention was asked for${below > 0 ? `, and of deletions none above ${below}` : ''}`)
    const found = new Set(event.records.map(record => record.offset))
    const mayBeGone = this.overtaken.by(partition, event.records)
    for (const [offset, content] of this.acknowledged.of(partition)) {
      if (offset >= startOffset && !found.has(offset) && !mayBeGone(offset, content)) throw new Violation(`${partition} has nothing at ${offset}, where ${content} was acknowledged`)
    }
  }
}
