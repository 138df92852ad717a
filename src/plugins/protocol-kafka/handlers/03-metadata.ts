import { zeroUuid } from '../../../kernel/model/ids.ts'
import { isInternalTopic, isTopicName } from '../../../kernel/model/topic-name.ts'
import { type BrokerSettings } from '../../../kernel/ports/broker-settings.ts'
import { type ClusterImage, type ClusterMetadata, type PartitionImage, type TopicImage } from '../../../kernel/ports/cluster-metadata.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type metadataApi, type MetadataRequest } from '../../../wire/messages/03-metadata.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { clusterOperations, operationsNotAsked, topicOperations } from '../core/authorized-operations.ts'
import { type Hindered, partitionView } from '../core/partition-view.ts'
import { reachableBrokers } from '../core/reachable-brokers.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type TopicCreator } from '../topic-creator.ts'
import { type TopicLookup } from '../topic-lookup.ts'

export interface MetadataParts {
  readonly metadata: ClusterMetadata
  readonly settings: BrokerSettings
  readonly topics: TopicLookup
  readonly creator: TopicCreator
}

type Response = ResponseDraftOf<typeof metadataApi>
type Topic = Response['topics'][number]
type Partition = Topic['partitions'][number]

/**
 * Metadata v0-12: brokers, topics and leaders, all from one image of the cluster. Endpoints are those of the listener that was asked.
 *
 * v0 takes no topics for all, v1 and later null (quirk 13); v10 gives topic ids, v12 takes them (quirk 16). A topic that is unknown is
 * created where client and `auto.create.topics.enable` allow it (quirk 14); the answer waits for it and its logs, so that no half-made topic is
 * shown (quirk 15) and the first try succeeds. A replica that this broker holds and cannot serve is among the offline ones, and while it is the
 * leader, or has yet to be made, the partition has none: no client is sent to a broker that refuses it.
 * Leader epochs are real (quirk 17), the controller is a broker that lives (quirk 18). Authorized
 * operations are all there are, since there is no authorizer, and a special value when nobody asked (quirk 24).
 */
export class MetadataHandler implements ProtocolHandler {
  readonly apiKey = 3
  readonly minVersion = rangeOf(3).min
  readonly maxVersion = rangeOf(3).max
  private readonly parts: MetadataParts

  constructor(parts: MetadataParts) {
    this.parts = parts
  }

  handle(request: MetadataRequest, exchange: Exchange): void {
    const missing = this.missing(request, exchange)
    if (missing.length === 0) {
      exchange.reply(this.answer(request, exchange, new Map()))
      return
    }
    this.parts.creator.ensure(missing, (codes) => { exchange.reply(this.answer(request, exchange, codes)) })
  }

  failure(request: MetadataRequest, errorCode: number): Response {
    return {
      brokers: [],
      topics: (request.topics ?? []).map(({ name, topicId }) => ({ errorCode, name: name ?? '', topicId, partitions: [] })),
    }
  }

  /** Topics that are to be created. */
  private missing(request: MetadataRequest, exchange: Exchange): string[] {
    const { metadata, settings } = this.parts
    if (request.topics === null || (exchange.apiVersion >= 4 && !request.allowAutoTopicCreation)) return []
    const { topics } = metadata.image()
    const names = new Set(request.topics.map(({ name }) => name).filter((name) => name !== null)) as ReadonlySet<string>
    const missing = [...names].filter((name) => !topics.has(name) && isTopicName(name) && !isInternalTopic(name))
    return missing.length > 0 && settings.flag('auto.create.topics.enable') ? missing : []
  }

  /** `created`: codes of topics that could not be created. */
  answer(request: MetadataRequest, exchange: Exchange, created: ReadonlyMap<string, number>): Response {
    const image = this.parts.metadata.image()
    const all = request.topics === null || (exchange.apiVersion === 0 && request.topics.length === 0)
    const topics = all
      ? Array.from(image.topics.values(), (topic) => this.topic(image, topic, exchange))
      : distinct(request.topics!).map((asked) => this.asked(image, asked, exchange, created))
    return {
      brokers: reachableBrokers(image, exchange.listener),
      clusterId: image.clusterId,
      controllerId: image.controllerId,
      topics: request.includeTopicAuthorizedOperations ? topics.map((topic) => ({ ...topic, topicAuthorizedOperations: topicOperations })) : topics,
      clusterAuthorizedOperations: request.includeClusterAuthorizedOperations ? clusterOperations : operationsNotAsked,
    }
  }

  private asked(
    image: ClusterImage, { name, topicId }: AskedTopic, exchange: Exchange, created: ReadonlyMap<string, number>,
  ): Topic {
    if (topicId !== zeroUuid || name === null) {
      if (exchange.apiVersion < 12) return missingTopic(kafkaErrors.INVALID_REQUEST, name ?? '', topicId)
      const topic = image.topicsById.get(topicId)
      return topic === undefined ? missingTopic(kafkaErrors.UNKNOWN_TOPIC_ID, null, topicId) : this.topic(image, topic, exchange)
    }
    const topic = image.topics.get(name)
    if (topic !== undefined) return this.topic(image, topic, exchange)
    if (!isTopicName(name)) return missingTopic(kafkaErrors.INVALID_TOPIC_EXCEPTION, name, zeroUuid)
    return missingTopic(created.get(name) ?? kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION, name, zeroUuid)
  }

  private topic(image: ClusterImage, topic: TopicImage, exchange: Exchange): Topic {
    return {
      errorCode: kafkaErrors.NONE,
      name: topic.name,
      topicId: topic.id,
      isInternal: topic.internal,
      partitions: topic.partitions.map((partition) => this.partition(image, topic, partition, exchange)),
    }
  }

  private partition(image: ClusterImage, topic: TopicImage, partition: PartitionImage, exchange: Exchange): Partition {
    return partitionOf(image, partition, exchange, this.parts.topics.hindered(topic, partition))
  }
}

type AskedTopic = NonNullable<MetadataRequest['topics']>[number]

/** One answer a topic, however often it is there. */
function distinct(topics: readonly AskedTopic[]): AskedTopic[] {
  return [...new Map(topics.map((topic) => [topic.name ?? topic.topicId, topic])).values()]
}

function partitionOf(image: ClusterImage, partition: PartitionImage, exchange: Exchange, hindered: Hindered | undefined): Partition {
  const { missing, leaderId, offlineReplicas } = partitionView(image, partition, exchange.listener, hindered)
  let errorCode: number = kafkaErrors.NONE
  if (missing !== undefined) errorCode = missing === 'listener' && exchange.apiVersion >= 6 ? kafkaErrors.LISTENER_NOT_FOUND : kafkaErrors.LEADER_NOT_AVAILABLE
  return {
    errorCode, partitionIndex: partition.partition, leaderId, leaderEpoch: partition.leaderEpoch, replicaNodes: partition.replicas, isrNodes: partition.isr, offlineReplicas,
  }
}

function missingTopic(errorCode: number, name: string | null, topicId: string): Topic {
  return { errorCode, name, topicId, partitions: [] }
}
