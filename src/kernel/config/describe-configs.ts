import { type BrokerSettings } from '../ports/broker-settings.ts'
import { brokerConfigTable, brokerConfigs } from './broker-config-table.ts'
import { isDescribed, isSensitive, none, type BrokerConfigRow, type ConfigEffect, type ConfigRow, type ConfigType, type TopicConfigRow } from './config-row.ts'
import { resolveTopicConfigs, type BrokerValue } from './resolve-topic-settings.ts'
import { noLimits, type StoreLimits } from './store-limits.ts'

/** `topic`: set for this topic. `broker`: set for the broker, at its start. `default`: nobody set it. */
export type ConfigSource = 'topic' | 'broker' | 'default'

/** Another name under which a value is, or could have been, set; the one that counts comes first. */
export interface ConfigSynonym {
  readonly name: string
  readonly value: string | null
  readonly source: ConfigSource
}

/** One entry of a description, as DescribeConfigs answers it. */
export interface ConfigDescription {
  readonly name: string
  /** Null: no value, or a secret. */
  readonly value: string | null
  readonly source: ConfigSource
  readonly readOnly: boolean
  readonly sensitive: boolean
  readonly type: ConfigType
  readonly synonyms: readonly ConfigSynonym[]
  /** Our own words, with what is missing here, if something is. */
  readonly documentation: string
}

/** What was set for a broker, read through its port: the values that differ from the table's defaults or have a source of their own. */
export function brokerValuesOf(settings: BrokerSettings): BrokerValue {
  const set = new Map<string, string>()
  for (const { name, value, source } of settings.entries()) {
    if (source !== 'default' || value !== (brokerConfigs.get(name)!.default ?? '')) set.set(name, value)
  }
  return (name) => set.get(name)
}

/** Every setting of a topic with these overrides, in the order of the table. */
export function describeTopicConfigs(overrides: ReadonlyMap<string, string>, broker: BrokerValue, limits: StoreLimits): readonly ConfigDescription[] {
  return resolveTopicConfigs(overrides, broker).map(({ row, text, source }) => ({
    name: row.name,
    value: text,
    source,
    readOnly: false,
    sensitive: false,
    type: row.type,
    synonyms: topicSynonyms(row, overrides, broker),
    documentation: documentation(row, limits),
  }))
}

/** Every setting of the broker but internal ones that nobody set, in the order of the table. None can be changed while it runs. */
export function describeBrokerConfigs(broker: BrokerValue, limits: StoreLimits): readonly ConfigDescription[] {
  const shown = brokerConfigTable.filter((row) => isDescribed(row, broker(row.name) !== undefined))
  return shown.map((row) => {
    const set = broker(row.name)
    return {
      name: row.name,
      value: visible(row, set ?? row.default),
      source: set === undefined ? 'default' : 'broker',
      readOnly: true,
      sensitive: isSensitive(row),
      type: row.type,
      synonyms: brokerSynonyms([row], broker),
      documentation: documentation(row, limits),
    }
  })
}

/** What a setting does over a store with these limits. */
export function effectOver(row: ConfigRow, limits: StoreLimits): ConfigEffect {
  const missing = row.needs === undefined ? undefined : limits[row.needs.capability]
  return missing === undefined ? row.effect : none(missing)
}

/** For an operator: what it is, and what of it is missing here. */
export function documentation(row: ConfigRow, limits: StoreLimits): string {
  const effect = effectOver(row, limits)
  if (typeof effect === 'object' && 'none' in effect) return `${row.doc} No effect here: ${effect.none}.`
  if (typeof effect === 'object') return `${row.doc} Only ${effect.allowed.map((each) => each === '' ? 'no value' : each).join(', ')} is accepted here: ${effect.refused}.`
  return row.caveat === undefined ? row.doc : `${row.doc} Here ${row.caveat.text}.`
}

/** The limits that somebody else's `documentation` of a setting speaks of: how a client learns them of a broker. */
export function limitsSaid(row: ConfigRow, documentation: string | null): StoreLimits {
  const reason = row.needs === undefined ? undefined : / No effect here: (.*)\.$/.exec(documentation ?? '')?.[1]
  return reason === undefined ? noLimits : { [row.needs!.capability]: reason }
}

function topicSynonyms(row: TopicConfigRow, overrides: ReadonlyMap<string, string>, broker: BrokerValue): ConfigSynonym[] {
  const own = overrides.get(row.name)
  const brokers = brokerSynonyms(row.synonyms.map((synonym) => brokerConfigs.get(synonym.name)!), broker)
  return own === undefined ? brokers : [{ name: row.name, value: own, source: 'topic' }, ...brokers]
}

/** First what was set, then the defaults, each in the order of precedence. */
function brokerSynonyms(rows: readonly BrokerConfigRow[], broker: BrokerValue): ConfigSynonym[] {
  const set: ConfigSynonym[] = []
  const defaults: ConfigSynonym[] = []
  for (const row of rows) {
    const value = broker(row.name)
    if (value !== undefined) set.push({ name: row.name, value: visible(row, value), source: 'broker' })
    if (row.default !== undefined) defaults.push({ name: row.name, value: visible(row, row.default), source: 'default' })
  }
  return [...set, ...defaults]
}

const visible = (row: ConfigRow, value: string | undefined): string | null => (value === undefined || isSensitive(row) ? null : value)
