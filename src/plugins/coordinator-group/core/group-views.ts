import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { metadataOf, noBytes, type ClassicGroup } from './classic-group.ts'
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
export function listed(groups: Iterable<ClassicGroup>, states: readonly string[], types: readonly string[]): GroupReplies['list'] {
  const wanted = new Set(states.map((state) => state.toLowerCase()))
  if (types.length > 0 && !types.some((type) => type.toLowerCase() === 'classic')) return []
  return Array.from(groups).filter(({ state }) => wanted.size === 0 || wanted.has(state.toLowerCase())).map(({ groupId, protocolType, state }) => ({
    groupId, protocolType: protocolType ?? '', groupState: state, groupType: 'classic',
  }))
}
