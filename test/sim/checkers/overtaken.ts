import { keyIn, type HistoryEvent, type PartitionKey, type SeenRecord } from '../history.ts'

/** What compaction may take of which partitions: a record that is overtaken by a later one of its key, which is there. */
export class Overtaken {
  private readonly compacted = new Set<PartitionKey>()

  see(event: HistoryEvent): void {
    if (event.kind === 'created' && event.compacted === true) this.compacted.add(event.partition)
    if (event.kind === 'deleted') this.compacted.delete(event.partition)
  }

  has(partition: PartitionKey): boolean {
    return this.compacted.has(partition)
  }

  /** Whether such a record may be missing among these, which are all of a log. */
  by(partition: PartitionKey, records: readonly SeenRecord[]): (offset: number, content: string) => boolean {
    if (!this.compacted.has(partition)) return () => false
    const last = new Map<string, number>()
    for (const { offset, content } of records) {
      const key = keyIn(content)
      if (key !== undefined) last.set(key, offset)
    }
    return (offset, content) => {
      const key = keyIn(content)
      return key !== undefined && (last.get(key) ?? -1) > offset
    }
  }
}
