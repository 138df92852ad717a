import { type z } from 'zod'
import { nearestName } from '../../base/suggestion.ts'
import { brokerConfigs } from '../config/broker-config-table.ts'
import { MillraceError } from '../errors/millrace-error.ts'
import { type SettingEntry } from '../ports/broker-settings.ts'
import { type Plugin } from './define-plugin.ts'

const strictConfigs = new WeakMap<Plugin['config'], Plugin['config']>()

/** The plugin's schema with unknown keys refused. Kept: zod makes code for each new one when it is first used. */
function strictConfig({ config }: Plugin): Plugin['config'] {
  let strict = strictConfigs.get(config)
  if (strict === undefined) strictConfigs.set(config, strict = config.strict())
  return strict
}

/** Checks what was configured for a plugin; throws MR_HOST_SETTING naming plugin, key and remedy. */
export function parsePluginSettings(plugin: Plugin, given: unknown): Record<string, unknown> {
  const parsed = strictConfig(plugin).safeParse(given ?? {})
  if (parsed.success) return parsed.data
  throw describeIssue(plugin, parsed.error.issues[0]!)[0]!
}

/** Everything that is wrong with what was configured for a plugin: MR_HOST_SETTING each; none when it is right. */
export function pluginSettingFaults(plugin: Plugin, given: unknown): readonly MillraceError[] {
  const parsed = strictConfig(plugin).safeParse(given ?? {})
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => describeIssue(plugin, issue))
}

function describeIssue(plugin: Plugin, issue: z.core.$ZodIssue): MillraceError[] {
  const { name } = plugin
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => new MillraceError('MR_HOST_SETTING', { plugin: name, key: [...issue.path, key].join('.'), reason: 'unknown', suggestion: suggestionFor(plugin, key) }))
  }
  return [new MillraceError('MR_HOST_SETTING', { plugin: name, key: issue.path.join('.') || '(all)', reason: issueReason(issue) })]
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a text', number: 'a number', int: 'a whole number', boolean: 'true or false', array: 'a list', object: 'an object', record: 'an object', null: 'null',
}
const inWords = (type: string): string => typeWords[type] ?? type

/** In the words of a setting where zod's are those of a type; a schema's own message stays as it is. */
function issueReason({ code, message }: z.core.$ZodIssue): string {
  const types = /expected (\w+), received (\w+)$/.exec(message)
  if (code === 'invalid_type' && types !== null) return types[2] === 'undefined' ? 'it is required' : `it must be ${inWords(types[1]!)}, not ${inWords(types[2]!)}`
  const bound = /^Too (?:big|small): expected \w+ to (be|have) (.*)$/.exec(message)
  if (bound !== null) return `it must ${bound[1]} ${bound[2]}`
  const choices = /^Invalid (?:option|input): expected (?:one of )?(.*)$/.exec(message)
  if (code === 'invalid_value' && choices !== null) return `it must be ${choices[1]!.split('|').map((each) => each.replaceAll('"', '')).join(', ')}`
  return message
}

function suggestionFor(plugin: Plugin, key: string): string {
  if (brokerConfigs.has(key)) return '; it is a setting of the broker: put it under `broker:`'
  const known = Object.keys(plugin.config.shape)
  const near = nearestName(key, known)
  return near === undefined ? `; known are ${known.sort().join(', ') || 'none'}` : `; did you mean ${near}?`
}

/** A setting of a plugin with the value that counts. */
export interface PluginSettingDescription {
  readonly plugin: string
  readonly key: string
  readonly doc: string
  readonly value: unknown
  /** `preset`: what the composition gives the plugin where nobody says anything; `default`: what the plugin itself takes then. */
  readonly source: SettingEntry['source']
}

/** Every key of a plugin with its value and where it came from, for `config print`. `sources`: of each key that is given. */
export function describePluginSettings(plugin: Plugin, given: unknown, sources: Readonly<Record<string, SettingEntry['source']>>): PluginSettingDescription[] {
  const values = parsePluginSettings(plugin, given)
  return Object.entries(plugin.config.shape).map(([key, schema]) => ({
    plugin: plugin.name,
    key,
    doc: (schema as { description?: string }).description ?? '',
    value: values[key],
    source: sources[key] ?? 'default',
  }))
}
