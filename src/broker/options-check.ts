import { z } from 'zod'
import { nearestName } from '../base/suggestion.ts'
import { brokerConfigs } from '../kernel/config/broker-config-table.ts'
import { MillraceError } from '../kernel/errors/millrace-error.ts'
import { type Plugin } from '../kernel/plugin/define-plugin.ts'
import { type BrokerOptions } from './broker-options.ts'
import { throwFirst, type ConfigFault, type FaultSink } from './config-fault.ts'

const pluginObject = z.custom<Plugin>((value) => typeof value === 'object' && value !== null && 'register' in value)
const pluginUse = z.union([z.string().min(1), pluginObject])
const text = z.string().min(1)
const address = z.string().refine((value) => Number(/^(?:\[[0-9a-fA-F:.]+\]|[^\s:[\]/]*):(\d{1,5})$/.exec(value)?.[1] ?? NaN) <= 65_535)

interface Option {
  readonly schema: z.ZodType
  /** What is allowed, in words: the schema's own are those of a programmer. */
  readonly must: string
  /** What `schema` describes: the whole value, or each item of a list or object. */
  readonly of?: 'items' | 'entries'
}

const options: Readonly<Record<keyof BrokerOptions, Option>> = {
  preset: { schema: z.enum(['single-node', 'memory']), must: 'single-node or memory' },
  plugins: { schema: z.union([pluginUse, z.strictObject({ use: pluginUse, instead: text })]), of: 'items', must: 'the name of a package, a path that begins with ./, a plugin made by definePlugin, or { use, instead }' },
  without: { schema: text, of: 'items', must: 'the name of a plugin of the preset' },
  settings: { schema: z.record(z.string(), z.unknown()), of: 'entries', must: 'the settings of a plugin by their names' },
  broker: { schema: z.union([z.string(), z.number(), z.boolean()]), of: 'entries', must: 'a text, a number, true or false' },
  data: { schema: z.union([text, z.array(text).min(1)]), must: 'a directory, or a list of directories' },
  listen: { schema: address, must: 'HOST:PORT, with a port from 0 to 65535' },
  advertise: { schema: address, must: 'HOST:PORT, with a port from 0 to 65535' },
  http: { schema: z.union([z.literal('off'), address]), must: 'HOST:PORT, with a port from 0 to 65535, or off' },
  nodeId: { schema: z.int().min(0).max(2_147_483_647), must: 'a whole number from 0 to 2147483647' },
  insecure: { schema: z.boolean(), must: 'true or false' },
  logLevel: { schema: z.enum(['debug', 'info', 'warn', 'error', 'silent']), must: 'debug, info, warn, error or silent' },
}

/** What is short for a setting of a plugin. */
const shortForPlugins = [['http', 'admin-http', 'listen'], ['logLevel', 'observability', 'logLevel']] as const

/** Refuses what a configuration can not mean: MR_CONFIG_UNKNOWN with a suggestion, or MR_CONFIG_INVALID with what is allowed. */
export function checkOptions(given: unknown): BrokerOptions {
  const faults: ConfigFault[] = []
  const checked = examineOptions(given, (error, key) => { faults.push({ key, error }) })
  throwFirst(faults)
  return checked
}

/** The options without those that are wrong, each of which `onFault` is told of. */
export function examineOptions(given: unknown, onFault: FaultSink): BrokerOptions {
  if (!isObject(given)) {
    onFault(invalid('configuration', given, 'it must be an object of options'), null)
    return {}
  }
  const checked: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (Object.hasOwn(options, key)) checked[key] = examineOption(key as keyof BrokerOptions, value, onFault)
    else onFault(new MillraceError('MR_CONFIG_UNKNOWN', { key, suggestion: optionSuggestion(key) }), key)
  }
  for (const [short, plugin, key] of shortForPlugins) {
    const settings = (checked['settings'] as Record<string, unknown> | undefined)?.[plugin]
    if (checked[short] === undefined || !isObject(settings) || settings[key] === undefined) continue
    onFault(invalid(short, checked[short], `settings.${plugin}.${key} says the same: leave one of them out`), short)
    delete checked[short]
  }
  return checked as BrokerOptions
}

function examineOption(key: keyof BrokerOptions, value: unknown, onFault: FaultSink): unknown {
  const { of, must } = options[key]
  switch (of) {
    case 'items': {
      if (Array.isArray(value)) return value.filter((item, index) => examineValue(key, `${key}.${index}`, item, onFault))
      onFault(invalid(key, value, `it must be a list, each item of it ${must}`), key)
      return undefined
    }
    case 'entries': {
      if (isObject(value)) return Object.fromEntries(Object.entries(value).filter(([name, item]) => item !== undefined && examineValue(key, `${key}.${name}`, item, onFault)))
      onFault(invalid(key, value, `it must be an object, each value of it ${must}`), key)
      return undefined
    }
    default:
      return examineValue(key, key, value, onFault) ? value : undefined
  }
}

function examineValue(option: keyof BrokerOptions, path: string, value: unknown, onFault: FaultSink): boolean {
  const { schema, must } = options[option]
  if (schema.safeParse(value).success) return true
  const name = path.slice(option.length + 1)
  const misplaced = option === 'settings' ? settingsSuggestion(name) : undefined
  onFault(misplaced === undefined ? invalid(path, value, `it must be ${must}`) : new MillraceError('MR_CONFIG_UNKNOWN', { key: path, suggestion: misplaced }), path)
  return false
}

/** For a key that is none of the options. */
function optionSuggestion(key: string): string {
  if (brokerConfigs.has(key)) return `; ${isBrokerSetting}`
  const near = nearestName(key, Object.keys(options))
  return near === undefined ? `; known are ${Object.keys(options).join(', ')}` : `; did you mean ${near}?`
}

/** For what stands where the name of a plugin is expected, and is no object of settings. */
function settingsSuggestion(name: string): string | undefined {
  if (brokerConfigs.has(name)) return `; ${isBrokerSetting}`
  return Object.hasOwn(options, name) ? '; it is no setting of a plugin: put it beside `settings:`, not into it' : undefined
}

export const isBrokerSetting = 'it is a setting of the broker: put it under `broker:`'

/** For a key below `broker` that is no setting of a broker. */
export const misplacedOption = (key: string): string | undefined => Object.hasOwn(options, key) ? '; it is an option of its own: put it beside `broker:`, not into it' : undefined

/** Not a Map, a Date or the like: their entries are no properties, and would be passed over. */
const isObject = (value: unknown): value is Record<string, unknown> => Object.prototype.toString.call(value) === '[object Object]'

function invalid(key: string, value: unknown, reason: string): MillraceError {
  return new MillraceError('MR_CONFIG_INVALID', { key, value: shown(value), reason })
}

function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !isObject(value)) return `a ${Object.prototype.toString.call(value).slice('[object '.length, -1)}`
  try {
    return (JSON.stringify(value) ?? typeof value).slice(0, 100)
  } catch {
    // A circle, or a number that JSON has no word for.
    return typeof value === 'bigint' ? `${value}n`.slice(0, 100) : `an ${typeof value}`
  }
}
