import { zeroUuid } from '../../../kernel/model/ids.ts'
import { isInternalTopic, isTopicName } from '../../../kernel/model/topic-name.ts'
import { type BrokerSettings } from '../../../kernel/ports/broker-settings.ts'
import { type ClusterImage, type ClusterMetadata, type PartitionImage, type TopicImage } from '../../../kernel/ports/cluster-metadata.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type describeTopicPartitionsApi, type DescribeTopicPartitionsRequest } from '../../../wire/messages/75-describe-topic-partitions.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { operationsNotAsked, topicOperations } from '../core/authorized-operations.ts'
import { partitionView } from '../core/partition-view.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type TopicLookup } from '../topic-lookup.ts'

type Response = ResponseDraftOf<typeof describeTopicPartitionsApi>
type Topic = Response['topics'][number]
type Partition = Topic['partitions'][number]

/**
 * DescribeTopicPartitions v0: topics by name, in the order of their names, and so many partitions of them as client and
 * `max.request.partition.size.limit` allow together, one at least; the cursor of the answer says where the next one begins (quirk 23). Without names it is all topics. What
 * the cursor names need not be there any more; among named topics it has to be one of them.
 *
 * A partition without a leader has -1 as its leader and no error, as in Kafka. Nothing is created.
 */
export class DescribeTopicPartitionsHandler implements ProtocolHandler {
  readonly apiKey = 75
  readonly minVersion = rangeOf(75).min
  readonly maxVersion = rangeOf(75).max
  private readonly metadata: ClusterMetadata
  private readonly limitMax: number
  private readonly topics: TopicLookup
  /** Pages follow one another, and mostly of one image. */
  private sorted: { readonly index: number, readonly names: readonly string[] } | undefined

  constructor(metadata: ClusterMetadata, settings: BrokerSettings, topics: TopicLookup) {
    this.metadata = metadata
    this.limitMax = settings.integer('max.request.partition.size.limit')
    this.topics = topics
  }

  handle(request: DescribeTopicPartitionsRequest, exchange: Exchange): void {
    const { topics, cursor } = request
    const image = this.metadata.image()
    const isAll = topics.length === 0
    const names = isAll ? this.allNames(image) : [...new Set(topics.map(({ name }) => name))].sort()
    if (cursor !== null && (cursor.partitionIndex < 0 || (!isAll && !names.includes(cursor.topicName)))) {
      exchange.reply(this.failure(request, kafkaErrors.INVALID_REQUEST))
      return
    }
    const page = new Page(Math.max(1, Math.min(this.limitMax, request.responsePartitionLimit)), (topic, partition) => this.partition(image, topic, partition, exchange.listener))
    for (let at = cursor === null ? 0 : firstNotBelow(names, cursor.topicName); at < names.length; at++) {
      const name = names[at]!
      if (!page.add(name, image.topics.get(name), name === cursor?.topicName ? cursor.partitionIndex : 0)) break
    }
    exchange.reply({ throttleTimeMs: 0, topics: page.topics, nextCursor: page.next } satisfies Response)
  }

  /** All topics cannot be refused but by name: then it is the one of the cursor. */
  failure({ topics, cursor }: DescribeTopicPartitionsRequest, errorCode: number): Response {
    const names = topics.length === 0 && cursor !== null ? [cursor.topicName] : topics.map(({ name }) => name)
    return {
      throttleTimeMs: 0, nextCursor: null,
      topics: names.map((name) => ({ errorCode, name, topicId: zeroUuid, partitions: [], topicAuthorizedOperations: operationsNotAsked })),
    }
  }

  private allNames({ index, topics }: ClusterImage): readonly string[] {
    if (this.sorted?.index !== index) this.sorted = { index, names: [...topics.keys()].sort() }
    return this.sorted.names
  }

  private partition(image: ClusterImage, topic: TopicImage, partition: PartitionImage, listener: string): Partition {
    const { leaderId, offlineReplicas } = partitionView(image, partition, listener, this.topics.hindered(topic, partition))
    return {
      errorCode: kafkaErrors.NONE, partitionIndex: partition.partition, leaderId, leaderEpoch: partition.leaderEpoch, replicaNodes: partition.replicas, isrNodes: partition.isr,
      eligibleLeaderReplicas: [], lastKnownElr: [], offlineReplicas,
    }
  }
}

/** One answer: topics are added until its partitions are used up. */
class Page {
  readonly topics: Topic[] = []
  next: Response['nextCursor'] = null
  private left: number
  private readonly partitionOf: (topic: TopicImage, partition: PartitionImage) => Partition

  constructor(left: number, partitionOf: (topic: TopicImage, partition: PartitionImage) => Partition) {
    this.left = left
    this.partitionOf = partitionOf
  }

  /** False where the page ends: here, or before. */
  add(name: string, topic: TopicImage | undefined, first: number): boolean {
    if (this.left === 0) {
      this.next = { topicName: name, partitionIndex: 0 }
      return false
    }
    if (topic === undefined) {
      this.topics.push(missingTopic(name))
      return true
    }
    const end = first + this.left
    const partitions = topic.partitions.slice(first, end).map((partition) => this.partitionOf(topic, partition))
    this.left -= partitions.length
    this.topics.push({ errorCode: kafkaErrors.NONE, name, topicId: topic.id, isInternal: topic.internal, partitions, topicAuthorizedOperations: topicOperations })
    if (end >= topic.partitions.length) return true
    this.next = { topicName: name, partitionIndex: end }
    return false
  }
}

function missingTopic(name: string): Topic {
  const errorCode = isTopicName(name) ? kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION : kafkaErrors.INVALID_TOPIC_EXCEPTION
  return { errorCode, name, topicId: zeroUuid, isInternal: isInternalTopic(name), partitions: [], topicAuthorizedOperations: topicOperations }
}

/** Of sorted names: where those begin that are not below this one. */
function firstNotBelow(names: readonly string[], name: string): number {
  let low = 0
  let high = names.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (names[middle]! < name) low = middle + 1
    else high = middle
  }
  return low
}
