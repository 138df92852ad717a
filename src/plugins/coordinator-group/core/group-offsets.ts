import { type CommittedOffset } from './group-writer.ts'

type ByPartition = Map<number, CommittedOffset>

/** What groups have committed, by group, topic and partition. */
export class GroupOffsets {
  private readonly groups = new Map<string, Map<string, ByPartition>>()

  get(groupId: string, topic: string, partition: number): CommittedOffset | undefined {
    return this.groups.get(groupId)?.get(topic)?.get(partition)
  }

  set(groupId: string, topic: string, partition: number, offset: CommittedOffset): void {
    let topics = this.groups.get(groupId)
    if (topics === undefined) this.groups.set(groupId, topics = new Map<string, ByPartition>())
    let partitions = topics.get(topic)
    if (partitions === undefined) topics.set(topic, partitions = new Map<number, CommittedOffset>())
    partitions.set(partition, offset)
  }

  delete(groupId: string, topic: string, partition: number): void {
    const topics = this.groups.get(groupId)
    const partitions = topics?.get(topic)
    if (topics === undefined || partitions?.delete(partition) !== true) return
    if (partitions.size === 0) topics.delete(topic)
    if (topics.size === 0) this.groups.delete(groupId)
  }

  has(groupId: string): boolean {
    return this.groups.has(groupId)
  }

  /** Of all groups. */
  get count(): number {
    let count = 0
    for (const topics of this.groups.values()) for (const partitions of topics.values()) count += partitions.size
    return count
  }

  * of(groupId: string): IterableIterator<readonly [topic: string, partition: number, offset: CommittedOffset]> {
    for (const [topic, partitions] of this.groups.get(groupId) ?? []) for (const [partition, offset] of partitions) yield [topic, partition, offset]
  }

  /** Of all groups, one after another. */
  * all(): IterableIterator<readonly [groupId: string, topic: string, partition: number, offset: CommittedOffset]> {
    for (const [groupId, topics] of this.groups) {
      for (const [topic, partitions] of topics) for (const [partition, offset] of partitions) yield [groupId, topic, partition, offset]
    }
  }

  /** Those of a topic in all groups. */
  * ofTopics(names: ReadonlySet<string>): IterableIterator<readonly [groupId: string, topic: string, partition: number]> {
    for (const [groupId, topics] of this.groups) {
      for (const [topic, partitions] of topics) if (names.has(topic)) for (const partition of partitions.keys()) yield [groupId, topic, partition]
    }
  }
}
