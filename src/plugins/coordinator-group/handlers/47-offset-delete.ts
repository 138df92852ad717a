import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type offsetDeleteApi, type OffsetDeleteRequest } from '../../../wire/messages/47-offset-delete.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { ask, hasPartition, isNamed, type HandlerParts } from '../handler-parts.ts'

type Response = ResponseDraftOf<typeof offsetDeleteApi>

/** OffsetDelete v0: forgets committed offsets of partitions that there are; of a group that lives, only those of topics that it does not read. */
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
    if (!isNamed(groupId)) {
      exchange.reply(this.failure(request, kafkaErrors.INVALID_GROUP_ID))
      return
    }
    const known = this.parts.metadata.image().topics
    const isThere = (name: string, partition: number): boolean => {
      const topic = known.get(name)
      return topic !== undefined && hasPartition(topic, partition)
    }
    const wanted = topics.map(({ name, partitions }) => ({ name, partitions: partitions.map(({ partitionIndex }) => partitionIndex).filter((partition) => isThere(name, partition)) }))
    ask(this.parts, exchange, { type: 'deleteOffsets', groupId, topics: wanted }, (errorCode, reply): Response => {
      if (reply === undefined) return this.failure(request, errorCode)
      if (reply.errorCode !== kafkaErrors.NONE) return reply
      return {
        ...reply,
        topics: reply.topics.map(({ name, partitions: answered }, index) => {
          // In the order of the request.
          const deleted = [...answered]
          return {
            name,
            partitions: topics[index]!.partitions.map(({ partitionIndex }) => isThere(name, partitionIndex) ? deleted.shift()! : { partitionIndex, errorCode: kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION }),
          }
        }),
      }
    })
  }

  failure(_request: unknown, errorCode: number): Response {
    return { errorCode, throttleTimeMs: 0, topics: [] }
  }
}
