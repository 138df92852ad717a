import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { metadataOf, noBytes, type ClassicGroup, type Member } from './classic-group.ts'
import { type GroupReplies } from './group-commands.ts'
import { type GroupTurn } from './group-turn.ts'
import { generationRecord, groupRecord } from './group-writer.ts'
import { electProtocol } from './protocol-vote.ts'

/** A join phase to which nobody has come is looked at again no sooner, whatever rebalance timeout its members have. */
const joinAgainMsMin = 1000

/** Begins a rebalance where one may begin; where one is under way, ends its join phase if nobody is missed any more. */
export function rebalance(turn: GroupTurn, reason: string): void {
  if (turn.group.state === 'PreparingRebalance') completeIfAllJoined(turn)
  else prepare(turn, reason)
}

/** The first rebalance of an empty group is not ended before its time, to have all members that come together (quirk 48). */
export function completeIfAllJoined(turn: GroupTurn): void {
  const { group } = turn
  if (group.state === 'PreparingRebalance' && group.allJoined && group.joinDeadline?.initial === undefined) completeJoin(turn)
}

/** Members are to join again, for another generation. */
export function prepare(turn: GroupTurn, reason: string): void {
  const { group, now, rules } = turn
  turn.reason = reason
  if (group.state === 'CompletingRebalance') giveUpAssignment(turn)
  group.unsynced.clear()
  group.syncDeadlineMs = Infinity
  const isInitial = group.state === 'Empty'
  group.enter('PreparingRebalance', now.wallMs)
  if (isInitial) {
    const delayMs = rules.initialRebalanceDelayMs
    group.memberCame = false
    group.joinDeadline = { atMs: now.judgedMs + delayMs, initial: { delayMs, remainingMs: Math.max(group.rebalanceTimeoutMs - delayMs, 0) } }
  } else if (group.allJoined) {
    completeJoin(turn)
  } else {
    group.joinDeadline = { atMs: now.judgedMs + group.rebalanceTimeoutMs, initial: undefined }
  }
}

/** The time to join is over. */
export function joinDeadlinePassed(turn: GroupTurn): void {
  const { group, now, rules } = turn
  const initial = group.joinDeadline?.initial
  if (initial === undefined || !group.memberCame || initial.remainingMs === 0) {
    completeJoin(turn)
    return
  }
  group.memberCame = false
  const delayMs = Math.min(rules.initialRebalanceDelayMs, initial.remainingMs)
  group.joinDeadline = { atMs: now.judgedMs + delayMs, initial: { delayMs, remainingMs: Math.max(initial.remainingMs - initial.delayMs, 0) } }
}

/** The time to ask for the assignment is over: who has not is out. */
export function syncDeadlinePassed(turn: GroupTurn): void {
  const { group } = turn
  group.syncDeadlineMs = Infinity
  if (group.unsynced.size === 0) return
  const missing = [...group.unsynced]
  for (const memberId of missing) turn.removeMember(memberId)
  prepare(turn, `${missing.length} members have not asked for their assignment`)
}

/**
 * Ends the join phase: dynamic members that have not come again are out, and those who have are told of the new generation. Its number is written
 * before anybody is told, so that it is never given to others, whatever happens to this broker.
 */
export function completeJoin(turn: GroupTurn): void {
  const { group, now } = turn
  group.joinDeadline = undefined
  for (const member of [...group.members.values()]) if (member.joinAsker === undefined && member.instanceId === null) group.remove(member.memberId)
  if (!electLeader(group) && group.members.size > 0) {
    // Only static members are left, and none has come: until their sessions end.
    group.joinDeadline = { atMs: now.judgedMs + Math.max(group.rebalanceTimeoutMs, joinAgainMsMin), initial: undefined }
    return
  }
  group.generation++
  group.unsynced.clear()
  group.syncDeadlineMs = Infinity
  if (group.members.size === 0) {
    group.protocol = null
    group.enter('Empty', now.wallMs)
    turn.records.push(groupRecord(group))
    return
  }
  group.protocol = electProtocol(group) ?? null
  group.enter('CompletingRebalance', now.wallMs)
  turn.records.push(generationRecord(group))
  for (const member of [...group.members.values()]) {
    if (member.joinAsker !== undefined) turn.answer<'join'>(member.joinAsker, joined(group, member.memberId))
    group.update(member.memberId, { joinAsker: undefined, isNew: false, deadlineMs: now.judgedMs + member.sessionTimeoutMs })
    group.unsynced.add(member.memberId)
  }
  group.syncDeadlineMs = now.judgedMs + group.rebalanceTimeoutMs
}

/** The leader of the last generation if it has come again, else the first that has. False when nobody has. */
function electLeader(group: ClassicGroup): boolean {
  if (group.leader !== null && group.members.get(group.leader)?.joinAsker !== undefined) return true
  const next = [...group.members.values()].find(({ joinAsker }) => joinAsker !== undefined)
  if (next !== undefined) group.leader = next.memberId
  else if (group.members.size === 0) group.leader = null
  return next !== undefined
}

/** The leader has assigned: the generation is written, and all who have asked get their part. Who is given nothing gets no bytes (quirk 46). */
export function assign(turn: GroupTurn, assignments: ReadonlyMap<string, Uint8Array>): void {
  const { group, now } = turn
  for (const { memberId } of [...group.members.values()]) group.update(memberId, { assignment: assignments.get(memberId) ?? noBytes })
  group.enter('Stable', now.wallMs)
  turn.records.push(groupRecord(group))
  for (const member of [...group.members.values()]) {
    if (member.syncAsker === undefined) continue
    turn.answer<'sync'>(member.syncAsker, synced(group, member))
    group.update(member.memberId, { syncAsker: undefined, deadlineMs: now.judgedMs + member.sessionTimeoutMs })
  }
}

/** The generation ends before it has begun. */
function giveUpAssignment(turn: GroupTurn): void {
  const { group, now } = turn
  for (const member of [...group.members.values()]) {
    if (member.syncAsker === undefined) group.update(member.memberId, { assignment: noBytes })
    else {
      turn.refuseSync(member.syncAsker, kafkaErrors.REBALANCE_IN_PROGRESS)
      group.update(member.memberId, { assignment: noBytes, syncAsker: undefined, deadlineMs: now.judgedMs + member.sessionTimeoutMs })
    }
  }
}

/** Quirk 45: only the leader is told of the members. */
export function joined(group: ClassicGroup, memberId: string): GroupReplies['join'] {
  return {
    errorCode: kafkaErrors.NONE,
    generationId: group.generation,
    protocolType: group.protocolType,
    protocolName: group.protocol,
    leader: group.leader ?? '',
    memberId,
    members: memberId === group.leader ? membersOf(group) : [],
  }
}

export function membersOf(group: ClassicGroup): GroupReplies['join']['members'] {
  return Array.from(group.members.values(), (member) => ({
    memberId: member.memberId, groupInstanceId: member.instanceId, metadata: metadataOf(member, group.protocol),
  }))
}

export function synced(group: ClassicGroup, member: Member): GroupReplies['sync'] {
  return { errorCode: kafkaErrors.NONE, protocolType: group.protocolType, protocolName: group.protocol, assignment: member.assignment }
}
