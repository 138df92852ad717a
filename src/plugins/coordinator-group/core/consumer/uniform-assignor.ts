import { type Uuid } from '../../../../kernel/model/ids.ts'
import { assignedOf, type Assigned } from './assigned.ts'

/** A member as an assignor sees it. */
export interface AssignorMember {
  readonly memberId: string
  readonly instanceId: string | null
  /** Those that are there, each once. */
  readonly topicIds: readonly Uuid[]
  /** Its last target. */
  readonly last: Assigned
}

/** Gives each partition of a topic that somebody reads to one member that reads it. `partitions`: of each topic, their number. Every member is in the result. */
export type Assignor = (members: readonly AssignorMember[], partitions: ReadonlyMap<Uuid, number>) => Map<string, Assigned>

/** What a member has so far. */
interface Share {
  readonly member: AssignorMember
  /** In the order of members. */
  readonly index: number
  /** Of topics of which it has some. */
  readonly held: Map<Uuid, Set<number>>
  load: number
}

/** A topic that somebody reads. */
interface Topic {
  readonly id: Uuid
  readonly partitions: number
  /** In the order of members. */
  readonly readers: Share[]
  /** Who has some of it. */
  readonly holders: Set<Share>
  readonly taken: Set<number>
}

/**
 * Kafka's `uniform`: as many partitions for everybody as their subscriptions allow, and as little as possible moves from the last target. Where all read the
 * same topics, nobody has more than one partition more than another. Racks are not looked at, as in Kafka 4.
 */
export const assignUniform: Assignor = (members, partitions) => {
  const shares = members.map((member, index): Share => ({ member, index, held: new Map(), load: 0 }))
  const topics = topicsOf(shares, partitions)
  keepLast(shares, topics)
  if (areAlike(members)) shareEvenly(shares, topics)
  else {
    giveToLeastLoaded(topics, shares.length)
    balance(topics)
  }
  return new Map(shares.map(({ member, held }) => [member.memberId, assignedOf(Array.from(held, ([topicId, set]) => ({ topicId, partitions: [...set] })))]))
}

function areAlike(members: readonly AssignorMember[]): boolean {
  const first = new Set(members[0]?.topicIds)
  return members.every(({ topicIds }) => topicIds.length === first.size && topicIds.every((topicId) => first.has(topicId)))
}

function topicsOf(shares: readonly Share[], partitions: ReadonlyMap<Uuid, number>): ReadonlyMap<Uuid, Topic> {
  const topics = new Map<Uuid, Topic>()
  for (const share of shares) {
    for (const id of share.member.topicIds) {
      const topic = topics.get(id)
      if (topic === undefined) topics.set(id, { id, partitions: partitions.get(id)!, readers: [share], holders: new Set(), taken: new Set() })
      else topic.readers.push(share)
    }
  }
  return topics
}

/** Everybody has what it had, as far as it reads it, it is there, and nobody before it has it. */
function keepLast(shares: readonly Share[], topics: ReadonlyMap<Uuid, Topic>): void {
  for (const share of shares) {
    const { last, topicIds } = share.member
    const read = last.size === 0 ? undefined : new Set(topicIds)
    for (const [topicId, partitions] of last) {
      const topic = topics.get(topicId)
      if (topic === undefined || read?.has(topicId) !== true) continue
      for (const partition of partitions) if (partition < topic.partitions && !topic.taken.has(partition)) give(share, topic, partition)
    }
  }
}

/** Who has too many gives up the last of them; what is free goes round among those who have too few. */
function shareEvenly(shares: readonly Share[], topics: ReadonlyMap<Uuid, Topic>): void {
  if (shares.length === 0) return
  let total = 0
  for (const { partitions } of topics.values()) total += partitions
  const least = Math.floor(total / shares.length)
  // So many may have one more: those who have it already come first.
  let more = total % shares.length
  const quotas = new Map<Share, number>()
  for (const share of [...shares].sort((left, right) => right.load - left.load)) quotas.set(share, more-- > 0 ? least + 1 : least)
  for (const share of shares) giveUp(share, share.load - quotas.get(share)!, topics)
  const needy = shares.filter((share) => share.load < quotas.get(share)!)
  let next = 0
  for (const topic of topics.values()) {
    for (let partition = 0; partition < topic.partitions; partition++) {
      if (topic.taken.has(partition)) continue
      next %= needy.length
      const share = needy[next]!
      give(share, topic, partition)
      if (share.load < quotas.get(share)!) next++
      else needy.splice(next, 1)
    }
  }
}

/** Of each topic in turn, so that what stays is spread over topics as it was. */
function giveUp(share: Share, count: number, topics: ReadonlyMap<Uuid, Topic>): void {
  const lists = Array.from(share.held, ([topicId, set]) => ({ topic: topics.get(topicId)!, list: [...set].sort((left, right) => left - right) }))
  for (let left = count; left > 0;) {
    for (const { topic, list } of lists) {
      const partition = list.pop()
      if (partition === undefined || left === 0) continue
      take(share, topic, partition)
      left--
    }
  }
}

function give(share: Share, topic: Topic, partition: number): void {
  const held = share.held.get(topic.id)
  if (held === undefined) share.held.set(topic.id, new Set([partition]))
  else held.add(partition)
  topic.holders.add(share)
  topic.taken.add(partition)
  share.load++
}

function take(share: Share, topic: Topic, partition: number): void {
  const held = share.held.get(topic.id)!
  held.delete(partition)
  if (held.size === 0) {
    share.held.delete(topic.id)
    topic.holders.delete(share)
  }
  topic.taken.delete(partition)
  share.load--
}

/** Topics with few readers first: there is the least choice. */
function giveToLeastLoaded(topics: ReadonlyMap<Uuid, Topic>, members: number): void {
  for (const topic of [...topics.values()].sort((left, right) => left.readers.length - right.readers.length)) {
    if (topic.taken.size === topic.partitions) continue
    const queue = new LeastLoaded(topic.readers, members)
    for (let partition = 0; partition < topic.partitions; partition++) if (!topic.taken.has(partition)) queue.give((share) => { give(share, topic, partition) })
  }
}

/** Partitions go from who has the most to who has the least of a topic's readers, until no such step makes it more even: each makes the sum of squares smaller, so it ends. */
function balance(topics: ReadonlyMap<Uuid, Topic>): void {
  for (let moved = true; moved;) {
    moved = false
    for (const topic of topics.values()) {
      for (;;) {
        const from = most(topic.holders)
        if (from === undefined || from.load <= 1) break
        const to = least(topic.readers)
        if (from.load <= to.load + 1) break
        const partition = Math.max(...from.held.get(topic.id)!)
        take(from, topic, partition)
        give(to, topic, partition)
        moved = true
      }
    }
  }
}

/** Of equals, the first member. */
function most(shares: Iterable<Share>): Share | undefined {
  let found: Share | undefined
  for (const share of shares) if (found === undefined || share.load > found.load || (share.load === found.load && share.index < found.index)) found = share
  return found
}

/** Of equals, the first member. */
function least(shares: readonly Share[]): Share {
  let found = shares[0]!
  for (const share of shares) if (share.load < found.load) found = share
  return found
}

/** Readers of a topic in a heap, the one with the least on top; of equals, the first member. */
class LeastLoaded {
  private readonly readers: readonly Share[]
  /** Load and place among the readers, in one number. */
  private readonly keys: Float64Array
  private readonly unit: number

  constructor(readers: readonly Share[], unit: number) {
    this.readers = readers
    this.unit = unit
    // One that is in order is a heap.
    this.keys = Float64Array.from(readers, ({ load }, place) => load * unit + place).sort()
  }

  /** The one that has the least is given one. */
  give(to: (share: Share) => void): void {
    const { keys } = this
    to(this.readers[keys[0]! % this.unit]!)
    const key = keys[0]! + this.unit
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child + 1 < keys.length && keys[child + 1]! < keys[child]!) child++
      if (child >= keys.length || keys[child]! >= key) break
      keys[at] = keys[child]!
      at = child
    }
    keys[at] = key
  }
}
