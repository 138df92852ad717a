import { type OffsetToCommit } from '../cluster/group-offsets.ts'
import { type AssignedPartition, type Start } from '../consumer/assigned-partition.ts'
import { type ConsumerRecord } from '../consumer/consumer-record.ts'
import { keyOf, type TopicPartition } from './core/topic-partitions.ts'

/** Up to where the application is done with each partition, and what of that is committed. */
export class TakenOffsets {
  private readonly partitions: ReadonlyMap<string, AssignedPartition>
  private readonly taken = new Map<string, Required<Omit<OffsetToCommit, 'metadata'>>>()
  private readonly committed = new Map<string, number>()

  constructor(partitions: ReadonlyMap<string, AssignedPartition>) {
    this.partitions = partitions
  }

  /** All that `poll` has given is done, of these partitions or of all. */
  takeAll(keys: Iterable<string> = this.partitions.keys()): void {
    for (const key of keys) {
      const assigned = this.partitions.get(key)
      if (assigned === undefined) continue
      const { topic, partition, position, positionEpoch } = assigned
      if (position >= 0 && this.taken.get(key)?.offset !== position) this.taken.set(key, { topic, partition, offset: position, leaderEpoch: positionEpoch })
    }
  }

  /** Nothing behind the place is done any more. */
  sought({ topic, partition, offset }: TopicPartition & { readonly offset: Start }): void {
    const key = keyOf({ topic, partition })
    const taken = this.taken.get(key)
    if (taken === undefined) return
    if (typeof offset !== 'number') this.taken.delete(key)
    else if (offset < taken.offset) this.taken.set(key, { topic, partition, offset, leaderEpoch: -1 })
  }

  take({ topic, partition, offset, leaderEpoch }: ConsumerRecord): void {
    const key = `${topic}/${partition}`
    if (this.partitions.has(key)) this.taken.set(key, { topic, partition, offset: offset + 1, leaderEpoch })
  }

  /** The application says so itself; what is committed without it must not fall behind that. */
  atLeast(offsets: readonly OffsetToCommit[]): void {
    for (const { topic, partition, offset, leaderEpoch = -1 } of offsets) {
      const key = keyOf({ topic, partition })
      if ((this.taken.get(key)?.offset ?? Infinity) < offset) this.taken.set(key, { topic, partition, offset, leaderEpoch })
    }
  }

  /** What is done and not committed, of these partitions or of all. */
  open(partitions?: readonly TopicPartition[]): OffsetToCommit[] {
    const all = partitions === undefined ? [...this.taken.values()] : partitions.flatMap(each => this.taken.get(keyOf(each)) ?? [])
    return all.filter(each => this.committed.get(keyOf(each)) !== each.offset)
  }

  /** What is committed need not be again. */
  wasCommitted(offsets: readonly OffsetToCommit[]): void {
    for (const each of offsets) this.committed.set(keyOf(each), each.offset)
  }

  forget(partitions: readonly TopicPartition[]): void {
    for (const each of partitions) {
      this.taken.delete(keyOf(each))
      this.committed.delete(keyOf(each))
    }
  }
}
