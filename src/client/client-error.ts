import { isMillraceError, MillraceError, type ErrorDetails } from '../kernel/errors/index.ts'
import { kafkaError, kafkaErrorName, kafkaErrors } from '../wire/index.ts'

const notAuthorized: ReadonlySet<number> = new Set([
  kafkaErrors.TOPIC_AUTHORIZATION_FAILED, kafkaErrors.GROUP_AUTHORIZATION_FAILED, kafkaErrors.CLUSTER_AUTHORIZATION_FAILED,
  kafkaErrors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, kafkaErrors.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
])

export interface ErrorSubject {
  /** What was asked for, e.g. `creating topic orders`. */
  readonly what: string
  readonly topic?: string
  readonly partition?: number
  /** What the broker said beside the code. */
  readonly message?: string | null
}

/** The error that stands for a code of the protocol. Where our own table has a code for the same thing, it is that one. */
export function brokerError(kafkaCode: number, subject: ErrorSubject): MillraceError {
  const { what, topic, partition } = subject
  const message = subject.message ?? undefined
  const details: ErrorDetails = {
    what, topic, partition, kafkaCode, error: kafkaErrorName(kafkaCode), message: message === undefined ? '' : ` (${message})`,
  }
  switch (kafkaCode) {
    case kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION:
      return new MillraceError('MR_TOPIC_UNKNOWN', details)
    case kafkaErrors.UNKNOWN_TOPIC_ID:
      return new MillraceError('MR_TOPIC_UNKNOWN', details)
    case kafkaErrors.TOPIC_ALREADY_EXISTS:
      return new MillraceError('MR_TOPIC_EXISTS', details)
    case kafkaErrors.INVALID_TOPIC_EXCEPTION:
      return new MillraceError('MR_TOPIC_NAME_INVALID', { ...details, reason: message ?? 'the broker refused it' })
    case kafkaErrors.INVALID_PARTITIONS:
      return new MillraceError('MR_TOPIC_PARTITIONS_INVALID', { ...details, reason: message ?? kafkaErrorName(kafkaCode) })
    case kafkaErrors.INVALID_REPLICATION_FACTOR:
      return new MillraceError('MR_TOPIC_REPLICATION_INVALID', { ...details, reason: message ?? kafkaErrorName(kafkaCode) })
    default:
      if (notAuthorized.has(kafkaCode)) return new MillraceError('MR_CLIENT_NOT_AUTHORIZED', details)
      return new MillraceError(kafkaError(kafkaCode).retriable ? 'MR_CLIENT_BROKER_BUSY' : 'MR_CLIENT_BROKER_REFUSED', details)
  }
}

/** Whether the same call may succeed later. What is no error of the table is a defect and is not tried again. */
export function isRetriable(error: unknown): boolean {
  return isMillraceError(error) && error.row.retriable
}

export function closedError(what: string): MillraceError {
  return new MillraceError('MR_CLIENT_CLOSED', { what })
}

/** What an aborted signal was given as its reason; an Error always. */
export function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason })
}
