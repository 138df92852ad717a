import { repeated } from '../../../base/repeated.ts'
import { type Uuid, zeroUuid } from '../../../kernel/model/ids.ts'
import { type BrokerSettings } from '../../../kernel/ports/broker-settings.ts'
import { type Controller } from '../../../kernel/ports/controller.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type deleteTopicsApi, type DeleteTopicsRequest } from '../../../wire/messages/20-delete-topics.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type ServingTools } from '../serving-tools.ts'
import { tellError } from '../tell-error.ts'
import { withDeadline } from '../with-deadline.ts'

type Response = ResponseDraftOf<typeof deleteTopicsApi>
type Answer = Response['responses'][number]

interface Named {
  readonly name: string | undefined
  readonly id: Uuid
}

/** DeleteTopics v1-6: by name, from v6 on also by id. One result for each topic asked for, in their order. */
export class DeleteTopicsHandler implements ProtocolHandler {
  readonly apiKey = 20
  readonly minVersion = rangeOf(20).min
  readonly maxVersion = rangeOf(20).max
  private readonly controller: Controller
  private readonly settings: BrokerSettings
  private readonly tools: ServingTools
  private readonly logger: Logger

  constructor(controller: Controller, settings: BrokerSettings, tools: ServingTools, logger: Logger) {
    this.controller = controller
    this.settings = settings
    this.tools = tools
    this.logger = logger
  }

  handle(request: DeleteTopicsRequest, exchange: Exchange): void {
    const topics = asked(request, exchange.apiVersion)
    if (!this.settings.flag('delete.topic.enable')) {
      exchange.reply(this.failure(request, exchange.apiVersion < 3 ? kafkaErrors.INVALID_REQUEST : kafkaErrors.TOPIC_DELETION_DISABLED, exchange))
      return
    }
    const twice = repeated(topics.map(keyOf))
    const answers = topics.map((topic) => checkOne(topic, twice))
    const wanted = topics.filter((_, index) => answers[index] === undefined)
    if (wanted.length === 0) {
      exchange.reply({ responses: answers as Answer[] } satisfies Response)
      return
    }
    withDeadline(this.tools.deadlines, request.timeoutMs, this.controller.deleteTopics(wanted), (error, deleted) => {
      const results = wanted.map((topic, index) => deleted?.[index] ?? { ...topic, error })
      const responses = answers.map((answer) => answer ?? this.answer(results.shift()!, exchange))
      exchange.reply({ responses } satisfies Response)
    })
  }

  failure(request: DeleteTopicsRequest, errorCode: number, exchange: Exchange): Response {
    return { responses: asked(request, exchange.apiVersion).map((topic) => refuse(topic, errorCode, null)) }
  }

  private answer(result: Named & { readonly error: unknown }, exchange: Exchange): Answer {
    const { error } = result
    if (error === undefined) return refuse(result, kafkaErrors.NONE, null)
    const { code, message } = tellError(error, exchange, this.tools.metrics, () => { this.logger.error('a topic could not be deleted', { topic: result.name, topicId: result.id, error }) })
    return refuse(result, code, message)
  }
}

function asked(request: DeleteTopicsRequest, apiVersion: number): Named[] {
  if (apiVersion < 6) return request.topicNames.map((name) => ({ name, id: zeroUuid }))
  return request.topics.map(({ name, topicId }) => ({ name: name ?? undefined, id: topicId }))
}

const keyOf = ({ name, id }: Named): string => name ?? id

/** Why a topic can not even be looked for. */
function checkOne(topic: Named, twice: ReadonlySet<string>): Answer | undefined {
  if (topic.name !== undefined && topic.id !== zeroUuid) return refuse(topic, kafkaErrors.INVALID_REQUEST, 'a topic is named by its name or by its id, not by both')
  if (topic.name === undefined && topic.id === zeroUuid) return refuse(topic, kafkaErrors.INVALID_REQUEST, 'a topic without name and id')
  return twice.has(keyOf(topic)) ? refuse(topic, kafkaErrors.INVALID_REQUEST, 'the topic is there twice') : undefined
}

function refuse({ name, id }: Named, errorCode: number, errorMessage: string | null): Answer {
  return { name: name ?? null, topicId: id, errorCode, errorMessage }
}
