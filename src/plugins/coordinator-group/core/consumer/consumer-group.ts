import { type Uuid } from '../../../../kernel/model/ids.ts'
import { type MemberProtocol } from '../classic-group.ts'
import { ProtocolCounts } from '../protocol-counts.ts'
import { nothingAssigned, those, without, type Assigned } from './assigned.ts'
import { Subscriptions } from './subscriptions.ts'
import { type TopicDirectory } from './topic-directory.ts'

/** In Kafka's spelling, as answers name them. */
export type ConsumerGroupState = 'Empty' | 'Assigning' | 'Reconciling' | 'Stable'

/** The epoch of a static member that has left for a while. */
export const awayEpoch = -2

/** What a member says of itself. Replaced, never changed. */
export interface MemberAbout {
  readonly memberId: string
  readonly instanceId: string | null
  readonly rackId: string | null
  readonly clientId: string
  readonly clientHost: string
  /** In order, without repetitions. */
  readonly topics: readonly string[]
  /** In RE2's syntax; null without one. */
  readonly pattern: string | null
  readonly serverAssignor: string | null
  readonly rebalanceTimeoutMs: number
  /** Of a member that speaks the classic protocol. */
  readonly classic: { readonly sessionTimeoutMs: number, readonly protocols: readonly MemberProtocol[] } | null
}

/** Where a member is on its way to the target. Replaced, never changed. */
export interface CurrentAssignment {
  readonly epoch: number
  /** An answer that was lost may have told the present one. */
  readonly previousEpoch: number
  /** Unrevoked: it is to give up `revoking` before it goes on. Unreleased: it waits for what others have not given up yet. */
  readonly state: 'stable' | 'unrevoked' | 'unreleased'
  readonly assigned: Assigned
  /** Still its own: nobody else has them until it says that it has given them up. */
  readonly revoking: Assigned
}

/** Replaced, never changed. Times are judged milliseconds; Infinity: nothing is waited for. */
export interface ConsumerMember {
  readonly about: MemberAbout
  readonly current: CurrentAssignment
  /** It has to be heard from by then. */
  readonly sessionDeadlineMs: number
  /** It has to have given up what it is to give up by then. */
  readonly revokeDeadlineMs: number
  /** Of a classic member: it has to have joined again, or asked for its assignment, by then. */
  readonly joinDeadlineMs: number
  readonly syncDeadlineMs: number
}

/** The topics that a pattern stands for. */
export interface ResolvedPattern {
  readonly topics: readonly string[]
  /** Of the directory when it was looked up. */
  readonly version: number
  /** Milliseconds since 1970. */
  readonly atMs: number
}

const joining: CurrentAssignment = { epoch: 0, previousEpoch: 0, state: 'stable', assigned: nothingAssigned, revoking: nothingAssigned }

export const newMember = (about: MemberAbout): ConsumerMember => ({
  about, current: joining, sessionDeadlineMs: Infinity, revokeDeadlineMs: Infinity, joinDeadlineMs: Infinity, syncDeadlineMs: Infinity,
})

/**
 * A group of the consumer protocol (KIP-848): the coordinator computes a target for each member, and members go there one by one. `copy` before changing one
 * that a machine holds.
 */
export class ConsumerGroup {
  readonly groupId: string
  /** Larger by one for each change of members, subscriptions or topics. */
  epoch = 0
  /** Of the topics that the members read when the epoch began. */
  metadataHash = 0
  /** The epoch for which the targets were computed. */
  assignmentEpoch = 0
  /** Milliseconds since 1970; -1: never. */
  assignedAtMs = -1
  members = new Map<string, ConsumerMember>()
  /** Member ids of static members by instance id. */
  staticMembers = new Map<string, string>()
  targets = new Map<string, Assigned>()
  patterns = new Map<string, ResolvedPattern>()
  /** Until the next load: the version of the directory with which the hash was compared. */
  checkedVersion = -1
  /** Until the next load, in judged milliseconds: of the last assignment, and of the next one where that is put off. */
  assignedJudgedMs = -Infinity
  assignDeadlineMs = Infinity
  private owners: Map<Uuid, Map<number, string>> | undefined
  private readonly counts = new ProtocolCounts()
  private readonly readings = new Subscriptions()

  constructor(groupId: string) {
    this.groupId = groupId
  }

  copy(): ConsumerGroup {
    const copy = Object.assign(new ConsumerGroup(this.groupId), this)
    copy.members = new Map(this.members)
    copy.staticMembers = new Map(this.staticMembers)
    copy.targets = new Map(this.targets)
    copy.patterns = new Map(this.patterns)
    return copy
  }

  get state(): ConsumerGroupState {
    if (this.members.size === 0) return 'Empty'
    if (this.epoch > this.assignmentEpoch) return 'Assigning'
    for (const { current } of this.members.values()) if (current.state !== 'stable' || current.epoch !== this.assignmentEpoch) return 'Reconciling'
    return 'Stable'
  }

  /** Adds the member, or puts it in the place of the one of its id. It is of one instance at most: the last that it named. */
  put(member: ConsumerMember): void {
    const { memberId, instanceId } = member.about
    const former = this.members.get(memberId)
    if (former?.current !== member.current) this.owners = undefined
    const formerInstance = former?.about.instanceId ?? null
    if (formerInstance !== null && formerInstance !== instanceId && this.staticMembers.get(formerInstance) === memberId) this.staticMembers.delete(formerInstance)
    this.members.set(memberId, member)
    if (instanceId !== null) this.staticMembers.set(instanceId, memberId)
  }

  update(memberId: string, parts: Partial<ConsumerMember>): ConsumerMember {
    const member = { ...this.members.get(memberId)!, ...parts }
    this.put(member)
    return member
  }

  /** Its pattern goes with the last member that reads by it. */
  remove(memberId: string): void {
    const member = this.members.get(memberId)
    if (member === undefined) return
    this.owners = undefined
    this.members.delete(memberId)
    this.targets.delete(memberId)
    const { instanceId } = member.about
    if (instanceId !== null && this.staticMembers.get(instanceId) === memberId) this.staticMembers.delete(instanceId)
    this.dropUnusedPatterns()
  }

  dropUnusedPatterns(): void {
    if (this.patterns.size === 0) return
    const used = new Set(Array.from(this.members.values(), ({ about }) => about.pattern))
    for (const pattern of [...this.patterns.keys()]) if (!used.has(pattern)) this.patterns.delete(pattern)
  }

  /** Whose a partition is: assigned to it, or still to be given up by it. */
  ownerOf(topicId: Uuid, partition: number): string | undefined {
    this.owners ??= ownersOf(this.members.values())
    return this.owners.get(topicId)?.get(partition)
  }

  /** Whether the member waits for a partition of its target that somebody else still has. */
  isWaiting({ about: { memberId }, current: { assigned } }: ConsumerMember): boolean {
    const missing = without(this.targets.get(memberId) ?? nothingAssigned, assigned)
    return those(missing, (topicId, partition) => (this.ownerOf(topicId, partition) ?? memberId) !== memberId).size > 0
  }

  /** What a member reads, by name and by pattern. */
  * topicsOf({ topics, pattern }: MemberAbout): IterableIterator<string> {
    yield* topics
    if (pattern !== null) yield* this.patterns.get(pattern)?.topics ?? []
  }

  /** What its members read of what there is. */
  subscriptions(topics: TopicDirectory): Subscriptions {
    return this.readings.follow(this.members, this.patterns, topics)
  }

  /** What anybody reads, also where it is not there. */
  get subscribed(): Set<string> {
    const topics = new Set<string>()
    for (const { about } of this.members.values()) for (const topic of this.topicsOf(about)) topics.add(topic)
    return topics
  }

  /** How many of its members of the classic protocol support which protocol. */
  get protocolCounts(): ProtocolCounts {
    const protocols = new Map<string, readonly MemberProtocol[]>()
    for (const [memberId, { about: { classic } }] of this.members) if (classic !== null) protocols.set(memberId, classic.protocols)
    return this.counts.follow(protocols)
  }

  /** Whether members are left, and all of them speak the classic protocol. */
  get isAllClassic(): boolean {
    for (const { about } of this.members.values()) if (about.classic === null) return false
    return this.members.size > 0
  }

  /** The first deadline; Infinity without one. */
  get nextDeadlineMs(): number {
    let first = this.assignDeadlineMs
    for (const member of this.members.values()) first = Math.min(first, deadlineOf(member))
    return first
  }
}

/** The first of a member's deadlines. */
export const deadlineOf = ({ sessionDeadlineMs, revokeDeadlineMs, joinDeadlineMs, syncDeadlineMs }: ConsumerMember): number =>
  Math.min(sessionDeadlineMs, revokeDeadlineMs, joinDeadlineMs, syncDeadlineMs)

function ownersOf(members: Iterable<ConsumerMember>): Map<Uuid, Map<number, string>> {
  const owners = new Map<Uuid, Map<number, string>>()
  for (const { about: { memberId }, current: { assigned, revoking } } of members) {
    for (const held of [assigned, revoking]) {
      for (const [topicId, partitions] of held) {
        let byPartition = owners.get(topicId)
        if (byPartition === undefined) owners.set(topicId, byPartition = new Map<number, string>())
        for (const partition of partitions) byPartition.set(partition, memberId)
      }
    }
  }
  return owners
}
