import { repeated } from '../../../base/repeated.ts'
import { isMillraceError } from '../../../kernel/errors/index.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { type Replica } from '../../../kernel/ports/replicator.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type deleteRecordsApi, type DeleteRecordsRequest } from '../../../wire/messages/21-delete-records.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { codeOf } from '../core/error-code.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { leaderOf } from '../partition-leader.ts'
import { type ServingTools } from '../serving-tools.ts'
import { type TopicEntry } from '../topic-lookup.ts'

type Response = ResponseDraftOf<typeof deleteRecordsApi>
type Answer = Response['topics'][number]['partitions'][number]

interface Asked {
  readonly topic: string
  readonly partitionIndex: number
  readonly offset: number
}

/** Everything below the high watermark. */
const toHighWatermark = -1
/** Each partition syncs a file or two: a turn of the event loop ends after so long, and the next goes on. */
const sliceMs = 5

/**
 * DeleteRecords v0-2: raises the starts of logs. A partition is answered when its new start is durable; records below it are served no more, and their segments
 * are freed later. As in Kafka, a topic that does not give records up by itself (`cleanup.policy` without `delete`) refuses with POLICY_VIOLATION, an internal one
 * with INVALID_TOPIC_EXCEPTION, and an offset above the high watermark is OFFSET_OUT_OF_RANGE. One below the start changes nothing.
 */
export class DeleteRecordsHandler implements ProtocolHandler {
  readonly apiKey = 21
  readonly minVersion = rangeOf(21).min
  readonly maxVersion = rangeOf(21).max
  private readonly tools: ServingTools
  private readonly logger: Logger

  constructor(tools: ServingTools, logger: Logger) {
    this.tools = tools
    this.logger = logger
  }

  handle(request: DeleteRecordsRequest, exchange: Exchange): void {
    const asked = request.topics.flatMap(({ name, partitions }) => partitions.map(({ partitionIndex, offset }): Asked => ({ topic: name, partitionIndex, offset })))
    const twice = repeated(asked.map(keyOf))
    const answers: Answer[] = []
    const slice = (): void => {
      const untilMs = this.tools.clock.monotonicMs() + sliceMs
      while (answers.length < asked.length) {
        const next = asked[answers.length]!
        answers.push(twice.has(keyOf(next)) ? none(next.partitionIndex, kafkaErrors.INVALID_REQUEST) : this.partition(next, exchange.apiVersion))
        if (this.tools.clock.monotonicMs() >= untilMs && answers.length < asked.length) return this.tools.timers.soon(slice)
      }
      let at = 0
      exchange.reply({ throttleTimeMs: 0, topics: request.topics.map(({ name, partitions }) => ({ name, partitions: partitions.map(() => answers[at++]!) })) } satisfies Response)
    }
    slice()
  }

  failure(request: DeleteRecordsRequest, errorCode: number): Response {
    return { throttleTimeMs: 0, topics: request.topics.map(({ name, partitions }) => ({ name, partitions: partitions.map(({ partitionIndex }) => none(partitionIndex, errorCode)) })) }
  }

  private partition({ topic: name, partitionIndex, offset }: Asked, apiVersion: number): Answer {
    const topic = this.tools.topics.byName(name)
    const replica = leaderOf(topic, partitionIndex, -1)
    if (typeof replica === 'number') return none(partitionIndex, replica)
    const refusal = whyNot(topic!, replica, offset)
    if (refusal !== undefined) return none(partitionIndex, refusal)
    try {
      replica.log.deleteTo(offset === toHighWatermark ? replica.highWatermark : offset)
      return { partitionIndex, lowWatermark: replica.log.startOffset, errorCode: kafkaErrors.NONE }
    } catch (error) {
      if (!isMillraceError(error)) this.logger.error('records could not be deleted', { topic: name, partition: partitionIndex, error })
      return none(partitionIndex, codeOf(error, this.apiKey, apiVersion))
    }
  }
}

function whyNot(topic: TopicEntry, replica: Replica, offset: number): number | undefined {
  if (topic.image.internal) return kafkaErrors.INVALID_TOPIC_EXCEPTION
  if (!replica.settings.delete) return kafkaErrors.POLICY_VIOLATION
  if (offset < toHighWatermark || offset > replica.highWatermark) return kafkaErrors.OFFSET_OUT_OF_RANGE
  return undefined
}

const keyOf = ({ topic, partitionIndex }: Asked): string => `${topic}-${partitionIndex}`
const none = (partitionIndex: number, errorCode: number): Answer => ({ partitionIndex, lowWatermark: -1, errorCode })
