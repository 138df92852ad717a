import { assert } from '../../base/assert.ts'
import { isMillraceError, MillraceError } from '../errors/millrace-error.ts'
import { invalidConfig, parseConfigValue, type ConfigValue } from './parse-config-value.ts'
import { type TopicSettings } from '../model/topic-settings.ts'
import { type BrokerSettings, type SettingEntry } from '../ports/broker-settings.ts'
import { brokerConfigTable, brokerConfigs } from './broker-config-table.ts'
import { brokerConfigRow, checkConfig, configWarning, syncPromise } from './check-config.ts'
import { hiddenValue, isSensitive, longMax, type BrokerConfigRow } from './config-row.ts'
import { resolveTopicConfig, resolveTopicSettings, type BrokerValue } from './resolve-topic-settings.ts'
import { noLimits, type StoreLimits } from './store-limits.ts'
import { topicConfigTable } from './topic-config-table.ts'

export type SettingsLayer = ReadonlyMap<string, string>

/** Where a broker's settings come from; later ones win. */
export interface SettingsLayers {
  /** What a preset changes about the table's defaults. */
  readonly preset?: SettingsLayer
  readonly file?: SettingsLayer
  readonly environment?: SettingsLayer
  readonly commandLine?: SettingsLayer
}

interface Setting {
  readonly row: BrokerConfigRow
  /** Undefined: Kafka's null. */
  readonly text: string | undefined
  readonly value: ConfigValue | undefined
  readonly source: SettingEntry['source']
  /** Set by somebody, a preset included: it goes before a topic setting's own default. */
  readonly set: boolean
}

/** Is told of a mistake and the layer that it stands in, none where several settings do not fit. The setting keeps its value of the layers below. */
export type SettingFault = (error: MillraceError, layer?: keyof SettingsLayers) => void

const sources = [['preset', 'preset'], ['file', 'file'], ['environment', 'environment'], ['commandLine', 'command line']] as const

/** The settings of this broker, checked whole when it is made. */
export class BrokerSettingsMap implements BrokerSettings {
  readonly nodeId: number
  readonly storeLimits: StoreLimits
  /** One sentence for each setting that was accepted and has no effect here, in the order of the table. */
  readonly warnings: readonly string[]
  private readonly settings = new Map<string, Setting>()

  /** Throws MR_CONFIG_UNKNOWN, MR_CONFIG_INVALID or MR_CONFIG_UNSUPPORTED for the first setting that is wrong, unless `onFault` takes them all. */
  constructor(layers: SettingsLayers = {}, onFault: SettingFault = (error) => { throw error }, limits = noLimits) {
    this.storeLimits = limits
    for (const row of brokerConfigTable) {
      const value = row.default === undefined ? undefined : parseConfigValue(row, row.default).value
      this.settings.set(row.name, { row, text: row.default, value, source: 'default', set: false })
    }
    for (const [layer, source] of sources) {
      for (const [name, given] of layers[layer] ?? []) {
        try {
          const row = brokerConfigRow(name)
          this.settings.set(name, { row, ...checkConfig(row, given), source, set: true })
        } catch (error) {
          if (!isMillraceError(error)) throw error
          onFault(error, layer)
        }
      }
    }
    this.checkTogether(onFault)
    this.nodeId = this.integer('node.id')
    const warnings: string[] = []
    for (const { row, text, set } of this.settings.values()) {
      // A default may be a promise, too.
      const warning = (set || row.needs !== undefined) && text !== undefined ? configWarning(row, text, limits) : undefined
      if (warning !== undefined) warnings.push(warning)
    }
    const [largestRequest, largestBatch] = ['socket.request.max.bytes', 'message.max.bytes'].map((name) => this.integer(name)) as [number, number]
    if (largestBatch >= largestRequest) warnings.push(`message.max.bytes=${largestBatch} cannot be sent: socket.request.max.bytes=${largestRequest} is the largest request that is read`)
    this.warnings = warnings
  }

  text(name: string): string {
    return this.setting(name).text ?? ''
  }

  integer(name: string): number {
    const { row, value } = this.setting(name)
    assert(row.type === 'int' || row.type === 'short' || row.type === 'long', `${name} is a whole number`)
    return value === undefined ? -1 : value as number
  }

  flag(name: string): boolean {
    const { row, value } = this.setting(name)
    assert(row.type === 'boolean', `${name} is true or false`)
    return value as boolean
  }

  list(name: string): readonly string[] {
    const { row, value } = this.setting(name)
    assert(row.type === 'list', `${name} is a list`)
    return value === undefined ? [] : value as readonly string[]
  }

  entries(): readonly SettingEntry[] {
    return Array.from(this.settings.values(), ({ row, text, source }) => ({
      name: row.name, value: text === undefined ? '' : isSensitive(row) ? hiddenValue : text, source,
    }))
  }

  topicSettings(overrides: ReadonlyMap<string, string>): TopicSettings {
    return resolveTopicSettings(overrides, this.explicit)
  }

  /** What was set under a name, or undefined when the default of the table holds. */
  readonly explicit: BrokerValue = (name) => {
    const setting = this.setting(name)
    return setting.set ? setting.text : undefined
  }

  private setting(name: string): Setting {
    const setting = this.settings.get(name)
    assert(setting !== undefined, `${name} is a setting of brokers`)
    return setting
  }

  private checkTogether(onFault: SettingFault): void {
    const queued = this.integer('queued.max.request.bytes')
    if (queued > 0 && queued < this.integer('socket.request.max.bytes')) {
      onFault(this.invalid('queued.max.request.bytes', 'it is below socket.request.max.bytes, so that no largest request would ever be read'))
    }
    if (this.integer('group.min.session.timeout.ms') > this.integer('group.max.session.timeout.ms')) {
      onFault(this.invalid('group.min.session.timeout.ms', `it is above group.max.session.timeout.ms=${this.text('group.max.session.timeout.ms')}, so that no member could join a group`))
    }
    if (this.integer('max.connections.per.ip') === 0 && this.text('max.connections.per.ip.overrides') === '') {
      onFault(this.invalid('max.connections.per.ip', 'nobody could connect; name in max.connections.per.ip.overrides who may'))
    }
    this.checkVoters(onFault)
    this.checkSyncs(onFault)
    // A default that no topic could be given would fail at each creation: say it now, under the name that was typed.
    for (const row of topicConfigTable) {
      const { text, source } = resolveTopicConfig(row, new Map(), this.explicit)
      if (source !== 'broker') continue
      try {
        checkConfig(row, text)
      } catch {
        const from = row.synonyms.find((synonym) => this.explicit(synonym.name) !== undefined)!
        onFault(this.invalid(from.name, `it is the default of the topics' ${row.name}, which cannot be ${text}`))
      }
    }
  }

  /** Others named as voters would not be asked: each of the brokers would be a cluster of its own, and none a copy of another. */
  private checkVoters(onFault: SettingFault): void {
    for (const name of ['controller.quorum.voters', 'controller.quorum.bootstrap.servers']) {
      if (this.list(name).length <= 1) continue
      onFault(new MillraceError('MR_CONFIG_UNSUPPORTED', { key: name, value: this.text(name), reason: 'a cluster of several brokers is not there yet, nothing would be copied to the others; name this one alone, or leave it out' }))
    }
  }

  /** A preset's durability was nobody's decision: what has no effect over its store is said in a warning. */
  private checkSyncs(onFault: SettingFault): void {
    const { text, source } = this.setting('durability')
    if (text !== 'os' || source === 'preset') return
    for (const name of ['log.flush.interval.messages', 'log.flush.interval.ms', 'log.flush.scheduler.interval.ms']) {
      const promise = this.explicit(name)
      if (promise !== undefined && promise !== longMax) onFault(this.invalid('durability', syncPromise(name, promise)))
    }
  }

  private invalid(name: string, reason: string): MillraceError {
    return invalidConfig(brokerConfigs.get(name)!, this.text(name), reason)
  }
}
