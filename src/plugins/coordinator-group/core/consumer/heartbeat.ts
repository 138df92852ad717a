import { kafkaErrors } from '../../../../wire/kafka-error-codes.ts'
import { isSame, isWithin, listsOf, type Assigned } from './assigned.ts'
import { type ConsumerHeartbeatCommand, type ConsumerReplies } from './consumer-commands.ts'
import { awayEpoch, newMember, type ConsumerGroup, type ConsumerMember, type MemberAbout } from './consumer-group.ts'
import { type ConsumerTurn, type TurnParts } from './consumer-turn.ts'
import { reconciled } from './reconcile.ts'
import { fence } from './removal.ts'
import { replaceStatic } from './static-members.ts'
import { follow } from './target.ts'

type Reply = ConsumerReplies['consumerHeartbeat']

export interface Refusal {
  readonly errorCode: number
  readonly errorMessage: string
}

/** ConsumerGroupHeartbeat: a member joins, says what it owns, changes what it reads, or leaves, and is told what it has. */
export function consumerHeartbeat(turn: ConsumerTurn, command: ConsumerHeartbeatCommand, asker: number): void {
  if (command.epoch < 0) {
    leave(turn, command, asker)
    return
  }
  const fault = command.epoch === 0 ? joinFault(turn, command) : memberFault(turn.group, command)
  if (fault !== undefined) {
    turn.answer<'consumerHeartbeat'>(asker, refusedHeartbeat(fault))
    return
  }
  const { group } = turn
  const { memberId } = command
  const reason = command.epoch === 0 ? admit(turn, command) : undefined
  const before = group.members.get(memberId)!
  const about = updatedAbout(before.about, command)
  if (about !== before.about) group.update(memberId, { about })
  group.dropUnusedPatterns()
  const hasChanged = reason ?? (readsDifferently(before.about, about) ? `member ${memberId} reads other topics` : undefined)
  follow(turn, hasChanged)
  advance(turn, memberId, command.owned)
  turn.heard(memberId)
  const member = group.members.get(memberId)!
  // Who comes with its last epoch has not heard of the present one, nor of what it has there.
  const isTold = isFull(command) || command.epoch !== before.current.epoch || !isSame(member.current.assigned, before.current.assigned)
  turn.answer<'consumerHeartbeat'>(asker, heartbeatReply(group, member, isTold, turn))
}

/** Takes the member as far towards its target as it can go now. */
export function advance({ group, now }: ConsumerTurn, memberId: string, owned: Assigned | null): void {
  const member = group.members.get(memberId)!
  const current = reconciled(group, member, owned)
  if (current === member.current) return
  // A member of the classic protocol gives up by joining again, which has deadlines of its own.
  const mustRevoke = current.state === 'unrevoked' && member.about.classic === null
  group.update(memberId, { current, revokeDeadlineMs: mustRevoke ? now.judgedMs + member.about.rebalanceTimeoutMs : Infinity })
}

/**
 * The answer to a heartbeat that changes nothing, without a copy of the group; undefined where it may change something. By far the most frequent request.
 */
export function steadyHeartbeat(group: ConsumerGroup, command: ConsumerHeartbeatCommand, parts: TurnParts): Reply | undefined {
  const member = group.members.get(command.memberId)
  if (member === undefined || command.epoch <= 0 || command.epoch !== member.current.epoch || member.current.state !== 'stable') return undefined
  if (group.epoch !== member.current.epoch || group.assignmentEpoch !== group.epoch || group.checkedVersion !== parts.topics.version) return undefined
  if (memberFault(group, command) !== undefined || updatedAbout(member.about, command) !== member.about) return undefined
  return heartbeatReply(group, member, isFull(command), parts)
}

function heartbeatReply(group: ConsumerGroup, member: ConsumerMember, isTold: boolean, { now, rules, topics }: TurnParts): Reply {
  const { about: { memberId, pattern }, current: { epoch, assigned } } = member
  const resolved = pattern === null ? undefined : group.patterns.get(pattern)
  const isFresh = resolved !== undefined && resolved.version === topics.version && now.wallMs - resolved.atMs < rules.consumer.regexRefreshIntervalMs
  return {
    response: {
      errorCode: kafkaErrors.NONE, throttleTimeMs: 0, memberId, memberEpoch: epoch, heartbeatIntervalMs: rules.consumer.heartbeatIntervalMs,
      assignment: isTold ? { topicPartitions: listsOf(assigned) } : null,
    },
    unresolved: pattern === null || isFresh ? undefined : pattern,
  }
}

export const refusedHeartbeat = (fault: Refusal): Reply => ({ response: { ...fault, throttleTimeMs: 0, memberEpoch: 0, heartbeatIntervalMs: 0, assignment: null }, unresolved: undefined })

/** A member that joins, or has lost its connection, says everything, and is told everything. */
const isFull = ({ epoch, rebalanceTimeoutMs, topics, pattern, owned }: ConsumerHeartbeatCommand): boolean =>
  epoch === 0 || (rebalanceTimeoutMs !== -1 && (topics !== null || pattern !== null) && owned !== null)

function joinFault({ group, rules }: ConsumerTurn, { memberId, instanceId }: ConsumerHeartbeatCommand): Refusal | undefined {
  const former = instanceId === null ? undefined : group.members.get(group.staticMembers.get(instanceId) ?? '')
  // Who speaks the classic protocol is replaced at once: its instance was started again with the new one.
  if (former !== undefined && former.about.memberId !== memberId && former.current.epoch !== awayEpoch && former.about.classic === null) {
    return { errorCode: kafkaErrors.UNRELEASED_INSTANCE_ID, errorMessage: `instance ${instanceId} of group ${group.groupId} is member ${former.about.memberId}, which has not left: stop it, or wait for its session to end` }
  }
  if (former !== undefined || group.members.has(memberId) || group.members.size < rules.consumer.groupSizeMax) return undefined
  return { errorCode: kafkaErrors.GROUP_MAX_SIZE_REACHED, errorMessage: `group ${group.groupId} has ${group.members.size} members, as many as group.consumer.max.size=${rules.consumer.groupSizeMax} allows` }
}

/** Why somebody is not the member in the epoch that it says; undefined when it is. */
function memberFault(group: ConsumerGroup, { memberId, instanceId, epoch, owned }: ConsumerHeartbeatCommand): Refusal | undefined {
  const fault = identityFault(group, memberId, instanceId)
  if (fault !== undefined) return fault
  const { current } = group.members.get(memberId)!
  if (epoch === current.epoch) return undefined
  // The answer that told the present epoch may be lost: it has nothing yet that it was not told of.
  if (epoch < current.epoch && epoch === current.previousEpoch && owned !== null && isWithin(owned, current.assigned)) return undefined
  return {
    errorCode: kafkaErrors.FENCED_MEMBER_EPOCH,
    errorMessage: `member ${memberId} of group ${group.groupId} is at epoch ${current.epoch}, not at ${epoch}: it has to give up its partitions and join again`,
  }
}

export function identityFault(group: ConsumerGroup, memberId: string, instanceId: string | null): Refusal | undefined {
  const current = instanceId === null ? memberId : group.staticMembers.get(instanceId)
  if (current !== undefined && current !== memberId) return { errorCode: kafkaErrors.FENCED_INSTANCE_ID, errorMessage: `instance ${instanceId} of group ${group.groupId} is member ${current} by now` }
  if (current !== undefined && group.members.has(memberId)) return undefined
  return { errorCode: kafkaErrors.UNKNOWN_MEMBER_ID, errorMessage: `group ${group.groupId} has no member ${memberId}${instanceId === null ? '' : ` of instance ${instanceId}`}` }
}

/** Makes the member, or takes it back. Says why another epoch begins, if one does. */
function admit(turn: ConsumerTurn, command: ConsumerHeartbeatCommand): string | undefined {
  const { group } = turn
  const { memberId, instanceId } = command
  const formerId = instanceId === null ? undefined : group.staticMembers.get(instanceId)
  if (formerId !== undefined && formerId !== memberId) {
    replaceStatic(group, formerId, memberId)
    return undefined
  }
  const known = group.members.get(memberId)
  if (known === undefined) {
    group.put(newMember({
      memberId, instanceId, rackId: null, clientId: command.clientId, clientHost: command.clientHost, topics: [], pattern: null, serverAssignor: null,
      rebalanceTimeoutMs: command.rebalanceTimeoutMs, classic: null,
    }))
    return `member ${memberId} has joined`
  }
  const { current } = known
  if (current.assigned.size === 0 && current.revoking.size === 0) return undefined
  // It has nothing any more, whatever it was told. What it may still send of its former self is of an older epoch than what comes now.
  group.put(newMember(known.about))
  return `member ${memberId} has joined again, without what it had`
}

function updatedAbout(about: MemberAbout, command: ConsumerHeartbeatCommand): MemberAbout {
  const { instanceId, rackId, rebalanceTimeoutMs, topics, pattern, serverAssignor, clientId, clientHost } = command
  const next: MemberAbout = {
    memberId: about.memberId, instanceId: instanceId ?? about.instanceId, rackId: rackId ?? about.rackId, clientId, clientHost,
    topics: topics === null || isSameList(topics, about.topics) ? about.topics : topics,
    pattern: pattern === null ? about.pattern : pattern === '' ? null : pattern,
    serverAssignor: serverAssignor ?? about.serverAssignor,
    rebalanceTimeoutMs: rebalanceTimeoutMs === -1 ? about.rebalanceTimeoutMs : rebalanceTimeoutMs,
    classic: null,
  }
  return (Object.keys(next) as (keyof MemberAbout)[]).every((key) => next[key] === about[key]) ? about : next
}

const readsDifferently = (before: MemberAbout, after: MemberAbout): boolean => !isSameList(before.topics, after.topics) || before.pattern !== after.pattern || before.serverAssignor !== after.serverAssignor

const isSameList = (left: readonly string[], right: readonly string[]): boolean => left.length === right.length && left.every((each, index) => each === right[index])

/** A member leaves: for ever, or, where it is static, for as long as its session lasts. */
function leave(turn: ConsumerTurn, { memberId, instanceId, epoch }: ConsumerHeartbeatCommand, asker: number): void {
  const { group } = turn
  const fault = identityFault(group, memberId, instanceId)
  if (fault !== undefined) {
    turn.answer<'consumerHeartbeat'>(asker, refusedHeartbeat(fault))
    return
  }
  if (epoch === awayEpoch) {
    const { current } = group.members.get(memberId)!
    group.update(memberId, { current: { ...current, epoch: awayEpoch, previousEpoch: current.epoch, assigned: current.assigned, revoking: new Map() }, revokeDeadlineMs: Infinity })
  } else {
    fence(turn, [memberId], `member ${memberId} has left`)
  }
  turn.answer<'consumerHeartbeat'>(asker, { response: { errorCode: kafkaErrors.NONE, throttleTimeMs: 0, memberId, memberEpoch: epoch, heartbeatIntervalMs: 0, assignment: null }, unresolved: undefined })
}
