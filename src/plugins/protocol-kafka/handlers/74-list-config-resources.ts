import { type ClusterImage, type ClusterMetadata } from '../../../kernel/ports/cluster-metadata.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type listConfigResourcesApi, type ListConfigResourcesRequest } from '../../../wire/messages/74-list-config-resources.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { resourceTypes } from '../core/config-codes.ts'
import { endpointOn } from '../core/reachable-brokers.ts'
import { rangeOf } from '../core/version-ranges.ts'

type Response = ResponseDraftOf<typeof listConfigResourcesApi>

/** Those that Kafka knows, in the order in which it lists them. Of groups, client metrics and loggers none has settings here. */
const listed: readonly number[] = [resourceTypes.group, resourceTypes.clientMetrics, resourceTypes.brokerLogger, resourceTypes.broker, resourceTypes.topic]

/**
 * ListConfigResources v0-1: what has settings, by name: topics, and brokers that this listener can reach, fenced ones too. No types mean all. v0 asks
 * for client metrics alone.
 */
export class ListConfigResourcesHandler implements ProtocolHandler {
  readonly apiKey = 74
  readonly minVersion = rangeOf(74).min
  readonly maxVersion = rangeOf(74).max
  private readonly metadata: ClusterMetadata

  constructor(metadata: ClusterMetadata) {
    this.metadata = metadata
  }

  handle({ resourceTypes: asked }: ListConfigResourcesRequest, exchange: Exchange): void {
    const types = new Set(exchange.apiVersion === 0 ? [resourceTypes.clientMetrics] : asked.length === 0 ? listed : asked)
    if ([...types].some((type) => !listed.includes(type))) {
      exchange.reply(this.failure(undefined, kafkaErrors.UNSUPPORTED_VERSION))
      return
    }
    const image = this.metadata.image()
    const configResources = listed.filter((type) => types.has(type)).flatMap((type) =>
      Array.from(namesOf(type, image, exchange.listener), (resourceName) => ({ resourceName, resourceType: type })))
    exchange.reply({ throttleTimeMs: 0, errorCode: kafkaErrors.NONE, configResources } satisfies Response)
  }

  failure(_request: unknown, errorCode: number): Response {
    return { throttleTimeMs: 0, errorCode, configResources: [] }
  }
}

function namesOf(type: number, image: ClusterImage, listener: string): Iterable<string> {
  if (type === resourceTypes.topic) return image.topics.keys()
  if (type !== resourceTypes.broker) return []
  return [...image.brokers.values()].filter((broker) => endpointOn(broker, listener) !== undefined).map(({ nodeId }) => String(nodeId))
}
