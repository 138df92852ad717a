import { isTopicName } from '../../../kernel/model/topic-name.ts'
import { type ActiveProducer } from '../../../kernel/ports/partition-log.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type describeProducersApi, type DescribeProducersRequest } from '../../../wire/messages/61-describe-producers.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { leaderOf } from '../partition-leader.ts'
import { type ServingTools } from '../serving-tools.ts'

type Response = ResponseDraftOf<typeof describeProducersApi>
type Answer = Response['topics'][number]['partitions'][number]
type Producer = Answer['activeProducers'][number]

/** So many producers are in one answer, or those of one partition: who asks for a partition a thousand times gets no answer of a thousand times its producers. */
const producersMax = 20_000

/**
 * DescribeProducers v0: the producers that the logs of partitions know, idempotent ones too: those whose next batch is checked, until `producer.id.expiration.ms` has passed
 * without one. Only the leader answers. With more than 20,000 producers, the partitions that come last are refused with POLICY_VIOLATION, and can be asked for alone.
 */
export class DescribeProducersHandler implements ProtocolHandler {
  readonly apiKey = 61
  readonly minVersion = rangeOf(61).min
  readonly maxVersion = rangeOf(61).max
  private readonly tools: ServingTools

  constructor(tools: ServingTools) {
    this.tools = tools
  }

  handle(request: DescribeProducersRequest, exchange: Exchange): void {
    const room = new Room()
    const topics = request.topics.map(({ name, partitionIndexes }) => ({ name, partitions: partitionIndexes.map((index) => this.partition(name, index, room)) }))
    exchange.reply({ throttleTimeMs: 0, topics } satisfies Response)
  }

  failure({ topics }: DescribeProducersRequest, errorCode: number): Response {
    return { throttleTimeMs: 0, topics: topics.map(({ name, partitionIndexes }) => ({ name, partitions: partitionIndexes.map((index) => refuse(index, errorCode, null)) })) }
  }

  private partition(name: string, index: number, room: Room): Answer {
    if (!isTopicName(name)) return refuse(index, kafkaErrors.INVALID_TOPIC_EXCEPTION, 'no topic can have this name')
    const replica = leaderOf(this.tools.topics.byName(name), index, -1)
    if (typeof replica === 'number') return refuse(index, replica, null)
    if (replica.failure !== undefined) return refuse(index, kafkaErrors.KAFKA_STORAGE_ERROR, null)
    const { producers } = replica.log
    if (producers === undefined) return refuse(index, kafkaErrors.UNSUPPORTED_VERSION, 'the log store of this broker does not tell its producers')
    const activeProducers = room.take(producers)
    if (activeProducers === undefined) return refuse(index, kafkaErrors.POLICY_VIOLATION, `this answer has no room for more than ${producersMax} producers; ask for the partition alone`)
    return { partitionIndex: index, errorCode: kafkaErrors.NONE, errorMessage: null, activeProducers }
  }
}

/** What an answer can still take. When something had no room nothing more is looked at: a request names as many partitions as it likes. */
class Room {
  private told = 0
  private isFull = false

  take(producers: Iterable<ActiveProducer>): Producer[] | undefined {
    const taken: Producer[] = []
    for (const { producerId, epoch, lastSequence, lastTimestamp, coordinatorEpoch, transactionStart } of producers) {
      if (this.isFull || (this.told > 0 && this.told + taken.length >= producersMax)) {
        this.isFull = true
        return undefined
      }
      taken.push({ producerId, producerEpoch: epoch, lastSequence, lastTimestamp, coordinatorEpoch, currentTxnStartOffset: transactionStart })
    }
    this.told += taken.length
    return taken
  }
}

const refuse = (partitionIndex: number, errorCode: number, errorMessage: string | null): Answer => ({ partitionIndex, errorCode, errorMessage, activeProducers: [] })
