import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type ClassicGroup } from './classic-group.ts'
import { type GroupReplies, type HeartbeatCommand, type LeaveCommand, type MemberClaim, type SyncCommand } from './group-commands.ts'
import { type GroupTurn } from './group-turn.ts'
import { assign, completeIfAllJoined, rebalance, synced } from './rebalance.ts'

/** Why somebody is not the member that it says; undefined when it is. A static member's earlier id is fenced. */
export function claimFault(group: ClassicGroup, { memberId, instanceId }: MemberClaim): number | undefined {
  if (instanceId !== null) {
    const current = group.staticMembers.get(instanceId)
    if (current === undefined) return kafkaErrors.UNKNOWN_MEMBER_ID
    if (current !== memberId) return kafkaErrors.FENCED_INSTANCE_ID
  }
  return group.members.has(memberId) ? undefined : kafkaErrors.UNKNOWN_MEMBER_ID
}

/** A member of another generation than the group's is not heard, whatever it says. */
export function generationFault(group: ClassicGroup, claim: MemberClaim & { readonly generation: number }): number | undefined {
  return claimFault(group, claim) ?? (claim.generation === group.generation ? undefined : kafkaErrors.ILLEGAL_GENERATION)
}

/** SyncGroup: the leader's assigns, and all get their part (quirk 47: the others wait for it). */
export function sync(turn: GroupTurn, command: SyncCommand, asker: number): void {
  const { group } = turn
  const { memberId } = command
  const fault = generationFault(group, command) ?? protocolFault(group, command)
  if (fault !== undefined) {
    turn.refuseSync(asker, fault)
    return
  }
  const member = group.members.get(memberId)!
  switch (group.state) {
    case 'Empty': turn.refuseSync(asker, kafkaErrors.UNKNOWN_MEMBER_ID); break
    case 'PreparingRebalance': turn.refuseSync(asker, kafkaErrors.REBALANCE_IN_PROGRESS); break
    case 'CompletingRebalance': {
      hasSynced(group, memberId)
      if (member.syncAsker !== undefined) turn.refuseSync(member.syncAsker, kafkaErrors.REBALANCE_IN_PROGRESS)
      group.update(memberId, { syncAsker: asker })
      if (group.leader === memberId) assign(turn, command.assignments)
      break
    }
    case 'Stable': {
      hasSynced(group, memberId)
      turn.heard(memberId)
      turn.answer<'sync'>(asker, synced(group, member))
      break
    }
  }
}

function hasSynced(group: ClassicGroup, memberId: string): void {
  group.unsynced.delete(memberId)
  if (group.unsynced.size === 0) group.syncDeadlineMs = Infinity
}

function protocolFault(group: ClassicGroup, { protocolType, protocol }: SyncCommand): number | undefined {
  const differs = (said: string | null, is: string | null): boolean => said !== null && is !== null && said !== is
  return differs(protocolType, group.protocolType) || differs(protocol, group.protocol) ? kafkaErrors.INCONSISTENT_GROUP_PROTOCOL : undefined
}

/** The code that a Heartbeat is answered with (quirk 47). */
export function heartbeatCode(group: ClassicGroup, command: HeartbeatCommand): number {
  const fault = generationFault(group, command)
  if (fault !== undefined) return fault
  switch (group.state) {
    case 'Empty': return kafkaErrors.UNKNOWN_MEMBER_ID
    case 'PreparingRebalance': return kafkaErrors.REBALANCE_IN_PROGRESS
    default: return kafkaErrors.NONE
  }
}

/** LeaveGroup: each member by itself; by instance id alone where an operator removes it (quirk 49). */
export function leave(turn: GroupTurn, { members }: LeaveCommand, asker: number): void {
  const { group } = turn
  let left = 0
  let reason = ''
  const answers: GroupReplies['leave']['members'] = members.map((member) => {
    const errorCode = leaveOne(turn, member)
    if (errorCode === kafkaErrors.NONE) {
      left++
      reason = member.reason ?? reason
    }
    return { memberId: member.memberId, groupInstanceId: member.instanceId, errorCode }
  })
  turn.answer<'leave'>(asker, { errorCode: kafkaErrors.NONE, members: answers })
  if (left === 0) return
  if (group.isIn('Stable', 'CompletingRebalance')) rebalance(turn, `${left} members have left${reason === '' ? '' : `: ${reason}`}`)
  else completeIfAllJoined(turn)
}

function leaveOne(turn: GroupTurn, member: MemberClaim): number {
  const { group } = turn
  if (member.memberId === '') {
    const memberId = member.instanceId === null ? undefined : group.staticMembers.get(member.instanceId)
    if (memberId === undefined) return kafkaErrors.UNKNOWN_MEMBER_ID
    turn.removeMember(memberId)
    return kafkaErrors.NONE
  }
  if (group.pending.has(member.memberId)) {
    group.remove(member.memberId)
    return kafkaErrors.NONE
  }
  const fault = claimFault(group, member)
  if (fault !== undefined) return fault
  turn.removeMember(member.memberId)
  return kafkaErrors.NONE
}
