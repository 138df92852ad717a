import { isMillraceError } from '../../../kernel/errors/index.ts'
import { apiKeys } from '../../../wire/api-keys.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'

/**
 * Codes that an API learned late and that its older clients would misread: a client takes a code that it does not know for
 * UNKNOWN_SERVER_ERROR and gives up, where these mean that it should look for the leader, or that another producer took over. Codes that
 * mean "give up" need no row: read as unknown, they have the same effect.
 */
const youngCodes: readonly (readonly [code: number, apiKey: number, since: number, before: number])[] = [
  [kafkaErrors.KAFKA_STORAGE_ERROR, apiKeys.Produce, 4, kafkaErrors.NOT_LEADER_OR_FOLLOWER],
  [kafkaErrors.KAFKA_STORAGE_ERROR, apiKeys.Fetch, 6, kafkaErrors.NOT_LEADER_OR_FOLLOWER],
  [kafkaErrors.PRODUCER_FENCED, apiKeys.InitProducerId, 4, kafkaErrors.INVALID_PRODUCER_EPOCH],
]

/** The code as a client of this version of the API understands it. */
export function codeForVersion(code: number, apiKey: number, apiVersion: number): number {
  if (code <= kafkaErrors.NOT_LEADER_OR_FOLLOWER) return code
  for (const [young, key, since, before] of youngCodes) {
    if (young === code && key === apiKey && apiVersion < since) return before
  }
  return code
}

/** The Kafka code of an error; UNKNOWN_SERVER_ERROR for one that is not of our table, which is a fault of ours and to be logged. */
export function codeOf(error: unknown, apiKey: number, apiVersion: number): number {
  if (!isMillraceError(error)) return kafkaErrors.UNKNOWN_SERVER_ERROR
  return codeForVersion(error.row.kafka, apiKey, apiVersion)
}
