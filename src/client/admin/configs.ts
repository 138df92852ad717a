import { describeConfigsApi, incrementalAlterConfigsApi, kafkaErrors } from '../../wire/index.ts'
import { brokerError } from '../client-error.ts'
import { type AdminContext, type AdminOptions, type Whom } from './admin-context.ts'

/** Whose settings are meant. */
export interface ConfigResource {
  /** Settings of other resources, such as loggers and groups, are not asked for. */
  readonly type: 'topic' | 'broker'
  /** The topic, or the node id of the broker; an empty name means the cluster-wide settings of all brokers. */
  readonly name: string
}

/** A setting with the value that counts. */
export interface ConfigEntry {
  /** Kafka's name, such as `retention.ms`; a broker may have others beside. */
  readonly name: string
  /** Null for secrets, and for what has no value. */
  readonly value: string | null
  /** True for what cannot be changed while the broker runs: on a millrace, all settings of brokers. */
  readonly isReadOnly: boolean
  /** True for secrets, whose value is never told. */
  readonly isSensitive: boolean
  /** Where the value comes from. */
  readonly source: ConfigSource
  /** What the broker says about the setting: of a millrace, also why it has no effect there. Undefined unless asked for, and of brokers that do not tell. */
  readonly documentation: string | undefined
}

/**
 * Where a value comes from: set for the topic, for one broker, for all of them (`cluster`), in the broker's file, or nobody set it. `unknown` is what this
 * client has no word for.
 */
export type ConfigSource = 'topic' | 'broker' | 'cluster' | 'file' | 'default' | 'logger' | 'client metrics' | 'group' | 'unknown'

/** Of a call that asks for settings. */
export interface DescribeConfigsOptions extends AdminOptions {
  /** Asks for the documentation of each setting, too. */
  readonly includeDocumentation?: boolean
}

/** The settings of one topic or broker. */
export interface ConfigDescription extends ConfigResource {
  /** Every setting that the broker tells, those at their default included, in its order. */
  readonly entries: readonly ConfigEntry[]
}

/** One change of one setting. */
export interface ConfigChange {
  /** By Kafka's name, such as `retention.ms`. One that the broker does not know is refused, with all changes of its resource. */
  readonly name: string
  /** `delete` goes back to the default; `append` and `subtract` change lists. */
  readonly operation: 'set' | 'delete' | 'append' | 'subtract'
  /** In Kafka's spelling; items of lists are separated by commas. Left out with `delete`. */
  readonly value?: string
}

/** Changes of one topic or broker: all of them are made, or none. */
export interface ConfigChanges extends ConfigResource {
  /** At most one for each setting. */
  readonly changes: readonly ConfigChange[]
}

/** Of a call that changes settings. */
export interface AlterConfigsOptions extends AdminOptions {
  /** Checks everything and changes nothing. */
  readonly validateOnly?: boolean
}

const resourceTypes = { topic: 2, broker: 4 } as const
const operations = { set: 0, delete: 1, append: 2, subtract: 3 } as const
const sources: readonly ConfigSource[] = ['unknown', 'topic', 'broker', 'cluster', 'file', 'default', 'logger', 'client metrics', 'group']

export async function describeConfigs(admin: AdminContext, resources: readonly ConfigResource[], options: DescribeConfigsOptions): Promise<ConfigDescription[]> {
  const found = new Map<string, ConfigDescription>()
  for (const [whom, group] of byAnswerer(resources)) {
    const asked = group.map(({ type, name }) => ({ resourceType: resourceTypes[type], resourceName: name, configurationKeys: null }))
    // Documentation came with version 3.
    const build = (version: number) => ({ resources: asked, ...options.includeDocumentation === true && version >= 3 ? { includeDocumentation: true } : {} })
    await admin.ask(whom, describeConfigsApi, build, response => {
      for (const { resourceType, resourceName, errorCode, errorMessage, configs } of response.results) {
        const type = resourceType === resourceTypes.topic ? 'topic' : 'broker'
        if (errorCode !== kafkaErrors.NONE) throw failure(errorCode, 'describing', { type, name: resourceName }, errorMessage)
        found.set(keyOf({ type, name: resourceName }), {
          type,
          name: resourceName,
          entries: configs.map(({ name, value, readOnly, isSensitive, configSource, documentation }) => ({
            name, value, isReadOnly: readOnly, isSensitive, source: sources[configSource] ?? 'unknown', documentation: documentation === '' ? undefined : documentation ?? undefined,
          })),
        })
      }
    }, options)
  }
  return resources.flatMap(resource => found.get(keyOf(resource)) ?? [])
}

export async function incrementalAlterConfigs(admin: AdminContext, changes: readonly ConfigChanges[], options: AlterConfigsOptions): Promise<void> {
  for (const [whom, group] of byAnswerer(changes)) {
    const resources = group.map(({ type, name, changes: each }) => ({
      resourceType: resourceTypes[type],
      resourceName: name,
      configs: each.map(change => ({ name: change.name, configOperation: operations[change.operation], value: change.value ?? null })),
    }))
    await admin.ask(whom, incrementalAlterConfigsApi, () => ({ resources, validateOnly: options.validateOnly ?? false }), response => {
      for (const { resourceType, resourceName, errorCode, errorMessage } of response.responses) {
        const type = resourceType === resourceTypes.topic ? 'topic' : 'broker'
        if (errorCode !== kafkaErrors.NONE) throw failure(errorCode, 'changing', { type, name: resourceName }, errorMessage)
      }
    }, options)
  }
}

/** A broker knows its own settings alone; those of topics and of all brokers any one knows. */
function byAnswerer<R extends ConfigResource>(resources: readonly R[]): (readonly [Whom, R[]])[] {
  const own = new Map<string, R[]>()
  const common: R[] = []
  for (const resource of resources) {
    if (resource.type === 'broker' && resource.name !== '') own.set(resource.name, [...own.get(resource.name) ?? [], resource])
    else common.push(resource)
  }
  const groups: (readonly [Whom, R[]])[] = [...own].map(([name, group]) => [{ nodeId: Number(name) }, group])
  return common.length === 0 ? groups : [['anybody', common], ...groups]
}

function failure(errorCode: number, doing: string, { type, name }: ConfigResource, message: string | null): Error {
  return brokerError(errorCode, { what: `${doing} the settings of ${type} ${name}`, ...(type === 'topic' ? { topic: name } : {}), message })
}

const keyOf = ({ type, name }: ConfigResource): string => `${type}/${name}`
