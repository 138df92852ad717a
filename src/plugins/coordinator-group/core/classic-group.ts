import { assert } from '../../../base/assert.ts'
import { PendingIds } from './pending-ids.ts'
import { ProtocolCounts } from './protocol-counts.ts'

/** In Kafka's spelling, as answers name them. */
export type GroupState = 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable'

export interface MemberProtocol {
  readonly name: string
  /** Opaque (quirk 46). */
  readonly metadata: Uint8Array
}

/** Replaced, never changed. Times are judged milliseconds. */
export interface Member {
  readonly memberId: string
  /** Of a static member (KIP-345). */
  readonly instanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  readonly rebalanceTimeoutMs: number
  readonly sessionTimeoutMs: number
  /** In the order of preference. */
  readonly protocols: readonly MemberProtocol[]
  readonly assignment: Uint8Array
  /** It has to be heard from by then. */
  readonly deadlineMs: number
  /** Who waits for the answer to its JoinGroup, or SyncGroup. */
  readonly joinAsker: number | undefined
  readonly syncAsker: number | undefined
  /** In no generation yet: it may time out while it waits. */
  readonly isNew: boolean
}

/** When the join phase ends though not all have joined. */
export interface JoinDeadline {
  readonly atMs: number
  /** Of the first rebalance of an empty group: it is put off while members come, for so long at a time, and so long altogether. */
  readonly initial: { readonly delayMs: number, readonly remainingMs: number } | undefined
}

export const noBytes = new Uint8Array(0)

/**
 * A group of the classic protocol: members that come to an agreement on a generation, and what the generation has assigned. A group without protocol
 * type has only offsets. `copy` before changing one that a machine holds.
 */
export class ClassicGroup {
  readonly groupId: string
  state: GroupState = 'Empty'
  /** Milliseconds since 1970; -1 where an old record does not say. */
  stateSinceMs: number
  generation = 0
  /** Null: nobody has ever joined. */
  protocolType: string | null = null
  protocol: string | null = null
  leader: string | null = null
  /** In the order of joining. */
  members = new Map<string, Member>()
  /** Member ids of static members by instance id. */
  staticMembers = new Map<string, string>()
  /** Ids that were given and not used yet. */
  pending = new PendingIds()
  /** Members of the generation that have not asked for their assignment. */
  unsynced = new Set<string>()
  joinDeadline: JoinDeadline | undefined
  syncDeadlineMs = Infinity
  /** A member came while the first rebalance is put off. */
  memberCame = false
  private readonly counts = new ProtocolCounts()

  constructor(groupId: string, stateSinceMs: number) {
    this.groupId = groupId
    this.stateSinceMs = stateSinceMs
  }

  copy(): ClassicGroup {
    const copy = Object.assign(new ClassicGroup(this.groupId, this.stateSinceMs), this)
    copy.members = new Map(this.members)
    copy.staticMembers = new Map(this.staticMembers)
    copy.pending = this.pending.copy()
    copy.unsynced = new Set(this.unsynced)
    return copy
  }

  isIn(...states: readonly GroupState[]): boolean {
    return states.includes(this.state)
  }

  enter(state: GroupState, wallMs: number): void {
    this.state = state
    this.stateSinceMs = wallMs
  }

  /** The member with the same parts but for these. */
  update(memberId: string, parts: Partial<Member>): Member {
    const member = { ...this.members.get(memberId)!, ...parts }
    this.members.set(memberId, member)
    return member
  }

  add(member: Member): void {
    assert(member.instanceId === null || !this.staticMembers.has(member.instanceId), 'a static member is added once')
    this.members.set(member.memberId, member)
    if (member.instanceId !== null) this.staticMembers.set(member.instanceId, member.memberId)
    this.leader ??= member.memberId
    this.pending.delete(member.memberId)
  }

  remove(memberId: string): void {
    const member = this.members.get(memberId)
    this.members.delete(memberId)
    if (member !== undefined && member.instanceId !== null) this.staticMembers.delete(member.instanceId)
    if (this.leader === memberId) this.leader = this.members.keys().next().value ?? null
    this.pending.delete(memberId)
    this.unsynced.delete(memberId)
  }

  /** The member under another id, in the same place of the order; it must be heard from by `deadlineMs`, and waits for nothing. */
  replaceStatic(oldId: string, newId: string, deadlineMs: number): Member {
    const old = this.members.get(oldId)!
    const member = { ...old, memberId: newId, joinAsker: undefined, syncAsker: undefined, deadlineMs }
    this.members = new Map(Array.from(this.members, ([id, each]) => id === oldId ? [newId, member] : [id, each]))
    this.staticMembers.set(old.instanceId!, newId)
    if (this.leader === oldId) this.leader = newId
    if (this.unsynced.delete(oldId)) this.unsynced.add(newId)
    return member
  }

  get rebalanceTimeoutMs(): number {
    let longest = 0
    for (const { rebalanceTimeoutMs } of this.members.values()) longest = Math.max(longest, rebalanceTimeoutMs)
    return longest
  }

  /** How many of its members support which protocol. */
  get protocolCounts(): ProtocolCounts {
    return this.counts.follow(new Map(Array.from(this.members, ([memberId, { protocols }]) => [memberId, protocols])))
  }

  get joining(): number {
    let count = 0
    for (const { joinAsker } of this.members.values()) if (joinAsker !== undefined) count++
    return count
  }

  /** Nobody is missed. */
  get allJoined(): boolean {
    return this.pending.size === 0 && this.joining === this.members.size
  }

  /** The first deadline, perhaps too early; Infinity without one. */
  get nextDeadlineMs(): number {
    let first = Math.min(this.syncDeadlineMs, this.joinDeadline?.atMs ?? Infinity, this.pending.firstMs)
    for (const member of this.members.values()) first = Math.min(first, sessionDeadlineMs(member))
    return first
  }

  /** Nobody has joined and nobody is about to: only its offsets make it a group. */
  get isBlank(): boolean {
    return this.protocolType === null && this.members.size === 0 && this.pending.size === 0
  }
}

/** Who waits for a rebalance is not expected to say anything; unless it is new, and might wait for ever (KAFKA-7610). */
export function sessionDeadlineMs(member: Member): number {
  const isWaiting = member.joinAsker !== undefined || member.syncAsker !== undefined
  return isWaiting && !member.isNew ? Infinity : member.deadlineMs
}

/** The metadata that a member gave for a protocol. */
export const metadataOf = (member: Member, protocol: string | null): Uint8Array => member.protocols.find(({ name }) => name === protocol)?.metadata ?? noBytes
