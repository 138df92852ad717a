import { kafkaErrors } from '../../../../wire/kafka-error-codes.ts'
import { noBytes, type MemberProtocol } from '../classic-group.ts'
import { type GroupReplies, type HeartbeatCommand, type JoinCommand, type LeaveCommand, type MemberClaim, type SyncCommand } from '../group-commands.ts'
import { refusedJoin } from '../group-turn.ts'
import { nothingAssigned } from './assigned.ts'
import { newMember, type ConsumerGroup, type ConsumerMember, type MemberAbout } from './consumer-group.ts'
import { type ConsumerTurn } from './consumer-turn.ts'
import { advance, identityFault } from './heartbeat.ts'
import { assignedByName, assignmentBytes, subscriptionIn } from './migration.ts'
import { downgradeIfAllClassic, fence } from './removal.ts'
import { replaceStatic } from './static-members.ts'
import { follow } from './target.ts'

/**
 * Members of the classic protocol in a group of the consumer protocol (online migration): each JoinGroup is answered at once, its generation is the epoch of the
 * member, and SyncGroup tells what it has. Heartbeats tell it to join again when there is a next step for it.
 */

/** JoinGroup. */
export function joinAsClassic(turn: ConsumerTurn, command: JoinCommand, asker: number): void {
  const { group, now, topics } = turn
  const refuse = (errorCode: number, id = command.memberId): void => { turn.answer<'join'>(asker, refusedJoin(id, errorCode)) }
  const memberId = command.memberId === '' ? command.freshMemberId : command.memberId
  const subscription = subscriptionIn(command.protocols[0]?.metadata)
  const fault = joinFault(turn, command, memberId)
  if (fault !== undefined || subscription === undefined) {
    refuse(fault ?? kafkaErrors.INCONSISTENT_GROUP_PROTOCOL)
    return
  }
  if (subscription.ownedPartitions.length > 0 && !group.members.has(command.memberId)) {
    // It was a member, and is out: what it still reads is others', and it must not commit it in an epoch that it would get here.
    refuse(kafkaErrors.UNKNOWN_MEMBER_ID)
    return
  }
  if (command.memberId === '' && command.instanceId === null && command.idFirst) {
    // Quirk 44. Nobody has to remember the id: any is taken.
    refuse(kafkaErrors.MEMBER_ID_REQUIRED, memberId)
    return
  }
  const reason = admit(turn, command, memberId)
  const before = group.members.get(memberId)!
  const about: MemberAbout = {
    memberId, instanceId: command.instanceId, rackId: subscription.rackId, clientId: command.clientId, clientHost: command.clientHost,
    topics: [...new Set(subscription.topics)].sort(), pattern: null, serverAssignor: null, rebalanceTimeoutMs: command.rebalanceTimeoutMs,
    classic: { sessionTimeoutMs: command.sessionTimeoutMs, protocols: command.protocols },
  }
  group.update(memberId, { about, revokeDeadlineMs: Infinity, joinDeadlineMs: Infinity, syncDeadlineMs: now.judgedMs + command.rebalanceTimeoutMs })
  group.dropUnusedPatterns()
  const readsOther = about.topics.join('\n') !== before.about.topics.join('\n') || before.about.pattern !== null
  follow(turn, reason ?? (readsOther ? `member ${memberId} reads other topics` : undefined))
  advance(turn, memberId, reason === undefined ? assignedByName(topics, subscription.ownedPartitions) : nothingAssigned)
  turn.heard(memberId)
  if (reason === undefined && before.about.classic === null) downgradeIfAllClassic(turn)
  turn.answer<'join'>(asker, {
    errorCode: kafkaErrors.NONE, generationId: group.members.get(memberId)!.current.epoch, protocolType: 'consumer', protocolName: command.protocols[0]!.name,
    leader: '', memberId, members: [],
  })
}

function joinFault({ group, rules }: ConsumerTurn, { memberId: said, instanceId, protocolType, protocols }: JoinCommand, memberId: string): number | undefined {
  const former = instanceId === null ? undefined : group.staticMembers.get(instanceId)
  if (said !== '' && instanceId !== null) {
    if (former === undefined) return kafkaErrors.UNKNOWN_MEMBER_ID
    if (former !== said) return kafkaErrors.FENCED_INSTANCE_ID
  }
  if (former === undefined && !group.members.has(memberId) && group.members.size >= rules.consumer.groupSizeMax) return kafkaErrors.GROUP_MAX_SIZE_REACHED
  return protocolType === 'consumer' && supports(group, protocols) ? undefined : kafkaErrors.INCONSISTENT_GROUP_PROTOCOL
}

/** Whether all members of the classic protocol could agree on one of these, if they had to. */
function supports(group: ConsumerGroup, protocols: readonly MemberProtocol[]): boolean {
  const counts = group.protocolCounts
  return protocols.some(({ name }) => counts.isCommon(name))
}

/** Makes the member where it is new. Says why another epoch begins, if one does. */
function admit({ group }: ConsumerTurn, { instanceId, clientId, clientHost, rebalanceTimeoutMs }: JoinCommand, memberId: string): string | undefined {
  const formerId = instanceId === null ? undefined : group.staticMembers.get(instanceId)
  if (formerId !== undefined && formerId !== memberId) {
    replaceStatic(group, formerId, memberId)
    return undefined
  }
  if (group.members.has(memberId)) return undefined
  group.put(newMember({ memberId, instanceId, rackId: null, clientId, clientHost, topics: [], pattern: null, serverAssignor: null, rebalanceTimeoutMs, classic: null }))
  return `member ${memberId} has joined with the classic protocol`
}

/** Why somebody is not the classic member of the generation that it says; undefined when it is. */
export function classicFault(group: ConsumerGroup, claim: MemberClaim & { readonly generation: number }): number | undefined {
  const fault = identityFault(group, claim.memberId, claim.instanceId)
  if (fault !== undefined) return fault.errorCode
  const { about, current } = group.members.get(claim.memberId)!
  if (about.classic === null) return kafkaErrors.UNKNOWN_MEMBER_ID
  return current.epoch === claim.generation ? undefined : kafkaErrors.ILLEGAL_GENERATION
}

/** SyncGroup. */
export function syncAsClassic(turn: ConsumerTurn, command: SyncCommand, asker: number): void {
  const { group, topics } = turn
  const { memberId, protocolType, protocol } = command
  const fault = classicFault(group, command) ?? protocolFault(group.members.get(memberId)!, command)
  if (fault !== undefined) {
    turn.answer<'sync'>(asker, { errorCode: fault, assignment: noBytes })
    return
  }
  const member = group.members.get(memberId)!
  // Who is to give something up has joined already, and learns here what it keeps.
  if (group.epoch > member.current.epoch && member.current.state !== 'unrevoked') {
    askToJoin(turn, member)
    turn.answer<'sync'>(asker, { errorCode: kafkaErrors.REBALANCE_IN_PROGRESS, assignment: noBytes })
    return
  }
  group.update(memberId, { syncDeadlineMs: Infinity })
  turn.heard(memberId)
  turn.answer<'sync'>(asker, { errorCode: kafkaErrors.NONE, protocolType, protocolName: protocol, assignment: assignmentBytes(member, member.current.assigned, topics) })
}

function protocolFault({ about: { classic } }: ConsumerMember, { protocolType, protocol }: SyncCommand): number | undefined {
  const isTheirs = (protocolType ?? 'consumer') === 'consumer' && (protocol ?? classic!.protocols[0]!.name) === classic!.protocols[0]!.name
  return isTheirs ? undefined : kafkaErrors.INCONSISTENT_GROUP_PROTOCOL
}

/** Heartbeat. */
export function heartbeatAsClassic(turn: ConsumerTurn, command: HeartbeatCommand, asker: number): void {
  const { group } = turn
  const fault = classicFault(group, command)
  if (fault !== undefined) {
    turn.answer<'heartbeat'>(asker, { errorCode: fault })
    return
  }
  turn.heard(command.memberId)
  // Topics that have changed are noticed by whoever is heard first.
  follow(turn, undefined)
  const member = group.members.get(command.memberId)!
  const { current } = member
  const hasStep = current.epoch < group.epoch || current.state === 'unrevoked' || (current.state === 'unreleased' && !group.isWaiting(member))
  if (hasStep) askToJoin(turn, member)
  turn.answer<'heartbeat'>(asker, { errorCode: hasStep ? kafkaErrors.REBALANCE_IN_PROGRESS : kafkaErrors.NONE })
}

function askToJoin({ group, now }: ConsumerTurn, { about: { memberId, rebalanceTimeoutMs } }: ConsumerMember): void {
  if (group.members.get(memberId)!.joinDeadlineMs === Infinity) group.update(memberId, { joinDeadlineMs: now.judgedMs + rebalanceTimeoutMs })
}

/** LeaveGroup: each member by itself; by instance id alone where an operator removes it (quirk 49), of whatever protocol. */
export function leaveAsClassic(turn: ConsumerTurn, { members }: LeaveCommand, asker: number): void {
  const { group } = turn
  const left = new Set<string>()
  const answers: GroupReplies['leave']['members'] = members.map(({ memberId, instanceId }) => {
    const current = memberId !== '' || instanceId === null ? memberId : group.staticMembers.get(instanceId) ?? ''
    const fault = left.has(current) ? kafkaErrors.UNKNOWN_MEMBER_ID : identityFault(group, current, instanceId)?.errorCode
    const isTheirs = fault === undefined && (memberId === '' || group.members.get(current)!.about.classic !== null)
    if (isTheirs) left.add(current)
    return { memberId, groupInstanceId: instanceId, errorCode: isTheirs ? kafkaErrors.NONE : fault ?? kafkaErrors.UNKNOWN_MEMBER_ID }
  })
  turn.answer<'leave'>(asker, { errorCode: kafkaErrors.NONE, members: answers })
  if (left.size > 0) fence(turn, [...left], `${left.size} members have left`)
}
