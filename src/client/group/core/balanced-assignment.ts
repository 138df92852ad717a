import { emptyAssignment, inOrder, wantedTopics, type GroupAssignment, type GroupMember, type PartitionCounts } from './assignor.ts'
import { compareTopicPartitions, keyOf, type TopicPartition } from './topic-partitions.ts'

/** A member while partitions are shared out. */
interface Taker {
  readonly memberId: string
  readonly topics: ReadonlySet<string>
  readonly partitions: Set<TopicPartition>
}

/**
 * Members keep what they have and still want; what is free goes to who has least; then partitions go from who has more to who has less, one at a time,
 * while that makes them more even: by two or more. What nobody has to give up stays where it is.
 */
export function balancedAssignment(members: readonly GroupMember[], counts: PartitionCounts): GroupAssignment {
  const takers = inOrder(members).map(({ memberId, topics }): Taker => ({ memberId, topics: new Set(topics), partitions: new Set() }))
  const takersOf = new Map(wantedTopics(members, counts).map(topic => [topic, takers.filter(({ topics }) => topics.has(topic))]))
  const owners = claims(members)
  const byId = new Map(takers.map(taker => [taker.memberId, taker]))
  const holders = new Map<TopicPartition, Taker>()
  const free: TopicPartition[] = []
  for (const topic of takersOf.keys()) {
    for (let partition = 0; partition < counts.get(topic)!; partition++) {
      const each = { topic, partition }
      const owner = byId.get(owners.get(keyOf(each)) ?? '')
      if (owner?.topics.has(topic) !== true) free.push(each)
      else give(each, owner, holders)
    }
  }
  // What few may have is given first, so that the others can even it out.
  free.sort((a, b) => takersOf.get(a.topic)!.length - takersOf.get(b.topic)!.length || compareTopicPartitions(a, b))
  for (const each of free) give(each, least(takersOf.get(each.topic)!), holders)
  evenOut(holders, takersOf)
  const assignment = emptyAssignment(members)
  for (const { memberId, partitions } of takers) assignment.set(memberId, [...partitions].sort(compareTopicPartitions))
  return assignment
}

/**
 * Who has what, by partition; an empty text where several do. Of two that claim the same one the newer generation is right; in the same generation it is nobody's: one of them is wrong,
 * and who it is cannot be known.
 */
export function claims(members: readonly GroupMember[]): Map<string, string> {
  const found = new Map<string, { memberId: string, generation: number }>()
  for (const { memberId, owned, generation } of inOrder(members)) {
    for (const each of owned) {
      const key = keyOf(each)
      const known = found.get(key)
      if (known === undefined || generation > known.generation) found.set(key, { memberId, generation })
      else if (generation === known.generation) found.set(key, { memberId: '', generation })
    }
  }
  return new Map([...found].map(([key, { memberId }]) => [key, memberId]))
}

function give(each: TopicPartition, taker: Taker, holders: Map<TopicPartition, Taker>): void {
  holders.get(each)?.partitions.delete(each)
  holders.set(each, taker)
  taker.partitions.add(each)
}

function least(takers: readonly Taker[]): Taker {
  return takers.reduce((found, each) => each.partitions.size < found.partitions.size ? each : found)
}

/** Each move makes the sum of the squares smaller, so there is an end. */
function evenOut(holders: Map<TopicPartition, Taker>, takersOf: ReadonlyMap<string, readonly Taker[]>): void {
  for (let hasMoved = true; hasMoved;) {
    hasMoved = false
    for (const [each, holder] of holders) {
      const taker = least(takersOf.get(each.topic)!)
      if (holder.partitions.size - taker.partitions.size < 2) continue
      give(each, taker, holders)
      hasMoved = true
    }
  }
}
