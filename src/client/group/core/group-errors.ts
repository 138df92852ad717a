import { MillraceError } from '../../../kernel/errors/index.ts'
import { kafkaErrorName, kafkaErrors, type KafkaErrorCode } from '../../../wire/index.ts'
import { brokerError } from '../../client-error.ts'

/** What to do about answers that say no for good. */
const remedies: Readonly<Partial<Record<KafkaErrorCode, string>>> = {
  [kafkaErrors.INCONSISTENT_GROUP_PROTOCOL]: 'its members have no assignor in common with assignors, or are no consumers; millrace group describe shows them',
  [kafkaErrors.INVALID_SESSION_TIMEOUT]: 'set sessionTimeoutMs between group.min.session.timeout.ms and group.max.session.timeout.ms of the broker',
  [kafkaErrors.GROUP_MAX_SIZE_REACHED]: 'it has as many members as group.max.size of the broker allows',
  [kafkaErrors.INVALID_GROUP_ID]: 'groupId must not be empty; where it is not, the broker has a group of another kind under that name',
  [kafkaErrors.FENCED_INSTANCE_ID]: 'another member has taken the same groupInstanceId; give each process one of its own',
  [kafkaErrors.UNRELEASED_INSTANCE_ID]: 'a member with the same groupInstanceId is in the group; close it first, or give each process one of its own',
  [kafkaErrors.UNSUPPORTED_ASSIGNOR]: 'set serverAssignor to one of group.consumer.assignors of the broker',
  [kafkaErrors.INVALID_REGULAR_EXPRESSION]: 'the broker reads the pattern as RE2, which knows no lookaround and no backreferences',
  [kafkaErrors.GROUP_ID_NOT_FOUND]: 'the broker has a group of another kind under that name, or one whose offsets alone are left; use another groupId or protocol',
  [kafkaErrors.UNSUPPORTED_VERSION]: 'the broker does not have this protocol for groups; set groupProtocol to classic',
}

/** Why a group does not take, or does not keep, a member. */
export function membershipError(kafkaCode: number, groupId: string, message: string | null = null): MillraceError {
  const error = brokerError(kafkaCode, { what: `being a member of group ${groupId}`, message })
  if (error.code === 'MR_CLIENT_NOT_AUTHORIZED' || error.row.retriable) return error
  const remedy = (remedies as Readonly<Record<number, string>>)[kafkaCode] ?? message ?? 'the log of the broker may say why'
  const details = { group: groupId, error: kafkaErrorName(kafkaCode), kafkaCode, remedy }
  const isFenced = kafkaCode === kafkaErrors.FENCED_INSTANCE_ID || kafkaCode === kafkaErrors.UNRELEASED_INSTANCE_ID
  return new MillraceError(isFenced ? 'MR_CLIENT_GROUP_FENCED' : 'MR_CLIENT_GROUP_REFUSED', details)
}

/** Whether another broker, or the same one later, will answer better. */
export function isCoordinatorMoved(kafkaCode: number): boolean {
  return kafkaCode === kafkaErrors.NOT_COORDINATOR || kafkaCode === kafkaErrors.COORDINATOR_NOT_AVAILABLE
}
