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
  readonly held: Map<Uuid, Set<number>>
  load: number
}

/**
 * Kafka's `uniform`: as many partitions for everybody as their subscriptions allow, and as little as possible moves from the last target. Where all read the
 * same topics, nobody has more than one partition more than another. Racks are not looked at, as in Kafka 4.
 */
export const assignUniform: Assignor = (members, partitions) => {
  const shares = members.map((member): Share => ({ member, held: new Map(member.topicIds.map((topicId) => [topicId, new Set()])), load: 0 }))
  const taken = keepLast(shares, partitions)
  const readers = readersOf(shares)
  if (areAlike(members)) shareEvenly(shares, partitions, taken)
  else {
    giveToLeastLoaded(readers, partitions, taken)
    balance(readers)
  }
  return new Map(shares.map(({ member, held }) => [member.memberId, assignedOf(Array.from(held, ([topicId, set]) => ({ topicId, partitions: [...set] })))]))
}

function areAlike(members: readonly AssignorMember[]): boolean {
  const first = new Set(members[0]?.topicIds)
  return members.every(({ topicIds }) => topicIds.length === first.size && topicIds.every((topicId) => first.has(topicId)))
}

/** Everybody has what it had, as far as it is there and nobody before it has it. Gives what is taken. */
function keepLast(shares: readonly Share[], partitions: ReadonlyMap<Uuid, number>): Map<Uuid, Set<number>> {
  const taken = new Map<Uuid, Set<number>>(Array.from(partitions.keys(), (topicId) => [topicId, new Set()]))
  for (const share of shares) {
    for (const [topicId, held] of share.held) {
      const others = taken.get(topicId)!
      for (const partition of share.member.last.get(topicId) ?? []) {
        if (partition >= partitions.get(topicId)! || others.has(partition)) continue
        others.add(partition)
        held.add(partition)
        share.load++
      }
    }
  }
  return taken
}

/** Who has too many gives up the last of them; what is free goes round among those who have too few. */
function shareEvenly(shares: readonly Share[], partitions: ReadonlyMap<Uuid, number>, taken: Map<Uuid, Set<number>>): void {
  if (shares.length === 0) return
  const topicIds = [...shares[0]!.held.keys()]
  const total = topicIds.reduce((sum, topicId) => sum + partitions.get(topicId)!, 0)
  const least = Math.floor(total / shares.length)
  // So many may have one more: those who have it already come first.
  let more = total % shares.length
  const quotas = new Map<Share, number>()
  for (const share of [...shares].sort((left, right) => right.load - left.load)) quotas.set(share, more-- > 0 ? least + 1 : least)
  for (const share of shares) giveUp(share, share.load - quotas.get(share)!, taken)
  const needy = shares.filter((share) => share.load < quotas.get(share)!)
  let next = 0
  for (const topicId of topicIds) {
    const of = taken.get(topicId)!
    for (let partition = 0; partition < partitions.get(topicId)!; partition++) {
      if (of.has(partition)) continue
      next %= needy.length
      const share = needy[next]!
      give(share, topicId, partition)
      if (share.load < quotas.get(share)!) next++
      else needy.splice(next, 1)
    }
  }
}

/** Of each topic in turn, so that what stays is spread over topics as it was. */
function giveUp(share: Share, count: number, taken: Map<Uuid, Set<number>>): void {
  const lists = Array.from(share.held, ([topicId, set]) => ({ topicId, set, list: [...set].sort((left, right) => left - right) }))
  for (let left = count; left > 0;) {
    for (const { topicId, set, list } of lists) {
      const partition = list.pop()
      if (partition === undefined || left === 0) continue
      set.delete(partition)
      taken.get(topicId)!.delete(partition)
      share.load--
      left--
    }
  }
}

function give(share: Share, topicId: Uuid, partition: number): void {
  share.held.get(topicId)!.add(partition)
  share.load++
}

function readersOf(shares: readonly Share[]): Map<Uuid, Share[]> {
  const readers = new Map<Uuid, Share[]>()
  for (const share of shares) {
    for (const topicId of share.held.keys()) {
      const of = readers.get(topicId)
      if (of === undefined) readers.set(topicId, [share])
      else of.push(share)
    }
  }
  return readers
}

/** Topics with few readers first: there is the least choice. */
function giveToLeastLoaded(readers: ReadonlyMap<Uuid, readonly Share[]>, partitions: ReadonlyMap<Uuid, number>, taken: ReadonlyMap<Uuid, ReadonlySet<number>>): void {
  for (const [topicId, of] of [...readers].sort(([, left], [, right]) => left.length - right.length)) {
    for (let partition = 0; partition < partitions.get(topicId)!; partition++) if (!taken.get(topicId)!.has(partition)) give(least(of), topicId, partition)
  }
}

/** Partitions go from who has the most to who has the least of a topic's readers, until no such step makes it more even: each makes the sum of squares smaller, so it ends. */
function balance(readers: ReadonlyMap<Uuid, readonly Share[]>): void {
  for (let moved = true; moved;) {
    moved = false
    for (const [topicId, of] of readers) {
      for (;;) {
        const to = least(of)
        let from: Share | undefined
        for (const share of of) if (share.held.get(topicId)!.size > 0 && share.load > (from?.load ?? to.load + 1)) from = share
        if (from === undefined) break
        const partition = Math.max(...from.held.get(topicId)!)
        from.held.get(topicId)!.delete(partition)
        from.load--
        give(to, topicId, partition)
        moved = true
      }
    }
  }
}

function least(shares: readonly Share[]): Share {
  let found = shares[0]!
  for (const share of shares) if (share.load < found.load) found = share
  return found
}
