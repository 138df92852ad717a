import { isMillraceError, MillraceError, type ErrorCode, type ErrorDetails } from '../kernel/errors/index.ts'
import { topicNameFault } from '../kernel/model/topic-name.ts'
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

/**
 * The error that stands for a code of the protocol. Where our own table has a code for the same thing, it is that one. A broker's words that name
 * the topic themselves are not put behind its name a second time.
 */
export function brokerError(kafkaCode: number, subject: ErrorSubject): MillraceError {
  const { what, topic, partition } = subject
  const message = subject.message ?? undefined
  const error = kafkaErrorName(kafkaCode)
  const details: ErrorDetails = { what, topic, partition, kafkaCode, error, message: message === undefined ? '' : ` (${message})` }
  const isWhole = message !== undefined && topic !== undefined && names(message, topic)
  const refused = (code: ErrorCode): MillraceError => new MillraceError(code, details, undefined, isWhole ? `${message} (the broker answered ${error})` : undefined)
  const aboutTopic = (code: ErrorCode, reason: string): MillraceError => new MillraceError(code, { ...details, reason: message ?? reason }, undefined, isWhole ? message : undefined)
  switch (kafkaCode) {
    case kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION:
      return new MillraceError('MR_TOPIC_UNKNOWN', details)
    case kafkaErrors.UNKNOWN_TOPIC_ID:
      return new MillraceError('MR_TOPIC_UNKNOWN', details)
    case kafkaErrors.TOPIC_ALREADY_EXISTS:
      return new MillraceError('MR_TOPIC_EXISTS', details)
    case kafkaErrors.INVALID_TOPIC_EXCEPTION:
      return aboutTopic('MR_TOPIC_NAME_INVALID', topicNameFault(String(topic)) ?? 'the broker refused it')
    case kafkaErrors.INVALID_PARTITIONS:
      return aboutTopic('MR_TOPIC_PARTITIONS_INVALID', error)
    case kafkaErrors.INVALID_REPLICATION_FACTOR:
      return aboutTopic('MR_TOPIC_REPLICATION_INVALID', error)
    case kafkaErrors.INVALID_CONFIG:
      return message === undefined ? refused('MR_CLIENT_BROKER_REFUSED') : new MillraceError('MR_CONFIG_INVALID', { ...details, reason: message }, undefined, `${what}: ${message}`)
    case kafkaErrors.INVALID_REPLICA_ASSIGNMENT:
      return aboutTopic('MR_TOPIC_ASSIGNMENT_INVALID', error)
    default:
      if (notAuthorized.has(kafkaCode)) return refused('MR_CLIENT_NOT_AUTHORIZED')
      return refused(kafkaError(kafkaCode).retriable ? 'MR_CLIENT_BROKER_BUSY' : 'MR_CLIENT_BROKER_REFUSED')
  }
}

/** Whether a text has the name in it as a word of its own. */
function names(text: string, name: string): boolean {
  const escaped = name.replaceAll(/[^\w\s]/g, '\\$&')
  return new RegExp(`(?<![\\w.-])${escaped}(-\\d+)?(?![\\w-]|\\.\\w)`).test(text)
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
