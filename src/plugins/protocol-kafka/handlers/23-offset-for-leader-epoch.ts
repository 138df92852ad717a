import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type offsetForLeaderEpochApi, type OffsetForLeaderEpochRequest } from '../../../wire/messages/23-offset-for-leader-epoch.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { leaderOf } from '../partition-leader.ts'
import { type ServingTools } from '../serving-tools.ts'
import { type TopicEntry } from '../topic-lookup.ts'

type Response = ResponseDraftOf<typeof offsetForLeaderEpochApi>
type Asked = OffsetForLeaderEpochRequest['topics'][number]['partitions'][number]
type Answer = Response['topics'][number]['partitions'][number]

/**
 * OffsetForLeaderEpoch v2-4: where the largest epoch up to the one asked for ends in the log, so that a consumer can find out whether what
 * it read is still there. An epoch that the log does not know is (-1, -1) and no error (quirk 43).
 */
export class OffsetForLeaderEpochHandler implements ProtocolHandler {
  readonly apiKey = 23
  readonly minVersion = rangeOf(23).min
  readonly maxVersion = rangeOf(23).max
  private readonly tools: ServingTools

  constructor(tools: ServingTools) {
    this.tools = tools
  }

  handle(request: OffsetForLeaderEpochRequest, exchange: Exchange): void {
    exchange.reply({
      topics: request.topics.map(({ topic, partitions }) => {
        const entry = this.tools.topics.byName(topic)
        return { topic, partitions: partitions.map((asked) => answer(entry, asked)) }
      }),
    } satisfies Response)
  }

  failure(request: OffsetForLeaderEpochRequest, errorCode: number): Response {
    return { topics: request.topics.map(({ topic, partitions }) => ({ topic, partitions: partitions.map(({ partition }) => unknown(partition, errorCode)) })) }
  }
}

function answer(topic: TopicEntry | undefined, { partition, currentLeaderEpoch, leaderEpoch }: Asked): Answer {
  const replica = leaderOf(topic, partition, currentLeaderEpoch)
  if (typeof replica === 'number') return unknown(partition, replica)
  // The leader's own epoch begins when it becomes leader, so it ends at the log end although no record may carry it yet.
  if (leaderEpoch === replica.leaderEpoch) return { errorCode: kafkaErrors.NONE, partition, leaderEpoch, endOffset: replica.log.endOffset }
  const end = replica.log.epochEnd(leaderEpoch)
  return { errorCode: kafkaErrors.NONE, partition, leaderEpoch: end.leaderEpoch, endOffset: end.endOffset }
}

const unknown = (partition: number, errorCode: number): Answer => ({ errorCode, partition, leaderEpoch: -1, endOffset: -1 })
