import { kafkaErrors } from '../../../../wire/kafka-error-codes.ts'
import { type CommitCommand, type FetchCommand } from '../group-commands.ts'
import { identityFault } from './heartbeat.ts'
import { type ConsumerGroup } from './consumer-group.ts'

/** Why an offset commit is refused as a whole; undefined when it is not. A member of another epoch is not heard, whatever it says. */
export function commitFault(group: ConsumerGroup, command: CommitCommand): number | undefined {
  // An operator, or a consumer that reads partitions of its own choice.
  if (command.generation < 0 && group.members.size === 0) return undefined
  const fault = epochFault(group, command)
  if (fault !== undefined) return fault
  // Older versions have no code for the epoch.
  return group.members.get(command.memberId)!.about.classic === null && !command.knowsEpochs ? kafkaErrors.UNSUPPORTED_VERSION : undefined
}

/** Why an offset fetch of a member is refused; undefined for an operator, who is none. */
export const fetchFault = (group: ConsumerGroup, { memberId, epoch }: FetchCommand): number | undefined =>
  memberId === null && epoch < 0 ? undefined : epochFault(group, { memberId: memberId ?? '', instanceId: null, generation: epoch })

function epochFault(group: ConsumerGroup, { memberId, instanceId, generation }: Pick<CommitCommand, 'memberId' | 'instanceId' | 'generation'>): number | undefined {
  const fault = identityFault(group, memberId, instanceId)
  if (fault !== undefined) return fault.errorCode
  const { about, current } = group.members.get(memberId)!
  if (generation === current.epoch) return undefined
  return about.classic === null ? kafkaErrors.STALE_MEMBER_EPOCH : kafkaErrors.ILLEGAL_GENERATION
}
