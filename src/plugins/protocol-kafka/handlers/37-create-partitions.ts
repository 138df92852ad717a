import { repeated } from '../../../base/repeated.ts'
import { isMillraceError } from '../../../kernel/errors/index.ts'
import { type Controller, type ExtendedTopic, type MorePartitions } from '../../../kernel/ports/controller.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type createPartitionsApi, type CreatePartitionsRequest } from '../../../wire/messages/37-create-partitions.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { codeOf } from '../core/error-code.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type ServingTools } from '../serving-tools.ts'
import { withDeadline } from '../with-deadline.ts'

type Response = ResponseDraftOf<typeof createPartitionsApi>
type Answer = Response['results'][number]

/**
 * CreatePartitions v0-3: gives topics further partitions, or with validateOnly checks all and adds none. `count` is how many a topic has then. A
 * name that is there twice is refused, and answered once.
 *
 * A topic is answered when the logs of its partitions are made, as far as they can be; one of which some are not made within the timeout with
 * REQUEST_TIMED_OUT, though they are agreed on and will be made. Others have their own answer all the same.
 */
export class CreatePartitionsHandler implements ProtocolHandler {
  readonly apiKey = 37
  readonly minVersion = rangeOf(37).min
  readonly maxVersion = rangeOf(37).max
  private readonly controller: Controller
  private readonly tools: ServingTools
  private readonly logger: Logger

  constructor(controller: Controller, tools: ServingTools, logger: Logger) {
    this.controller = controller
    this.tools = tools
    this.logger = logger
  }

  handle(request: CreatePartitionsRequest, exchange: Exchange): void {
    const twice = repeated(request.topics.map(({ name }) => name))
    const wanted = request.topics.filter(({ name }) => !twice.has(name)).map(toAdd)
    const done = new Map<string, ExtendedTopic>()
    const answer = (error: unknown): void => {
      // In the order of the request, one answer a name.
      const results = Array.from(new Set(request.topics.map(({ name }) => name)), (name): Answer => {
        if (twice.has(name)) return refuse(name, kafkaErrors.INVALID_REQUEST, 'the topic is there twice')
        return this.answer(name, done.get(name), error, exchange)
      })
      exchange.reply({ throttleTimeMs: 0, results } satisfies Response)
    }
    if (wanted.length === 0) answer(undefined)
    else withDeadline(this.tools.deadlines, request.timeoutMs, this.extend(wanted, request.validateOnly, done), answer)
  }

  failure(request: CreatePartitionsRequest, errorCode: number): Response {
    return { throttleTimeMs: 0, results: request.topics.map(({ name }) => refuse(name, errorCode, null)) }
  }

  /** `done` gets each topic when there is nothing more to wait for. */
  private async extend(wanted: readonly MorePartitions[], validateOnly: boolean, done: Map<string, ExtendedTopic>): Promise<void> {
    const extended = await this.controller.createPartitions(wanted, validateOnly)
    await Promise.all(extended.map(async (topic) => {
      if (topic.error === undefined && !validateOnly) await this.tools.made(topic.id)
      done.set(topic.name, topic)
    }))
  }

  /** `failure`: why nothing more is waited for, where the topic is not done. */
  private answer(name: string, topic: ExtendedTopic | undefined, failure: unknown, exchange: Exchange): Answer {
    const error = topic === undefined ? failure : topic.error
    if (error === undefined) return { name, errorCode: kafkaErrors.NONE, errorMessage: null }
    const code = codeOf(error, this.apiKey, exchange.apiVersion)
    this.tools.metrics.error(this.apiKey, code)
    if (isMillraceError(error)) return refuse(name, code, error.message)
    this.logger.error('partitions could not be added', { topic: name, error })
    return refuse(name, code, 'the broker failed; its log says why')
  }
}

const toAdd = ({ name, count, assignments }: CreatePartitionsRequest['topics'][number]): MorePartitions =>
  ({ name, partitions: count, assignment: assignments?.map(({ brokerIds }) => brokerIds) })

const refuse = (name: string, errorCode: number, errorMessage: string | null): Answer => ({ name, errorCode, errorMessage })
