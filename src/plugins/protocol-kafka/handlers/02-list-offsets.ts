import { repeated } from '../../../base/repeated.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { type Replica } from '../../../kernel/ports/replicator.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type listOffsetsApi, type ListOffsetsRequest } from '../../../wire/messages/02-list-offsets.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { epochAt } from '../core/epoch-at.ts'
import { codeOf } from '../core/error-code.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { leaderOf } from '../partition-leader.ts'
import { type ServingTools } from '../serving-tools.ts'
import { type TopicEntry } from '../topic-lookup.ts'

type Response = ResponseDraftOf<typeof listOffsetsApi>
type Asked = ListOffsetsRequest['topics'][number]['partitions'][number]
type Answer = Response['topics'][number]['partitions'][number]

const latest = -1
const earliest = -2
const maxTimestamp = -3
const earliestLocal = -4
const latestTiered = -5

/** The version from which on a negative timestamp has its meaning. */
const since: ReadonlyMap<number, number> = new Map([[latest, 0], [earliest, 0], [maxTimestamp, 7], [earliestLocal, 8], [latestTiered, 9]])

/**
 * ListOffsets v1-9: the ends of logs, and offsets by time (quirk 42). The latest offset is the high watermark, or the last stable offset for
 * read_committed; nothing above it is found by time either. What is not found is offset -1 and timestamp -1, and no error. Epochs are
 * real ones (quirk 17). There are no tiered offsets.
 */
export class ListOffsetsHandler implements ProtocolHandler {
  readonly apiKey = 2
  readonly minVersion = rangeOf(2).min
  readonly maxVersion = rangeOf(2).max
  private readonly tools: ServingTools
  private readonly logger: Logger

  constructor(tools: ServingTools, logger: Logger) {
    this.tools = tools
    this.logger = logger
  }

  handle(request: ListOffsetsRequest, exchange: Exchange): void {
    exchange.reply({
      topics: merged(request.topics).map(({ name, partitions }) => {
        const topic = this.tools.topics.byName(name)
        // Asking a thousand times for one partition would be a cheap way to keep a broker busy.
        const twice = repeated(partitions.map(({ partitionIndex }) => partitionIndex))
        return {
          name,
          partitions: partitions.map((asked) => twice.has(asked.partitionIndex)
            ? none(asked.partitionIndex, kafkaErrors.INVALID_REQUEST)
            : this.partition(topic, asked, request.isolationLevel, exchange)),
        }
      }),
    } satisfies Response)
  }

  failure(request: ListOffsetsRequest, errorCode: number): Response {
    return {
      topics: request.topics.map(({ name, partitions }) => ({ name, partitions: partitions.map(({ partitionIndex }) => none(partitionIndex, errorCode)) })),
    }
  }

  private partition(topic: TopicEntry | undefined, asked: Asked, isolationLevel: number, exchange: Exchange): Answer {
    const { partitionIndex, timestamp, currentLeaderEpoch } = asked
    if (timestamp < 0 && !(exchange.apiVersion >= (since.get(timestamp) ?? Infinity))) return none(partitionIndex, kafkaErrors.UNSUPPORTED_VERSION)
    const replica = leaderOf(topic, partitionIndex, currentLeaderEpoch)
    if (typeof replica === 'number') return none(partitionIndex, replica)
    try {
      const found = find(replica, asked, isolationLevel === 1 ? replica.lastStableOffset : replica.highWatermark)
      // Versions below 4 have no field for the epoch, and the protocol does not let it be dropped silently.
      return exchange.apiVersion >= 4 ? found : { ...found, leaderEpoch: -1 }
    } catch (error) {
      const code = codeOf(error, this.apiKey, exchange.apiVersion)
      if (code === kafkaErrors.UNKNOWN_SERVER_ERROR) this.logger.error('an offset could not be looked up', { topic: topic?.image.name, partition: partitionIndex, error })
      return none(partitionIndex, code)
    }
  }
}

/** A topic that is there in several places, as one. */
function merged(topics: ListOffsetsRequest['topics']): ListOffsetsRequest['topics'] {
  if (repeated(topics.map(({ name }) => name)).size === 0) return topics
  const byName = new Map<string, Asked[]>()
  for (const { name, partitions } of topics) {
    const together = byName.get(name)
    if (together === undefined) byName.set(name, [...partitions])
    else for (const partition of partitions) together.push(partition)
  }
  return Array.from(byName, ([name, partitions]) => ({ name, partitions }))
}

function find(replica: Replica, { partitionIndex, timestamp }: Asked, end: number): Answer {
  const { log } = replica
  if (timestamp === latest) return at(partitionIndex, -1, end, replica.leaderEpoch)
  if (timestamp === earliest || timestamp === earliestLocal) return at(partitionIndex, -1, log.startOffset, epochAt(log, log.startOffset, replica.leaderEpoch))
  if (timestamp === latestTiered) return none(partitionIndex, kafkaErrors.NONE)
  const hit = log.locate(timestamp === maxTimestamp ? 'max' : timestamp, end)
  return hit === undefined ? none(partitionIndex, kafkaErrors.NONE) : at(partitionIndex, hit.timestamp, hit.offset, hit.leaderEpoch)
}

const none = (partitionIndex: number, errorCode: number): Answer => ({ partitionIndex, errorCode, timestamp: -1, offset: -1, leaderEpoch: -1 })
const at = (partitionIndex: number, timestamp: number, offset: number, leaderEpoch: number): Answer =>
  ({ partitionIndex, errorCode: kafkaErrors.NONE, timestamp, offset, leaderEpoch })
