import { suggestion } from '../../base/suggestion.ts'
import { MillraceError } from '../errors/millrace-error.ts'
import { brokerConfigs } from './broker-config-table.ts'
import { longMax, type BrokerConfigRow, type ConfigRow, type TopicConfigRow } from './config-row.ts'
import { invalidConfig, parseConfigValue, type ParsedConfig } from './parse-config-value.ts'
import { type StoreLimits } from './store-limits.ts'
import { topicConfigs, topicConfigTable } from './topic-config-table.ts'

/** Settings of a topic that were found right. */
export interface CheckedConfigs {
  /** By name, in Kafka's spelling. */
  readonly values: ReadonlyMap<string, string>
  /** One sentence for each value that was accepted and does not do what it does in Kafka. */
  readonly warnings: readonly string[]
}

/**
 * Checks one value against its row. Throws MR_CONFIG_INVALID, with what is allowed, or MR_CONFIG_UNSUPPORTED for a value of which the
 * effect is missing here.
 */
export function checkConfig(row: ConfigRow, given: string): ParsedConfig {
  const parsed = parseConfigValue(row, given)
  if (typeof row.effect === 'object' && 'refused' in row.effect && parsed.text !== row.default && !row.effect.allowed.includes(parsed.text)) {
    throw new MillraceError('MR_CONFIG_UNSUPPORTED', { key: row.name, value: parsed.text, reason: `${row.effect.refused}; leave it out` })
  }
  return parsed
}

/** What to tell somebody who has `row` at this (checked) text, by setting it or by leaving it, or undefined when it does what it says. */
export function configWarning(row: ConfigRow, text: string, limits: StoreLimits): string | undefined {
  const missing = row.needs === undefined || row.needs.unless.includes(text) ? undefined : limits[row.needs.capability]
  if (missing !== undefined) return `${row.name}=${text} has no effect here: ${missing}`
  if (text === row.default) return undefined
  if (typeof row.effect === 'object' && 'none' in row.effect) return `${row.name} has no effect here: ${row.effect.none}`
  if (row.caveat !== undefined && !row.caveat.unless.includes(text)) return `${row.name}=${text}: ${row.caveat.text}`
  return undefined
}

/** The row of a topic's setting. Throws MR_CONFIG_UNKNOWN, with the nearest name. */
export function topicConfigRow(name: string): TopicConfigRow {
  const row = topicConfigs.get(name)
  if (row === undefined) throw new MillraceError('MR_CONFIG_UNKNOWN', { key: name, suggestion: topicSuggestion(name) })
  return row
}

/**
 * Checks what is to be set for a topic, each by itself and together. Null is no value; `limits` are those of the store that will keep it. Throws
 * as `checkConfig` and `topicConfigRow` do.
 */
export function checkTopicConfigs(given: ReadonlyMap<string, string | null>, limits: StoreLimits): CheckedConfigs {
  const checked = checkEach(given, topicConfigRow, limits)
  checkTopicTogether(checked.values)
  return checked
}

/** For a name that no topic's setting has: a broker's setting may be the default of the one that is meant. */
function topicSuggestion(name: string): string {
  if (!brokerConfigs.has(name)) return suggestion(name, topicConfigs.keys()) || '; docs/config.md lists those of topics'
  const meant = topicConfigTable.find((row) => row.synonyms.some((synonym) => synonym.name === name))
  return meant === undefined ? '; it is a setting of brokers' : `; it is a broker's setting, of topics it is ${meant.name}`
}

/** The row of a broker's setting. Throws MR_CONFIG_UNKNOWN, with the nearest name. */
export function brokerConfigRow(name: string): BrokerConfigRow {
  const row = brokerConfigs.get(name)
  if (row === undefined) throw new MillraceError('MR_CONFIG_UNKNOWN', { key: name, suggestion: brokerSuggestion(name) })
  return row
}

/** For a name that no broker's setting has: a topic's setting may have a default among them. */
function brokerSuggestion(name: string): string {
  const meant = topicConfigs.get(name)
  if (meant === undefined) return suggestion(name, brokerConfigs.keys()) || absentBrokerSetting(name)
  const [first] = meant.synonyms
  return first === undefined ? '; it is a setting of topics, given when one is made' : `; it is a setting of topics, their default is ${first.name}`
}

/** For a name that is like none of ours: what Kafka knows beside its table of brokers is told apart from a name that nobody knows. */
function absentBrokerSetting(name: string): string {
  if (name.startsWith('listener.name.')) return '; one listener cannot have settings of its own here, set it for all of them'
  if (name === 'super.users' || name === 'allow.everyone.if.no.acl.found') return '; there is no authorizer, and everybody may do everything: leave it out'
  return '; millrace config print --all lists those there are'
}

/** Checks what is set for a broker. Throws as `checkTopicConfigs` does. */
export function checkBrokerConfigs(given: ReadonlyMap<string, string | null>, limits: StoreLimits): CheckedConfigs {
  return checkEach(given, brokerConfigRow, limits)
}

function checkEach(given: ReadonlyMap<string, string | null>, rowOf: (name: string) => ConfigRow, limits: StoreLimits): CheckedConfigs {
  const values = new Map<string, string>()
  const warnings: string[] = []
  for (const [name, value] of given) {
    const row = rowOf(name)
    if (value === null) throw invalidConfig(row, null, 'a value is needed')
    const { text } = checkConfig(row, value)
    values.set(name, text)
    const warning = configWarning(row, text, limits)
    if (warning !== undefined) warnings.push(warning)
  }
  return { values, warnings }
}

/** Rules over several of a topic's own (checked) settings; those not set have defaults that agree with any. Throws MR_CONFIG_INVALID. */
export function checkTopicTogether(values: ReadonlyMap<string, string>): void {
  const least = values.get('min.compaction.lag.ms')
  const most = values.get('max.compaction.lag.ms')
  if (least !== undefined && most !== undefined && BigInt(least) > BigInt(most)) {
    throw invalidConfig(topicConfigRow('min.compaction.lag.ms'), least, `it is above max.compaction.lag.ms=${most}`)
  }
  if (values.get('durability') !== 'os') return
  const promise = ['flush.messages', 'flush.ms'].find((name) => (values.get(name) ?? longMax) !== longMax)
  if (promise !== undefined) throw invalidConfig(topicConfigRow('durability'), 'os', syncPromise(promise, values.get(promise)!))
}

/** Why `durability=os` cannot stand beside a setting by which Kafka syncs: its value would promise a sync that is never made. */
export const syncPromise = (name: string, text: string): string =>
  `${name}=${text} promises that records are synced, and with it nothing is; set durability=fsync, or leave ${name} out`
