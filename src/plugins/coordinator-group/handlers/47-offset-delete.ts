import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type offsetDeleteApi, type OffsetDeleteRequest } from '../../../wire/messages/47-offset-delete.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { ask, type HandlerParts } from '../handler-parts.ts'

type Response = ResponseDraftOf<typeof offsetDeleteApi>

/** OffsetDelete v0: forgets committed offsets; of a group that lives, only those of topics that it does not read. */
export class OffsetDeleteHandler implements ProtocolHandler {
  readonly apiKey = 47
  readonly minVersion = rangeOf(47).minVersion
  readonly maxVersion = rangeOf(47).maxVersion
  private readonly parts: HandlerParts

  constructor(parts: HandlerParts) {
    this.parts = parts
  }

  handle(request: OffsetDeleteRequest, exchange: Exchange): void {
    const { groupId, topics } = request
    const known = this.parts.metadata.image().topics
    const wanted = topics.filter(({ name }) => known.has(name)).map(({ name, partitions }) => ({ name, partitions: partitions.map(({ partitionIndex }) => partitionIndex) }))
    ask(this.parts, exchange, { type: 'deleteOffsets', groupId, topics: wanted }, (errorCode, reply): Response => {
      if (reply === undefined) return this.failure(request, errorCode)
      if (reply.errorCode !== kafkaErrors.NONE) return reply
      // In the order of the request.
      const deleted = [...reply.topics]
      return {
        ...reply,
        topics: topics.map(({ name, partitions }) => known.has(name) ? deleted.shift()!
          : { name, partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION })) }),
      }
    })
  }

  failure(_request: unknown, errorCode: number): Response {
    return { errorCode, throttleTimeMs: 0, topics: [] }
  }
}
