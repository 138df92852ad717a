import { type CommittedOffset } from './group-writer.ts'

/** One for each offset that is committed, for as long as it is: what is committed later is written into it. */
export type OffsetCell = { -readonly [Field in keyof CommittedOffset]: CommittedOffset[Field] }

type ByPartition = Map<number, OffsetCell>

/** What groups have committed, by group, topic and partition. */
export class GroupOffsets {
  private readonly groups = new Map<string, Map<string, ByPartition>>()

  get(groupId: string, topic: string, partition: number): CommittedOffset | undefined {
    return this.groups.get(groupId)?.get(topic)?.get(partition)
  }

  /** Gives where it is kept: the offset that was given, or the cell that had one before. */
  set(groupId: string, topic: string, partition: number, offset: CommittedOffset): OffsetCell {
    let topics = this.groups.get(groupId)
    if (topics === undefined) this.groups.set(groupId, topics = new Map<string, ByPartition>())
    let partitions = topics.get(topic)
    if (partitions === undefined) topics.set(topic, partitions = new Map<number, CommittedOffset>())
    const known = partitions.get(partition)
    if (known !== undefined) return Object.assign(known, offset)
    partitions.set(partition, offset)
    return offset
  }

  /** Gives where it was kept, if it was. */
  delete(groupId: string, topic: string, partition: number): OffsetCell | undefined {
    const topics = this.groups.get(groupId)
    const partitions = topics?.get(topic)
    const cell = partitions?.get(partition)
    if (topics === undefined || partitions === undefined || cell === undefined) return undefined
    partitions.delete(partition)
    if (partitions.size === 0) topics.delete(topic)
    if (topics.size === 0) this.groups.delete(groupId)
    return cell
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

  groupIds(): string[] {
    return [...this.groups.keys()]
  }

  topicsOf(groupId: string): string[] {
    return [...this.groups.get(groupId)?.keys() ?? []]
  }

  partitionsOf(groupId: string, topic: string): number[] {
    return [...this.groups.get(groupId)?.get(topic)?.keys() ?? []]
  }

  countOf(groupId: string): number {
    let count = 0
    for (const partitions of this.groups.get(groupId)?.values() ?? []) count += partitions.size
    return count
  }
}
