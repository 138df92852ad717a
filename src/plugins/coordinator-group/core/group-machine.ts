import { TimerHeap, type TimerEntry } from '../../../base/timer-heap.ts'
import { type Decision, type MachineTime, type RecordDraft, type ReplayMachine } from '../../../kernel/model/replay-machine.ts'
import { type ConsumerGroupRecordKey } from '../../../wire/consumer-group-records.ts'
import { decodeGroupMetadataValue, decodeGroupRecordKey, decodeOffsetCommitValue } from '../../../wire/group-records.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { ClassicGroup, sessionDeadlineMs } from './classic-group.ts'
import { type CommitCommand, type GroupCommand, type GroupReply, type GroupReplies, type GroupRules, type HeartbeatCommand, type JoinCommand } from './group-commands.ts'
import { type GroupChange, type GroupObserver, type TopicDeletion } from './group-change.ts'
import { GroupOffsets } from './group-offsets.ts'
import { GroupTurn, refusedJoin } from './group-turn.ts'
import { groupFromRecord, groupRecord, groupTombstone, offsetFromRecord, offsetTombstone } from './group-writer.ts'
import { describedDead, described, listed } from './group-views.ts'
import { join } from './join-group.ts'
import { heartbeatCode, leave, sync } from './member-commands.ts'
import { heartbeatAsClassic, joinAsClassic, leaveAsClassic, syncAsClassic } from './consumer/classic-members.ts'
import { type ConsumerGroup } from './consumer/consumer-group.ts'
import { ConsumerGroups } from './consumer/consumer-groups.ts'
import { commitFault, fetchFault } from './consumer/consumer-offsets.ts'
import { groupTombstones } from './consumer/consumer-records.ts'
import { type ConsumerTurn } from './consumer/consumer-turn.ts'
import { describedConsumer, undescribed } from './consumer/consumer-views.ts'
import { classicFrom } from './consumer/migration.ts'
import { type TopicDirectory } from './consumer/topic-directory.ts'
import { commit, committed, deletedOffsets, deleteOffsets, fetched } from './offset-commands.ts'
import { OffsetLoad } from './offset-load.ts'
import { deletionVisit, expiryVisit, expiryVisitOfConsumers } from './offset-expiry.ts'
import { turnPauseMs, walkFrom, walkOn, type Visit, type WalkPlace } from './offset-walk.ts'
import { completeIfAllJoined, completeJoin, joinDeadlinePassed, prepare, rebalance, syncDeadlinePassed } from './rebalance.ts'

type GroupDecision = Decision<GroupChange, GroupReply>

const nothing: GroupDecision = { records: [], changes: [], answers: [] }

/** The groups and committed offsets of one partition of `__consumer_offsets`. */
export class GroupMachine implements ReplayMachine<GroupCommand, GroupChange, GroupReply> {
  /** Those of the classic protocol, and those that have offsets alone. A group is here or among the consumers. */
  readonly groups = new Map<string, ClassicGroup>()
  readonly consumers: ConsumerGroups
  readonly offsets = new GroupOffsets()
  private readonly rules: GroupRules
  private readonly topics: TopicDirectory
  private readonly observer: GroupObserver | undefined
  /** When each group has to be looked at, at the latest: members that are heard only move it. */
  private readonly deadlines = new TimerHeap<string>()
  private readonly deadlineOf = new Map<string, TimerEntry<string>>()
  /** Until the load has ended: there is no change before. */
  private load: OffsetLoad | undefined = new OffsetLoad()
  private expiry: { readonly place: WalkPlace | undefined, readonly atMs: number } = { place: undefined, atMs: Infinity }
  private deletion: TopicDeletion | undefined

  constructor(rules: GroupRules, topics: TopicDirectory, observer?: GroupObserver) {
    this.rules = rules
    this.topics = topics
    this.consumers = new ConsumerGroups(rules, topics)
    this.observer = observer
  }

  get nextDeadlineMs(): number {
    const hasGroups = this.groups.size > 0 || this.consumers.groups.size > 0 || this.expiry.place !== undefined
    return Math.min(this.deadlines.peek()?.deadlineMs ?? Infinity, this.deletion?.atMs ?? Infinity, hasGroups ? this.expiry.atMs : Infinity)
  }

  decide(command: GroupCommand, asker: number, now: MachineTime): GroupDecision {
    const consumers = 'groupId' in command ? this.consumers.groups.get(command.groupId) : undefined
    if (consumers !== undefined) {
      const decision = this.decideForConsumers(consumers, command, asker, now)
      if (decision !== undefined) return decision
    }
    switch (command.type) {
      case 'consumerHeartbeat': return this.consumers.heartbeat(command, asker, now, this.groups.get(command.groupId))
      case 'patternResolved': return this.consumers.patternResolved(command, asker, now)
      case 'consumerDescribe': return answer(asker, undescribed(command.groupId, kafkaErrors.GROUP_ID_NOT_FOUND, `group ${command.groupId} is not there, or is none of the consumer protocol`))
      case 'join': return this.join(command, asker, now)
      case 'sync': return this.inGroup(command.groupId, now, (turn) => { sync(turn, command, asker) }) ?? answer(asker, { errorCode: kafkaErrors.UNKNOWN_MEMBER_ID, assignment: new Uint8Array(0) })
      case 'heartbeat': return this.heartbeat(command, asker, now)
      case 'leave': return this.inGroup(command.groupId, now, (turn) => { leave(turn, command, asker) })
        ?? answer(asker, { errorCode: kafkaErrors.NONE, members: command.members.map(({ memberId, instanceId }) => ({ memberId, groupInstanceId: instanceId, errorCode: kafkaErrors.UNKNOWN_MEMBER_ID })) })
      case 'commit': return this.commit(command, asker, now)
      case 'fetch': return answer(asker, { errorCode: kafkaErrors.NONE, offsets: fetched(this.offsets, command) })
      case 'deleteOffsets': return this.inGroup(command.groupId, now, (turn) => { deleteOffsets(turn, this.offsets, command, asker) })
        ?? answer(asker, { errorCode: kafkaErrors.GROUP_ID_NOT_FOUND, throttleTimeMs: 0, topics: [] })
      case 'describe': return answer(asker, this.described(command.groupId))
      case 'list': return answer(asker, listed([...this.groups.values(), ...this.consumers.groups.values()], command.states, command.types))
      case 'delete': return this.delete(command.groupId, asker)
      case 'topicsDeleted': return this.topicsDeleted(command.topics, asker, now)
    }
  }

  due(now: MachineTime): GroupDecision {
    if (this.deletion !== undefined && this.deletion.atMs <= now.judgedMs) return this.forgetOffsets(this.deletion, now)
    if (this.expiry.atMs <= now.judgedMs) return this.expireOffsets(now)
    const first = this.deadlines.peek()
    if (first === undefined || first.deadlineMs > now.judgedMs) return nothing
    const consumers = this.consumers.groups.get(first.value)
    return consumers === undefined ? this.inGroup(first.value, now, (turn) => { pass(turn) })! : this.consumers.due(consumers, now)
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
    const ofConsumers = this.consumers.loaded(now)
    return {
      records: [...turns, ...ofConsumers].flatMap(({ records }) => records),
      changes: [...turns.map(changeOf), ...ofConsumers.flatMap(({ changes }) => changes), { type: 'expiry', place: undefined, atMs: now.judgedMs + this.rules.retentionCheckIntervalMs }],
      answers: [],
    }
  }

  replay(key: Uint8Array, value: Uint8Array | null): void {
    if (value !== null && this.load?.overwrite(key, value) === true) return
    const known = decodeGroupRecordKey(key)
    if (known.type === 'groupMetadata') this.replayGroup(known.group, value)
    else if (known.type === 'offsetCommit') {
      const { group, topic, partition } = known.key
      if (value === null) {
        const cell = this.offsets.delete(group, topic, partition)
        if (cell !== undefined) this.load?.deleted(cell)
        this.forgetBlank(group)
      } else {
        const cell = this.offsets.set(group, topic, partition, offsetFromRecord(decodeOffsetCommitValue(value)))
        this.load?.kept(key, cell)
        if (!this.groups.has(group) && !this.consumers.groups.has(group)) this.groups.set(group, new ClassicGroup(group, -1))
      }
    } else if (known.type !== 'unknown') this.replayConsumers(known, value)
  }

  apply(change: GroupChange): void {
    this.load = undefined
    switch (change.type) {
      case 'group': this.replace(change); break
      case 'consumer': this.replaceConsumers(change); break
      case 'consumerHeard': this.consumers.groups.get(change.groupId)!.update(change.memberId, { sessionDeadlineMs: change.sessionDeadlineMs }); break
      case 'heard': this.groups.get(change.groupId)!.update(change.memberId, { deadlineMs: change.deadlineMs }); break
      case 'expiry': this.expiry = change; break
      case 'deletion': this.deletion = change.deletion; break
    }
  }

  private replayGroup(groupId: string, value: Uint8Array | null): void {
    if (value !== null) {
      this.consumers.groups.delete(groupId)
      this.groups.set(groupId, groupFromRecord(groupId, decodeGroupMetadataValue(value)))
      return
    }
    this.groups.delete(groupId)
    this.schedule(groupId, Infinity)
    // Offsets that were left would bring the group back at the next load.
    if (this.offsets.has(groupId)) this.groups.set(groupId, new ClassicGroup(groupId, -1))
  }

  private replayConsumers(key: ConsumerGroupRecordKey, value: Uint8Array | null): void {
    this.consumers.replay(key, value)
    if (this.consumers.groups.has(key.group)) {
      this.groups.delete(key.group)
    } else if (key.type === 'consumerGroup' && !this.groups.has(key.group)) {
      this.schedule(key.group, Infinity)
      if (this.offsets.has(key.group)) this.groups.set(key.group, new ClassicGroup(key.group, -1))
    }
  }

  private replaceConsumers({ group, reason, event }: Extract<GroupChange, { readonly type: 'consumer' }>): void {
    this.groups.delete(group.groupId)
    this.consumers.groups.set(group.groupId, group)
    this.schedule(group.groupId, group.nextDeadlineMs)
    this.tell(group, reason, event)
  }

  private tell(group: ClassicGroup | ConsumerGroup, reason: string, event: 'stable' | 'emptied' | undefined): void {
    if (reason !== '') this.observer?.rebalancing(group, reason)
    if (event !== undefined) this.observer?.[event](group)
  }

  private replace({ group, reason, event }: Extract<GroupChange, { readonly type: 'group' }>): void {
    this.consumers.groups.delete(group.groupId)
    group.pending.settle()
    this.groups.set(group.groupId, group)
    this.schedule(group.groupId, group.nextDeadlineMs)
    this.forgetBlank(group.groupId)
    this.tell(group, reason, event)
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
    const { groupId, memberId } = command
    const refusal = this.timeoutRefusal(command, asker)
    if (refusal !== undefined) return refusal
    const group = this.groups.get(groupId) ?? (memberId === '' ? new ClassicGroup(groupId, now.wallMs) : undefined)
    if (group === undefined) return answer(asker, refusedJoin(memberId, kafkaErrors.UNKNOWN_MEMBER_ID))
    return this.inTurn(group, now, (turn) => { join(turn, command, asker) })
  }

  /** A command about a group of the consumer protocol. Undefined where it is handled as for any other group. */
  private decideForConsumers(group: ConsumerGroup, command: GroupCommand, asker: number, now: MachineTime): GroupDecision | undefined {
    const { groupId } = group
    const inGroup = (work: (turn: ConsumerTurn) => void): GroupDecision => this.consumers.inGroup(group, now, work)
    switch (command.type) {
      case 'join': return this.joinConsumers(group, command, asker, now)
      case 'sync': return inGroup((turn) => { syncAsClassic(turn, command, asker) })
      case 'heartbeat': return inGroup((turn) => { heartbeatAsClassic(turn, command, asker) })
      case 'leave': return inGroup((turn) => { leaveAsClassic(turn, command, asker) })
      case 'commit': {
        const { codes, records } = committed(command, commitFault(group, command), now, this.rules)
        return { records, changes: [], answers: [{ asker, reply: codes }] }
      }
      case 'fetch': {
        const fault = fetchFault(group, command)
        return fault === undefined ? undefined : answer(asker, { errorCode: fault, offsets: [] })
      }
      case 'deleteOffsets': {
        const { reply, records } = deletedOffsets(this.offsets, command, group.subscribed)
        return { records, changes: [], answers: [{ asker, reply }] }
      }
      case 'consumerDescribe': return answer(asker, describedConsumer(group, this.rules.consumer.assignors, this.topics))
      case 'describe': return answer(asker, describedDead(groupId, kafkaErrors.GROUP_ID_NOT_FOUND, `group ${groupId} is none of the classic protocol`))
      case 'delete': return group.members.size > 0 ? answer(asker, notEmpty(groupId)) : this.deleted(groupId, groupTombstones(group), asker)
      default: return undefined
    }
  }

  /** Into an empty group anybody may come, who makes it one of the classic protocol; its generations go on from its epochs. */
  private joinConsumers(group: ConsumerGroup, command: JoinCommand, asker: number, now: MachineTime): GroupDecision {
    const refusal = this.timeoutRefusal(command, asker)
    if (refusal !== undefined) return refusal
    if (group.members.size > 0) return this.consumers.inGroup(group, now, (turn) => { joinAsClassic(turn, command, asker) })
    if (command.memberId !== '') return answer(asker, refusedJoin(command.memberId, kafkaErrors.UNKNOWN_MEMBER_ID))
    const classic = classicFrom(group, this.topics, now)
    const { records, ...decision } = this.inTurn(classic, now, (turn) => { join(turn, command, asker) })
    return { ...decision, records: [...groupTombstones(group), groupRecord(classic), ...records] }
  }

  private timeoutRefusal({ memberId, sessionTimeoutMs }: JoinCommand, asker: number): GroupDecision | undefined {
    const { sessionTimeoutMinMs, sessionTimeoutMaxMs } = this.rules
    return sessionTimeoutMs < sessionTimeoutMinMs || sessionTimeoutMs > sessionTimeoutMaxMs ? answer(asker, refusedJoin(memberId, kafkaErrors.INVALID_SESSION_TIMEOUT)) : undefined
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
      const code = command.knowsEpochs ? kafkaErrors.GROUP_ID_NOT_FOUND : kafkaErrors.ILLEGAL_GENERATION
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
    return group.state === 'Empty' ? this.deleted(groupId, [groupTombstone(groupId)], asker) : answer(asker, notEmpty(groupId))
  }

  /** The tombstones of the group come last, so that nothing of it is left when it is gone. */
  private deleted(groupId: string, tombstones: readonly RecordDraft[], asker: number): GroupDecision {
    const records = [...Array.from(this.offsets.of(groupId), ([topic, partition]) => offsetTombstone(groupId, topic, partition)), ...tombstones]
    return { records, changes: [], answers: [{ asker, reply: { groupId, errorCode: kafkaErrors.NONE } }], divisible: true }
  }

  /** What is deleted while others are waits for them, so that there is one walk at a time. */
  private topicsDeleted(topics: ReadonlySet<string>, asker: number, now: MachineTime): GroupDecision {
    const { deletion } = this
    const decision: GroupDecision = deletion === undefined ? this.forgetOffsets(this.deletionOf(topics, now.judgedMs), now)
      : { ...nothing, changes: [{ type: 'deletion', deletion: { ...deletion, waiting: new Set([...deletion.waiting, ...topics]) } }] }
    return { ...decision, answers: [{ asker, reply: { begun: true } }] }
  }

  private deletionOf(topics: ReadonlySet<string>, atMs: number): TopicDeletion {
    return { topics, place: walkFrom(this.offsets.groupIds()), waiting: new Set(), atMs }
  }

  /** Offsets of topics that are gone, for one turn; the others have theirs after whatever waits. */
  private forgetOffsets(deletion: TopicDeletion, { judgedMs }: MachineTime): GroupDecision {
    const { topics, waiting } = deletion
    const { records, place } = walkOn(deletion.place, this.offsets, (groupId) => this.offsets.has(groupId) ? deletionVisit(groupId, this.offsets, topics, this.topics) : undefined)
    const atMs = judgedMs + turnPauseMs
    const next = place !== undefined ? { ...deletion, place, atMs } : waiting.size > 0 ? this.deletionOf(waiting, atMs) : undefined
    return { records, changes: [{ type: 'deletion', deletion: next }], answers: [], divisible: true }
  }

  /** Offsets and groups whose time is over, for one turn; the others have theirs after whatever waits. */
  private expireOffsets({ wallMs, judgedMs }: MachineTime): GroupDecision {
    const begun = this.expiry.place ?? walkFrom([...this.groups.keys(), ...this.consumers.groups.keys()])
    const { records, place } = walkOn(begun, this.offsets, (groupId): Visit | undefined => {
      const [group, consumers] = [this.groups.get(groupId), this.consumers.groups.get(groupId)]
      if (group !== undefined) return expiryVisit(group, this.offsets, wallMs, this.rules)
      return consumers === undefined ? undefined : expiryVisitOfConsumers(consumers, this.offsets, wallMs, this.rules)
    })
    const atMs = judgedMs + (place === undefined ? this.rules.retentionCheckIntervalMs : turnPauseMs)
    return { records, changes: [{ type: 'expiry', place, atMs }], answers: [], divisible: true }
  }
}

const answer = (asker: number, reply: GroupReply): GroupDecision => ({ records: [], changes: [], answers: [{ asker, reply }] })

const notEmpty = (groupId: string): GroupReplies['delete'] => ({ groupId, errorCode: kafkaErrors.NON_EMPTY_GROUP, errorMessage: `group ${groupId} has members` })

function changeOf({ group, reason, before }: GroupTurn): GroupChange {
  const event = group.state === before.state ? undefined : group.state === 'Stable' ? 'stable' : group.state === 'Empty' ? 'emptied' : undefined
  return { type: 'group', group, reason, event }
}

/** Acts on everything in a group whose time has passed. What comes of it may have a deadline that has passed as well, as with a rebalance timeout of 0: the next turn acts on that. */
function pass(turn: GroupTurn): void {
  const { group, now } = turn
  const nowMs = now.judgedMs
  group.pending.expire(nowMs)
  const silent = [...group.members.values()].filter((member) => sessionDeadlineMs(member) <= nowMs)
  for (const { memberId } of silent) turn.removeMember(memberId)
  if (silent.length > 0 && group.isIn('Stable', 'CompletingRebalance')) rebalance(turn, `${silent.length} members were not heard from`)
  if (group.syncDeadlineMs <= nowMs) syncDeadlinePassed(turn)
  if ((group.joinDeadline?.atMs ?? Infinity) <= nowMs) joinDeadlinePassed(turn)
  else if (silent.length > 0 && group.state === 'PreparingRebalance' && group.allJoined) completeJoin(turn)
  else completeIfAllJoined(turn)
}
