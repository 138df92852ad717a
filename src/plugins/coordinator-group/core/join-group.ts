import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { noBytes } from './classic-group.ts'
import { type JoinCommand } from './group-commands.ts'
import { type GroupTurn } from './group-turn.ts'
import { groupRecord } from './group-writer.ts'
import { claimFault } from './member-commands.ts'
import { acceptsProtocols, electProtocol, sameProtocols } from './protocol-vote.ts'
import { completeIfAllJoined, joined, membersOf, prepare, rebalance } from './rebalance.ts'

/** A new member that waits for a rebalance so long is taken to have given up: nobody could tell otherwise (KAFKA-7610). */
const newMemberTimeoutMs = 5 * 60 * 1000

/** Ids of a group that were given and not used yet. Who comes with one that is forgotten is UNKNOWN_MEMBER_ID, and asks for another by itself. */
export const pendingIdsMost = 10_000

/** JoinGroup. The answer comes with the generation, unless it is refused. */
export function join(turn: GroupTurn, command: JoinCommand, asker: number): void {
  const { group } = turn
  const { memberId, instanceId } = command
  const isUnknown = memberId === ''
  if (!hasRoom(turn, memberId)) {
    group.remove(memberId)
    turn.refuseJoin(asker, '', kafkaErrors.GROUP_MAX_SIZE_REACHED)
    completeIfAllJoined(turn)
  } else if (!acceptsProtocols(group, command.protocolType, command.protocols)) {
    turn.refuseJoin(asker, memberId, kafkaErrors.INCONSISTENT_GROUP_PROTOCOL)
  } else if (isUnknown && instanceId !== null) {
    joinStatic(turn, command, asker)
  } else if (isUnknown && command.idFirst) {
    // Quirk 44: the id is taken up when it comes back, and forgotten when it does not within its session.
    group.pending.give(command.freshMemberId, turn.now.judgedMs + command.sessionTimeoutMs, pendingIdsMost)
    turn.refuseJoin(asker, command.freshMemberId, kafkaErrors.MEMBER_ID_REQUIRED)
  } else if (isUnknown) {
    addMember(turn, command, command.freshMemberId, asker)
  } else if (group.pending.has(memberId)) {
    if (instanceId === null) addMember(turn, command, memberId, asker)
    else turn.refuseJoin(asker, memberId, kafkaErrors.UNKNOWN_MEMBER_ID)
  } else {
    joinAgain(turn, command, asker)
  }
}

/** While members join again those are counted who have: the last to come are left out where the limit has become smaller. */
function hasRoom({ group, rules }: GroupTurn, memberId: string): boolean {
  const member = group.members.get(memberId)
  switch (group.state) {
    case 'Empty': return true
    case 'PreparingRebalance': return member?.joinAsker !== undefined || group.joining < rules.groupSizeMax
    default: return member !== undefined || group.members.size < rules.groupSizeMax
  }
}

function addMember(turn: GroupTurn, command: JoinCommand, memberId: string, asker: number): void {
  const { group, now } = turn
  if (group.state === 'PreparingRebalance' && group.joinDeadline?.initial !== undefined) group.memberCame = true
  if (group.members.size === 0) group.protocolType = command.protocolType
  group.add({
    memberId,
    instanceId: command.instanceId,
    clientId: command.clientId,
    clientHost: command.clientHost,
    rebalanceTimeoutMs: command.rebalanceTimeoutMs,
    sessionTimeoutMs: command.sessionTimeoutMs,
    protocols: command.protocols,
    assignment: noBytes,
    deadlineMs: now.judgedMs + newMemberTimeoutMs,
    joinAsker: asker,
    syncAsker: undefined,
    isNew: true,
  })
  rebalance(turn, `member ${memberId} has joined${said(command)}`)
}

/** A member that is known joins again. */
function joinAgain(turn: GroupTurn, command: JoinCommand, asker: number): void {
  const { group } = turn
  const { memberId } = command
  const fault = claimFault(group, command)
  if (fault !== undefined) {
    turn.refuseJoin(asker, memberId, fault)
    return
  }
  const member = group.members.get(memberId)!
  const isSame = sameProtocols(member, command.protocols)
  // It may not have received the answer; and a follower without news gets the generation that there is. A leader that joins wants another one: it may have
  // seen what the group does not know, such as more partitions.
  const isToldAgain = isSame && (group.state === 'CompletingRebalance' || (group.state === 'Stable' && group.leader !== memberId))
  if (group.state === 'Empty') turn.refuseJoin(asker, memberId, kafkaErrors.UNKNOWN_MEMBER_ID)
  else if (isToldAgain) turn.answer<'join'>(asker, joined(group, memberId))
  else {
    takeJoin(turn, command, memberId, asker)
    rebalance(turn, `member ${memberId} joins again${isSame ? '' : ', with another subscription'}${said(command)}`)
  }
}

/** What the member says now holds. An earlier JoinGroup of it that waits is answered like the new one would be by a coordinator that does not know it. */
function takeJoin(turn: GroupTurn, command: JoinCommand, memberId: string, asker: number): void {
  const { group } = turn
  const member = group.members.get(memberId)!
  if (member.joinAsker !== undefined) turn.refuseJoin(member.joinAsker, memberId, kafkaErrors.REBALANCE_IN_PROGRESS)
  group.update(memberId, {
    protocols: command.protocols, rebalanceTimeoutMs: command.rebalanceTimeoutMs, sessionTimeoutMs: command.sessionTimeoutMs, joinAsker: asker,
    clientId: command.clientId, clientHost: command.clientHost,
  })
}

/** Quirk 49: a static member that has forgotten its id takes the place of its former self, which is fenced. */
function joinStatic(turn: GroupTurn, command: JoinCommand, asker: number): void {
  const { group, now } = turn
  const { freshMemberId: memberId } = command
  const oldId = group.staticMembers.get(command.instanceId!)
  if (oldId === undefined) {
    addMember(turn, command, memberId, asker)
    return
  }
  const oldLeader = group.leader
  const old = group.members.get(oldId)!
  turn.fail(old, kafkaErrors.FENCED_INSTANCE_ID)
  group.replaceStatic(oldId, memberId, now.judgedMs + command.sessionTimeoutMs)
  takeJoin(turn, command, memberId, asker)
  switch (group.state) {
    case 'Stable': {
      if (electProtocol(group) !== group.protocol) prepare(turn, `static member ${memberId} has joined with other protocols${said(command)}`)
      else keepAssignment(turn, memberId, asker, command.maySkip, oldLeader)
      break
    }
    // The leader may assign under the id that is no more.
    case 'CompletingRebalance': prepare(turn, `static member ${memberId} has joined again${said(command)}`); break
    default: completeIfAllJoined(turn)
  }
}

/**
 * The static member goes on with what its former self was assigned. As leader it is told to assign nothing, where it can be told (v9); in older versions
 * the former self is named as the leader, so that it takes itself for a follower.
 */
function keepAssignment(turn: GroupTurn, memberId: string, asker: number, maySkip: boolean, oldLeader: string | null): void {
  const { group } = turn
  const isLeader = group.leader === memberId
  turn.records.push(groupRecord(group))
  group.update(memberId, { joinAsker: undefined })
  const answer = { ...joined(group, memberId), members: [] }
  if (maySkip) turn.answer<'join'>(asker, { ...answer, members: isLeader ? membersOf(group) : [], skipAssignment: isLeader })
  else turn.answer<'join'>(asker, { ...answer, leader: oldLeader ?? '' })
}

const said = ({ reason }: JoinCommand): string => reason === null || reason === '' ? '' : `: ${reason}`
