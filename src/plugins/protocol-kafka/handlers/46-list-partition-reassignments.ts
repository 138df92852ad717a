import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type listPartitionReassignmentsApi, type ListPartitionReassignmentsRequest } from '../../../wire/messages/46-list-partition-reassignments.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'

type Response = ResponseDraftOf<typeof listPartitionReassignmentsApi>

/** ListPartitionReassignments v0. Partitions stay where they are, so that none is ever under way; one that is not, or is not known, is left out, as in Kafka. */
export class ListPartitionReassignmentsHandler implements ProtocolHandler {
  readonly apiKey = 46
  readonly minVersion = rangeOf(46).min
  readonly maxVersion = rangeOf(46).max

  handle(request: ListPartitionReassignmentsRequest, exchange: Exchange): void {
    exchange.reply(this.failure(request, kafkaErrors.NONE))
  }

  failure(_request: ListPartitionReassignmentsRequest, errorCode: number): Response {
    return { throttleTimeMs: 0, errorCode, errorMessage: null, topics: [] }
  }
}
