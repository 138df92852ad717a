import { repeated } from '../../../base/repeated.ts'
import { type Controller, type CreatedTopic, type CreateTopic } from '../../../kernel/ports/controller.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type createTopicsApi, type CreateTopicsRequest } from '../../../wire/messages/19-create-topics.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { configSources } from '../core/config-codes.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type ServingTools } from '../serving-tools.ts'
import { tellError } from '../tell-error.ts'
import { withDeadline } from '../with-deadline.ts'

type Response = ResponseDraftOf<typeof createTopicsApi>
type Asked = CreateTopicsRequest['topics'][number]
type Answer = Response['topics'][number]

/**
 * CreateTopics v2-7: creates topics, or with validateOnly checks all and creates nothing (quirk 20). -1 takes the broker's defaults. v5 and
 * later answer with partitions, replication and all settings that the topic comes to; v7 with its id. A name that is there twice is refused,
 * as is an assignment beside counts.
 *
 * A topic is answered when its logs are made, as far as they can be; one of which some are not made within the timeout with REQUEST_TIMED_OUT, though
 * it is there and will be complete. One that is refused, or is complete in time, has its own answer all the same.
 */
export class CreateTopicsHandler implements ProtocolHandler {
  readonly apiKey = 19
  readonly minVersion = rangeOf(19).min
  readonly maxVersion = rangeOf(19).max
  private readonly controller: Controller
  private readonly tools: ServingTools
  private readonly logger: Logger

  constructor(controller: Controller, tools: ServingTools, logger: Logger) {
    this.controller = controller
    this.tools = tools
    this.logger = logger
  }

  handle(request: CreateTopicsRequest, exchange: Exchange): void {
    const answers = new Map<string, Answer>()
    const wanted: CreateTopic[] = []
    const twice = repeated(request.topics.map(({ name }) => name))
    for (const asked of request.topics) {
      const refusal = twice.has(asked.name) ? refuse(asked.name, kafkaErrors.INVALID_REQUEST, 'the topic is there twice') : checkShape(asked)
      // In the order of the request, one answer a name.
      answers.set(asked.name, refusal ?? unanswered(asked.name))
      if (refusal === undefined) wanted.push(toCreate(asked))
    }
    if (wanted.length === 0) {
      exchange.reply({ topics: [...answers.values()] } satisfies Response)
      return
    }
    const done = new Map<string, CreatedTopic>()
    const settings = settingsToWire()
    withDeadline(this.tools.deadlines, request.timeoutMs, this.tools.followMade(() => this.controller.createTopics(wanted, request.validateOnly), request.validateOnly, done), (error) => {
      for (const { name } of wanted) {
        const topic = done.get(name)
        answers.set(name, topic === undefined ? this.failed(name, error, exchange) : this.answer(topic, exchange, request.validateOnly, settings))
      }
      exchange.reply({ topics: [...answers.values()] } satisfies Response)
    })
  }

  failure(request: CreateTopicsRequest, errorCode: number): Response {
    return { topics: request.topics.map(({ name }) => refuse(name, errorCode, null)) }
  }

  private answer(topic: CreatedTopic, exchange: Exchange, validateOnly: boolean, settings: SettingsToWire): Answer {
    if (topic.error !== undefined) return this.failed(topic.name, topic.error, exchange)
    for (const warning of validateOnly ? [] : topic.warnings) this.logger.warn(`topic ${topic.name}: ${warning}`, { topic: topic.name })
    return {
      name: topic.name,
      topicId: topic.id,
      errorCode: kafkaErrors.NONE,
      errorMessage: null,
      numPartitions: topic.partitions,
      replicationFactor: topic.replicationFactor,
      configs: settings(topic.configs),
    }
  }

  private failed(name: string, error: unknown, exchange: Exchange): Answer {
    const { code, message } = tellError(error, exchange, this.tools.metrics, () => { this.logger.error('a topic could not be created', { topic: name, error }) })
    return refuse(name, code, message)
  }
}

type SettingsToWire = (configs: CreatedTopic['configs']) => Answer['configs']

/** Topics that have the same list of settings get the same answer for it. */
function settingsToWire(): SettingsToWire {
  const known = new Map<CreatedTopic['configs'], Answer['configs']>()
  return (configs) => {
    let answer = known.get(configs)
    if (answer === undefined) {
      answer = configs.map(({ name, value, source }) => ({ name, value, readOnly: false, configSource: configSources[source], isSensitive: false }))
      known.set(configs, answer)
    }
    return answer
  }
}

function refuse(name: string, errorCode: number, errorMessage: string | null): Answer {
  return { name, errorCode, errorMessage, configs: [] }
}

const unanswered = (name: string): Answer => refuse(name, kafkaErrors.UNKNOWN_SERVER_ERROR, null)

function checkShape({ name, assignments, numPartitions, replicationFactor }: Asked): Answer | undefined {
  if (assignments.length === 0) return undefined
  if (numPartitions !== -1 || replicationFactor !== -1) {
    return refuse(name, kafkaErrors.INVALID_REQUEST, 'an assignment excludes the numbers of partitions and replicas; leave both at -1')
  }
  const indexes = new Set(assignments.map(({ partitionIndex }) => partitionIndex))
  const dense = indexes.size === assignments.length && assignments.every(({ partitionIndex }) => partitionIndex >= 0 && partitionIndex < assignments.length)
  return dense ? undefined : refuse(name, kafkaErrors.INVALID_REPLICA_ASSIGNMENT, 'assigned partitions must be numbered from 0 without a gap')
}

function toCreate({ name, numPartitions, replicationFactor, assignments, configs }: Asked): CreateTopic {
  const assignment: (readonly number[])[] = []
  for (const { partitionIndex, brokerIds } of assignments) assignment[partitionIndex] = brokerIds
  return {
    name, partitions: numPartitions, replicationFactor, assignment: assignments.length === 0 ? undefined : assignment,
    configs: new Map(configs.map(({ name: key, value }) => [key, value])),
  }
}
