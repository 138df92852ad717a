import { compactionStateConfig, compactionStateName } from '../../../kernel/config/compaction-state.ts'
import { damagedOffsetsConfig, missingOffsetsConfig } from '../../../kernel/config/damaged-offsets.ts'
import {
  brokerValuesOf, type ConfigDescription, describeBrokerConfigs, describeTopicConfigs,
} from '../../../kernel/config/describe-configs.ts'
import { type BrokerValue } from '../../../kernel/config/resolve-topic-settings.ts'
import { type StoreLimits } from '../../../kernel/config/store-limits.ts'
import { shortValueBytesMax } from '../../../kernel/config/told-list.ts'
import { isMillraceError, MillraceError, withoutStacks } from '../../../kernel/errors/index.ts'
import { checkTopicName } from '../../../kernel/model/topic-name.ts'
import { type BrokerSettings } from '../../../kernel/ports/broker-settings.ts'
import { type ClusterMetadata, type TopicImage } from '../../../kernel/ports/cluster-metadata.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type describeConfigsApi, type DescribeConfigsRequest } from '../../../wire/messages/32-describe-configs.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { configSources, configTypes, resourceTypes } from '../core/config-codes.ts'
import { codeOf } from '../core/error-code.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type TopicLookup } from '../topic-lookup.ts'

type Response = ResponseDraftOf<typeof describeConfigsApi>
type Asked = DescribeConfigsRequest['resources'][number]
type Answer = Response['results'][number]

/**
 * DescribeConfigs v1-4: every setting of topics and brokers, those at their default included, with source, synonyms and type (quirk 21). No
 * keys, or none at all, mean all. A broker answers for itself; the empty name means the defaults of all brokers, of which none are set,
 * since no setting of a broker can be changed while it runs. Of a topic with offsets that are damaged here there is one that says so, and one
 * of ends that are missing, and one that says where its compaction stands: see `damaged-offsets` and `compaction-state`.
 */
export class DescribeConfigsHandler implements ProtocolHandler {
  readonly apiKey = 32
  readonly minVersion = rangeOf(32).min
  readonly maxVersion = rangeOf(32).max
  private readonly metadata: ClusterMetadata
  private readonly nodeId: number
  private readonly broker: BrokerValue
  private readonly limits: StoreLimits
  private readonly topics: Pick<TopicLookup, 'damageOf' | 'missingOf' | 'compactionOf'>

  constructor(metadata: ClusterMetadata, settings: BrokerSettings, topics: Pick<TopicLookup, 'damageOf' | 'missingOf' | 'compactionOf'>) {
    this.metadata = metadata
    this.nodeId = settings.nodeId
    this.broker = brokerValuesOf(settings)
    this.limits = settings.storeLimits
    this.topics = topics
  }

  handle(request: DescribeConfigsRequest, exchange: Exchange): void {
    const results = withoutStacks(() => distinct(request.resources).map((resource) => this.describe(resource, request, exchange)))
    exchange.reply({ throttleTimeMs: 0, results } satisfies Response)
  }

  failure(request: DescribeConfigsRequest, errorCode: number): Response {
    return { throttleTimeMs: 0, results: request.resources.map((resource) => refuse(resource, errorCode, null)) }
  }

  private describe(resource: Asked, request: DescribeConfigsRequest, exchange: Exchange): Answer {
    const { resourceType, resourceName, configurationKeys } = resource
    const keys = configurationKeys === null || configurationKeys.length === 0 ? undefined : new Set(configurationKeys)
    let configs: readonly ConfigDescription[]
    try {
      configs = this.find(resourceType, resourceName, keys, exchange.apiVersion)
    } catch (error) {
      if (!isMillraceError(error)) throw error
      return refuse(resource, codeOf(error, this.apiKey, exchange.apiVersion), error.message)
    }
    return {
      errorCode: kafkaErrors.NONE, errorMessage: null, resourceType, resourceName,
      configs: configs.filter(({ name }) => keys?.has(name) ?? true).map((config) => toWire(config, request)),
    }
  }

  private find(resourceType: number, name: string, keys: ReadonlySet<string> | undefined, version: number): readonly ConfigDescription[] {
    if (resourceType === resourceTypes.topic) {
      checkTopicName(name)
      const topic = this.metadata.image().topics.get(name)
      if (topic === undefined) throw new MillraceError('MR_TOPIC_UNKNOWN', { topic: name })
      return [...describeTopicConfigs(topic.overrides, this.broker, this.limits), ...this.statesOf(topic, keys, version >= 4 ? Infinity : shortValueBytesMax)]
    }
    if (resourceType !== resourceTypes.broker) throw new MillraceError('MR_CONFIG_RESOURCE', { reason: `resources of type ${resourceType} have no settings here` })
    if (name === '') return []
    if (name !== String(this.nodeId)) throw new MillraceError('MR_CONFIG_RESOURCE', { reason: `this is broker ${this.nodeId}, not ${name}` })
    return describeBrokerConfigs(this.broker, this.limits)
  }

  /** What is no setting, and told as one. */
  private statesOf(topic: TopicImage, keys: ReadonlySet<string> | undefined, bytesMax: number): ConfigDescription[] {
    const damage = this.topics.damageOf(topic)
    const missing = this.topics.missingOf(topic)
    const compaction = this.topics.compactionOf(topic)
    const isCompactionTold = keys?.has(compactionStateName) === true ? compaction.length > 0 : compaction.some(({ failure }) => failure !== undefined)
    return [
      ...damage.length === 0 ? [] : [damagedOffsetsConfig(damage, bytesMax)],
      ...missing.length === 0 ? [] : [missingOffsetsConfig(missing, bytesMax)],
      ...isCompactionTold ? [compactionStateConfig(compaction, bytesMax)] : [],
    ]
  }
}

/** One result a resource, however often it is there. */
function distinct(resources: readonly Asked[]): Asked[] {
  return [...new Map(resources.map((resource) => [`${resource.resourceType}:${resource.resourceName}`, resource])).values()]
}

function refuse({ resourceType, resourceName }: Asked, errorCode: number, errorMessage: string | null): Answer {
  return { errorCode, errorMessage, resourceType, resourceName, configs: [] }
}

function toWire(config: ConfigDescription, request: DescribeConfigsRequest): Answer['configs'][number] {
  return {
    name: config.name,
    value: config.value,
    readOnly: config.readOnly,
    configSource: configSources[config.source],
    isSensitive: config.sensitive,
    synonyms: request.includeSynonyms ? config.synonyms.map(({ name, value, source }) => ({ name, value, source: configSources[source] })) : [],
    configType: configTypes[config.type],
    documentation: request.includeDocumentation ? config.documentation : null,
  }
}
