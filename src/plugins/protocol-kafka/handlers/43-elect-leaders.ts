import { type ClusterImage, type ClusterMetadata, type PartitionImage, type TopicImage } from '../../../kernel/ports/cluster-metadata.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type electLeadersApi, type ElectLeadersRequest } from '../../../wire/messages/43-elect-leaders.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type TopicLookup } from '../topic-lookup.ts'

type Response = ResponseDraftOf<typeof electLeadersApi>
type Answer = Response['replicaElectionResults'][number]['partitionResult'][number]

const preferred = 0
const unclean = 1

/**
 * ElectLeaders v0-2. A partition has one replica, which leads it or serves nothing: so an election is not needed (ELECTION_NOT_NEEDED), or there is
 * nobody to elect. Null asks for all partitions, and answers only those whose election was needed.
 */
export class ElectLeadersHandler implements ProtocolHandler {
  readonly apiKey = 43
  readonly minVersion = rangeOf(43).min
  readonly maxVersion = rangeOf(43).max
  private readonly metadata: ClusterMetadata
  private readonly topics: TopicLookup

  constructor(metadata: ClusterMetadata, topics: TopicLookup) {
    this.metadata = metadata
    this.topics = topics
  }

  handle(request: ElectLeadersRequest, exchange: Exchange): void {
    const { electionType, topicPartitions } = request
    if (electionType !== preferred && electionType !== unclean) {
      exchange.reply(refuseAll(request, kafkaErrors.INVALID_REQUEST, `there is no election of type ${electionType}: 0 elects preferred leaders, 1 any replica`))
      return
    }
    const image = this.metadata.image()
    const results = topicPartitions === null
      ? Array.from(image.topics.values(), (topic) => ({ topic: topic.name, partitionResult: this.needed(image, topic, electionType) })).filter(({ partitionResult }) => partitionResult.length > 0)
      : topicPartitions.map(({ topic, partitions }) => ({ topic, partitionResult: partitions.map((partition) => this.elect(image, topic, partition, electionType)) }))
    exchange.reply({ throttleTimeMs: 0, errorCode: kafkaErrors.NONE, replicaElectionResults: results } satisfies Response)
  }

  failure(request: ElectLeadersRequest, errorCode: number): Response {
    return refuseAll(request, errorCode, null)
  }

  private needed(image: ClusterImage, topic: TopicImage, electionType: number): Answer[] {
    const needed = topic.partitions.filter((partition) => !this.isLed(image, topic, partition, electionType))
    return needed.map((partition) => this.elect(image, topic.name, partition.partition, electionType))
  }

  private elect(image: ClusterImage, name: string, partitionId: number, electionType: number): Answer {
    const answer = (errorCode: number, errorMessage: string): Answer => ({ partitionId, errorCode, errorMessage })
    const topic = image.topics.get(name)
    const partition = topic?.partitions[partitionId]
    if (topic === undefined) return answer(kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION, `topic ${name} does not exist`)
    if (partition === undefined) return answer(kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION, `topic ${name} has ${topic.partitions.length} partitions`)
    if (this.isLed(image, topic, partition, electionType)) return answer(kafkaErrors.ELECTION_NOT_NEEDED, `broker ${partition.leader} leads it`)
    const reason = `its replica on broker ${partition.replicas.join()} is not served; the log of that broker says why`
    return answer(electionType === unclean ? kafkaErrors.ELIGIBLE_LEADERS_NOT_AVAILABLE : kafkaErrors.PREFERRED_LEADER_NOT_AVAILABLE, reason)
  }

  /** By one who serves it, and whom this election would choose. */
  private isLed({ brokers }: ClusterImage, topic: TopicImage, partition: PartitionImage, electionType: number): boolean {
    const leader = brokers.get(partition.leader)
    if (leader === undefined || leader.fenced || this.topics.hindranceHere(topic, partition) === 'offline') return false
    return electionType === unclean || partition.leader === partition.replicas[0]
  }
}

function refuseAll({ topicPartitions }: ElectLeadersRequest, errorCode: number, errorMessage: string | null): Response {
  const refuse = (partitionId: number): Answer => ({ partitionId, errorCode, errorMessage })
  const results = (topicPartitions ?? []).map(({ topic, partitions }) => ({ topic, partitionResult: partitions.map(refuse) }))
  return { throttleTimeMs: 0, errorCode, replicaElectionResults: results }
}
