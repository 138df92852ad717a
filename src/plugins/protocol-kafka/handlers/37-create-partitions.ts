import { repeated } from '../../../base/repeated.ts'
import { type Controller, type ExtendedTopic, type MorePartitions } from '../../../kernel/ports/controller.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type createPartitionsApi, type CreatePartitionsRequest } from '../../../wire/messages/37-create-partitions.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type ServingTools } from '../serving-tools.ts'
import { tellError } from '../tell-error.ts'
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
    else withDeadline(this.tools.deadlines, request.timeoutMs, this.tools.followMade(() => this.controller.createPartitions(wanted, request.validateOnly), request.validateOnly, done), answer)
  }

  failure(request: CreatePartitionsRequest, errorCode: number): Response {
    return { throttleTimeMs: 0, results: request.topics.map(({ name }) => refuse(name, errorCode, null)) }
  }

  /** `failure`: why nothing more is waited for, where the topic is not done. */
  private answer(name: string, topic: ExtendedTopic | undefined, failure: unknown, exchange: Exchange): Answer {
    const error = topic === undefined ? failure : topic.error
    if (error === undefined) return { name, errorCode: kafkaErrors.NONE, errorMessage: null }
    const { code, message } = tellError(error, exchange, this.tools.metrics, () => { this.logger.error('partitions could not be added', { topic: name, error }) })
    return refuse(name, code, message)
  }
}

const toAdd = ({ name, count, assignments }: CreatePartitionsRequest['topics'][number]): MorePartitions =>
  ({ name, partitions: count, assignment: assignments?.map(({ brokerIds }) => brokerIds) })

const refuse = (name: string, errorCode: number, errorMessage: string | null): Answer => ({ name, errorCode, errorMessage })
