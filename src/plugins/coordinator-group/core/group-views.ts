import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { metadataOf, noBytes, type ClassicGroup } from './classic-group.ts'
import { ConsumerGroup } from './consumer/consumer-group.ts'
import { listedConsumer } from './consumer/consumer-views.ts'
import { type GroupReplies } from './group-commands.ts'

/** DescribeGroups. What members gave and got is told of a stable group alone (quirk 53). */
export function described(group: ClassicGroup): GroupReplies['describe'] {
  const isStable = group.state === 'Stable'
  return {
    errorCode: kafkaErrors.NONE,
    groupId: group.groupId,
    groupState: group.state,
    protocolType: group.protocolType ?? '',
    protocolData: isStable ? group.protocol ?? '' : '',
    members: Array.from(group.members.values(), (member) => ({
      memberId: member.memberId,
      groupInstanceId: member.instanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      memberMetadata: isStable ? metadataOf(member, group.protocol) : noBytes,
      memberAssignment: isStable ? member.assignment : noBytes,
    })),
  }
}

/** A group that is not there is described as a dead one; v6 says GROUP_ID_NOT_FOUND besides (quirk 53). */
export function describedDead(groupId: string, errorCode: number, errorMessage: string | null): GroupReplies['describe'] {
  return { errorCode, errorMessage, groupId, groupState: 'Dead', protocolType: '', protocolData: '', members: [] }
}

/** ListGroups. Empty filters take all; letters may be of either case (quirk 53). */
export function listed(groups: Iterable<ClassicGroup | ConsumerGroup>, states: readonly string[], types: readonly string[]): GroupReplies['list'] {
  const [wantedStates, wantedTypes] = [states, types].map((names) => new Set(names.map((name) => name.toLowerCase())))
  const isWanted = (wanted: ReadonlySet<string>, name: string): boolean => wanted.size === 0 || wanted.has(name.toLowerCase())
  return Array.from(groups, (group) => group instanceof ConsumerGroup ? listedConsumer(group)
    : { groupId: group.groupId, protocolType: group.protocolType ?? '', groupState: group.state, groupType: 'classic' })
    .filter(({ groupState, groupType }) => isWanted(wantedStates!, groupState!) && isWanted(wantedTypes!, groupType!))
}
