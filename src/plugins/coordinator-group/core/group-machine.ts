import { assert } from '../../../base/assert.ts'
import { TimerHeap, type TimerEntry } from '../../../base/timer-heap.ts'
import { type Decision, type MachineTime, type RecordDraft, type ReplayMachine } from '../../../kernel/model/replay-machine.ts'
import { decodeGroupMetadataValue, decodeGroupRecordKey, decodeOffsetCommitValue } from '../../../wire/group-records.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { ClassicGroup, sessionDeadlineMs } from './classic-group.ts'
import { type CommitCommand, type GroupCommand, type GroupReply, type GroupRules, type HeartbeatCommand, type JoinCommand } from './group-commands.ts'
import { GroupOffsets } from './group-offsets.ts'
import { GroupTurn, refusedJoin } from './group-turn.ts'
import { groupFromRecord, groupTombstone, offsetFromRecord, offsetTombstone } from './group-writer.ts'
import { describedDead, described, listed } from './group-views.ts'
import { join } from './join-group.ts'
import { heartbeatCode, leave, sync } from './member-commands.ts'
import { commit, deleteOffsets, fetched } from './offset-commands.ts'
import { expired } from './offset-expiry.ts'
import { completeIfAllJoined, completeJoin, joinDeadlinePassed, prepare, rebalance, syncDeadlinePassed } from './rebalance.ts'

/** What is true until the next load, and written nowhere. */
export type GroupChange =
  /** The group as it is now. `reason`: of a rebalance that has begun. `event`: what an operator may want to know besides. */
  | { readonly type: 'group', readonly group: ClassicGroup, readonly reason: string, readonly event: 'stable' | 'emptied' | undefined }
  | { readonly type: 'heard', readonly groupId: string, readonly memberId: string, readonly deadlineMs: number }
  /** Groups that are still to be looked at for expired offsets, and when. */
  | { readonly type: 'expiry', readonly groupIds: readonly string[], readonly atMs: number }

/** Told of what an operator may want to know. Must not throw. */
export interface GroupObserver {
  rebalancing(group: ClassicGroup, reason: string): void
  stable(group: ClassicGroup): void
  emptied(group: ClassicGroup): void
}

type GroupDecision = Decision<GroupChange, GroupReply>

/** Groups that are looked at for expired offsets in one turn. */
const expiryPiece = 200
const nothing: GroupDecision = { records: [], changes: [], answers: [] }

/** The groups and committed offsets of one partition of `__consumer_offsets`. */
export class GroupMachine implements ReplayMachine<GroupCommand, GroupChange, GroupReply> {
  readonly groups = new Map<string, ClassicGroup>()
  readonly offsets = new GroupOffsets()
  private readonly rules: GroupRules
  private readonly observer: GroupObserver | undefined
  /** When each group has to be looked at, at the latest: members that are heard only move it. */
  private readonly deadlines = new TimerHeap<string>()
  private readonly deadlineOf = new Map<string, TimerEntry<string>>()
  private expiry: { readonly groupIds: readonly string[], readonly atMs: number } = { groupIds: [], atMs: Infinity }

  constructor(rules: GroupRules, observer?: GroupObserver) {
    this.rules = rules
    this.observer = observer
  }

  get nextDeadlineMs(): number {
    return Math.min(this.deadlines.peek()?.deadlineMs ?? Infinity, this.groups.size === 0 && this.expiry.groupIds.length === 0 ? Infinity : this.expiry.atMs)
  }

  decide(command: GroupCommand, asker: number, now: MachineTime): GroupDecision {
    switch (command.type) {
      case 'join': return this.join(command, asker, now)
      case 'sync': return this.inGroup(command.groupId, now, (turn) => { sync(turn, command, asker) }) ?? answer(asker, { errorCode: kafkaErrors.UNKNOWN_MEMBER_ID, assignment: new Uint8Array(0) })
      case 'heartbeat': return this.heartbeat(command, asker, now)
      case 'leave': return this.inGroup(command.groupId, now, (turn) => { leave(turn, command, asker) })
        ?? answer(asker, { errorCode: kafkaErrors.NONE, members: command.members.map(({ memberId, instanceId }) => ({ memberId, groupInstanceId: instanceId, errorCode: kafkaErrors.UNKNOWN_MEMBER_ID })) })
      case 'commit': return this.commit(command, asker, now)
      case 'fetch': return answer(asker, fetched(this.offsets, command))
      case 'deleteOffsets': return this.inGroup(command.groupId, now, (turn) => { deleteOffsets(turn, this.offsets, command, asker) })
        ?? answer(asker, { errorCode: kafkaErrors.GROUP_ID_NOT_FOUND, throttleTimeMs: 0, topics: [] })
      case 'describe': return answer(asker, this.described(command.groupId))
      case 'list': return answer(asker, listed(this.groups.values(), command.states, command.types))
      case 'delete': return this.delete(command.groupId, asker)
      case 'topicsDeleted': return this.topicsDeleted(command.topics, asker)
    }
  }

  due(now: MachineTime): GroupDecision {
    if (this.expiry.atMs <= now.judgedMs) return this.expireOffsets(now)
    const first = this.deadlines.peek()
    if (first === undefined || first.deadlineMs > now.judgedMs) return nothing
    return this.inGroup(first.value, now, (turn) => { pass(turn) })!
  }

  loaded(now: MachineTime): GroupDecision {
    const turns: GroupTurn[] = []
    for (const group of this.groups.values()) {
      if (group.members.size === 0) continue
      const turn = new GroupTurn(group, now, this.rules)
      for (const memberId of group.members.keys()) turn.heard(memberId)
      if (group.members.size > this.rules.groupSizeMax) prepare(turn, `it has more members than group.max.size=${this.rules.groupSizeMax} allows`)
      turns.push(turn)
    }
    return {
      records: turns.flatMap(({ records }) => records),
      changes: [...turns.map(changeOf), { type: 'expiry', groupIds: [], atMs: now.judgedMs + this.rules.retentionCheckIntervalMs }],
      answers: [],
    }
  }

  replay(key: Uint8Array, value: Uint8Array | null): void {
    const known = decodeGroupRecordKey(key)
    if (known.type === 'groupMetadata') this.replayGroup(known.group, value)
    else if (known.type === 'offsetCommit') {
      const { group, topic, partition } = known.key
      if (value === null) {
        this.offsets.delete(group, topic, partition)
        this.forgetBlank(group)
      } else {
        const offset = offsetFromRecord(decodeOffsetCommitValue(value))
        this.offsets.set(group, topic, partition, offset)
        if (!this.groups.has(group)) this.groups.set(group, new ClassicGroup(group, -1))
      }
    }
  }

  apply(change: GroupChange): void {
    switch (change.type) {
      case 'group': this.replace(change); break
      case 'heard': this.groups.get(change.groupId)!.update(change.memberId, { deadlineMs: change.deadlineMs }); break
      case 'expiry': this.expiry = change; break
    }
  }

  private replayGroup(groupId: string, value: Uint8Array | null): void {
    if (value !== null) {
      this.groups.set(groupId, groupFromRecord(groupId, decodeGroupMetadataValue(value)))
      return
    }
    this.groups.delete(groupId)
    this.schedule(groupId, Infinity)
    // Offsets that were left would bring the group back at the next load.
    if (this.offsets.has(groupId)) this.groups.set(groupId, new ClassicGroup(groupId, -1))
  }

  private replace({ group, reason, event }: Extract<GroupChange, { readonly type: 'group' }>): void {
    this.groups.set(group.groupId, group)
    this.schedule(group.groupId, group.nextDeadlineMs)
    this.forgetBlank(group.groupId)
    if (reason !== '') this.observer?.rebalancing(group, reason)
    if (event !== undefined) this.observer?.[event](group)
  }

  /** A group of which nothing is left, and no record speaks, is none. */
  private forgetBlank(groupId: string): void {
    if (this.groups.get(groupId)?.isBlank !== true || this.offsets.has(groupId)) return
    this.groups.delete(groupId)
    this.schedule(groupId, Infinity)
  }

  private schedule(groupId: string, atMs: number): void {
    const entry = this.deadlineOf.get(groupId)
    if (entry?.deadlineMs === atMs) return
    if (entry !== undefined) this.deadlines.remove(entry)
    if (atMs === Infinity) this.deadlineOf.delete(groupId)
    else this.deadlineOf.set(groupId, this.deadlines.add(atMs, groupId))
  }

  /** Undefined where there is no such group. */
  private inGroup(groupId: string, now: MachineTime, work: (turn: GroupTurn) => void): GroupDecision | undefined {
    const group = this.groups.get(groupId)
    return group === undefined ? undefined : this.inTurn(group, now, work)
  }

  private inTurn(group: ClassicGroup, now: MachineTime, work: (turn: GroupTurn) => void): GroupDecision {
    const turn = new GroupTurn(group, now, this.rules)
    work(turn)
    return { records: turn.records, changes: [changeOf(turn)], answers: turn.answers }
  }

  private join(command: JoinCommand, asker: number, now: MachineTime): GroupDecision {
    const { groupId, memberId, sessionTimeoutMs } = command
    if (sessionTimeoutMs < this.rules.sessionTimeoutMinMs || sessionTimeoutMs > this.rules.sessionTimeoutMaxMs) {
      return answer(asker, refusedJoin(memberId, kafkaErrors.INVALID_SESSION_TIMEOUT))
    }
    const group = this.groups.get(groupId) ?? (memberId === '' ? new ClassicGroup(groupId, now.wallMs) : undefined)
    if (group === undefined) return answer(asker, refusedJoin(memberId, kafkaErrors.UNKNOWN_MEMBER_ID))
    return this.inTurn(group, now, (turn) => { join(turn, command, asker) })
  }

  /** By far the most frequent command: the group is not copied for it. */
  private heartbeat(command: HeartbeatCommand, asker: number, now: MachineTime): GroupDecision {
    const group = this.groups.get(command.groupId)
    if (group === undefined) return answer(asker, { errorCode: kafkaErrors.UNKNOWN_MEMBER_ID })
    const errorCode = heartbeatCode(group, command)
    const isHeard = errorCode === kafkaErrors.NONE || errorCode === kafkaErrors.REBALANCE_IN_PROGRESS
    return { records: [], changes: isHeard ? [this.heard(group, command.memberId, now)] : [], answers: [{ asker, reply: { errorCode } }] }
  }

  private heard(group: ClassicGroup, memberId: string, now: MachineTime): GroupChange {
    return { type: 'heard', groupId: group.groupId, memberId, deadlineMs: now.judgedMs + group.members.get(memberId)!.sessionTimeoutMs }
  }

  private commit(command: CommitCommand, asker: number, now: MachineTime): GroupDecision {
    const known = this.groups.get(command.groupId)
    if (known === undefined && command.generation >= 0) {
      const code = command.knowsGroupNotFound ? kafkaErrors.GROUP_ID_NOT_FOUND : kafkaErrors.ILLEGAL_GENERATION
      return answer(asker, command.offsets.map(() => code))
    }
    // Who commits without being a member makes a group that has offsets alone.
    return this.inTurn(known ?? new ClassicGroup(command.groupId, -1), now, (turn) => { commit(turn, command, asker) })
  }

  private described(groupId: string): GroupReply {
    const group = this.groups.get(groupId)
    return group === undefined ? describedDead(groupId, kafkaErrors.GROUP_ID_NOT_FOUND, `group ${groupId} is not there`) : described(group)
  }

  private delete(groupId: string, asker: number): GroupDecision {
    const group = this.groups.get(groupId)
    if (group === undefined) return answer(asker, { groupId, errorCode: kafkaErrors.GROUP_ID_NOT_FOUND, errorMessage: `group ${groupId} is not there` })
    if (group.state !== 'Empty') return answer(asker, { groupId, errorCode: kafkaErrors.NON_EMPTY_GROUP, errorMessage: `group ${groupId} has members` })
    // Last, so that nothing of the group is left when it is gone.
    const records = [...Array.from(this.offsets.of(groupId), ([topic, partition]) => offsetTombstone(groupId, topic, partition)), groupTombstone(groupId)]
    return { records, changes: [], answers: [{ asker, reply: { groupId, errorCode: kafkaErrors.NONE } }], divisible: true }
  }

  private topicsDeleted(topics: ReadonlySet<string>, asker: number): GroupDecision {
    const records = Array.from(this.offsets.ofTopics(topics), ([groupId, topic, partition]) => offsetTombstone(groupId, topic, partition))
    return { records, changes: [], answers: [{ asker, reply: { offsets: records.length } }], divisible: true }
  }

  /** Looks at some of the groups; the others have their turn at once, after whatever waits. */
  private expireOffsets({ wallMs, judgedMs }: MachineTime): GroupDecision {
    const groupIds = this.expiry.groupIds.length > 0 ? this.expiry.groupIds : [...this.groups.keys()]
    const records: RecordDraft[] = []
    for (const groupId of groupIds.slice(0, expiryPiece)) {
      const group = this.groups.get(groupId)
      if (group !== undefined) records.push(...expired(group, this.offsets, wallMs, this.rules))
    }
    const rest = groupIds.slice(expiryPiece)
    const atMs = judgedMs + (rest.length > 0 ? 0 : this.rules.retentionCheckIntervalMs)
    return { records, changes: [{ type: 'expiry', groupIds: rest, atMs }], answers: [], divisible: true }
  }
}

const answer = (asker: number, reply: GroupReply): GroupDecision => ({ records: [], changes: [], answers: [{ asker, reply }] })

function changeOf({ group, reason, before }: GroupTurn): GroupChange {
  const event = group.state === before.state ? undefined : group.state === 'Stable' ? 'stable' : group.state === 'Empty' ? 'emptied' : undefined
  return { type: 'group', group, reason, event }
}

/** Acts on everything in a group whose time has passed. */
function pass(turn: GroupTurn): void {
  const { group, now } = turn
  const nowMs = now.judgedMs
  for (const [memberId, deadlineMs] of [...group.pending]) if (deadlineMs <= nowMs) group.pending.delete(memberId)
  const silent = [...group.members.values()].filter((member) => sessionDeadlineMs(member) <= nowMs)
  for (const { memberId } of silent) turn.removeMember(memberId)
  if (silent.length > 0 && group.isIn('Stable', 'CompletingRebalance')) rebalance(turn, `${silent.length} members were not heard from`)
  if (group.syncDeadlineMs <= nowMs) syncDeadlinePassed(turn)
  if ((group.joinDeadline?.atMs ?? Infinity) <= nowMs) joinDeadlinePassed(turn)
  else if (silent.length > 0 && group.state === 'PreparingRebalance' && group.allJoined) completeJoin(turn)
  else completeIfAllJoined(turn)
  assert(group.nextDeadlineMs > nowMs || group.joinDeadline !== undefined, 'a deadline is acted on once')
}
