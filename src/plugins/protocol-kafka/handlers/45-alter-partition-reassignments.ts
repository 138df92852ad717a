import { type ClusterImage, type ClusterMetadata } from '../../../kernel/ports/cluster-metadata.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type alterPartitionReassignmentsApi, type AlterPartitionReassignmentsRequest } from '../../../wire/messages/45-alter-partition-reassignments.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'

type Response = ResponseDraftOf<typeof alterPartitionReassignmentsApi>
type Answer = Response['responses'][number]['partitions'][number]
type Asked = AlterPartitionReassignmentsRequest['topics'][number]['partitions'][number]

interface Refusal {
  readonly code: number
  readonly reason: string
}

/**
 * AlterPartitionReassignments v0-1. A partition has one replica and stays where it is: to ask for the place that it has succeeds, and moves nothing; so there is
 * never a move under way that could be cancelled (null). Every other target is refused as Kafka refuses what cannot be carried out.
 */
export class AlterPartitionReassignmentsHandler implements ProtocolHandler {
  readonly apiKey = 45
  readonly minVersion = rangeOf(45).min
  readonly maxVersion = rangeOf(45).max
  private readonly metadata: ClusterMetadata

  constructor(metadata: ClusterMetadata) {
    this.metadata = metadata
  }

  handle(request: AlterPartitionReassignmentsRequest, exchange: Exchange): void {
    const image = this.metadata.image()
    const { allowReplicationFactorChange } = request
    exchange.reply(respond(request, kafkaErrors.NONE, (topic, asked) => {
      const refusal = whyNot(image, topic, asked, allowReplicationFactorChange)
      return { partitionIndex: asked.partitionIndex, errorCode: refusal?.code ?? kafkaErrors.NONE, errorMessage: refusal?.reason ?? null }
    }))
  }

  failure(request: AlterPartitionReassignmentsRequest, errorCode: number): Response {
    return respond(request, errorCode, (_topic, { partitionIndex }) => ({ partitionIndex, errorCode, errorMessage: null }))
  }
}

function respond({ topics, allowReplicationFactorChange }: AlterPartitionReassignmentsRequest, errorCode: number, answer: (topic: string, asked: Asked) => Answer): Response {
  return {
    throttleTimeMs: 0, allowReplicationFactorChange, errorCode, errorMessage: null,
    responses: topics.map(({ name, partitions }) => ({ name, partitions: partitions.map((asked) => answer(name, asked)) })),
  }
}

function whyNot({ topics, brokers }: ClusterImage, name: string, { partitionIndex, replicas }: Asked, mayChangeFactor: boolean): Refusal | undefined {
  const topic = topics.get(name)
  const partition = topic?.partitions[partitionIndex]
  if (topic === undefined) return { code: kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION, reason: `topic ${name} does not exist` }
  if (partition === undefined) return { code: kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION, reason: `topic ${name} has ${topic.partitions.length} partitions` }
  if (replicas === null) return { code: kafkaErrors.NO_REASSIGNMENT_IN_PROGRESS, reason: 'it is not being moved' }
  const invalid = (reason: string): Refusal => ({ code: kafkaErrors.INVALID_REPLICA_ASSIGNMENT, reason })
  if (replicas.length === 0) return invalid('the list of replicas is empty')
  if (new Set(replicas).size !== replicas.length) return invalid('a broker is named twice')
  const unknown = replicas.find((id) => !brokers.has(id))
  if (unknown !== undefined) return invalid(`broker ${unknown} is not registered`)
  if (!mayChangeFactor && replicas.length !== partition.replicas.length) {
    return { code: kafkaErrors.INVALID_REPLICATION_FACTOR, reason: `it has ${partition.replicas.length} replicas, and the request does not allow another number` }
  }
  const isInPlace = replicas.length === partition.replicas.length && replicas.every((id) => partition.replicas.includes(id))
  return isInPlace ? undefined : invalid(`this release moves no partitions between brokers; it stays on broker ${partition.replicas.join()}`)
}
