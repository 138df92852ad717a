import { type Plugin } from '../kernel/plugin/define-plugin.ts'
import { settingsOfNobody } from '../kernel/plugin/plugin-host.ts'
import { pluginSettingFaults } from '../kernel/plugin/plugin-settings.ts'
import { type SettingEntry } from '../kernel/ports/broker-settings.ts'
import { type BrokerOptions, type PresetName } from './broker-options.ts'
import { type FaultSink } from './config-fault.ts'

type Settings = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface PluginLayers {
  readonly preset: PresetName
  readonly file: BrokerOptions
  readonly commandLine: BrokerOptions
  /** Of the way in which the broker is started, for what nobody says. */
  readonly defaults: Pick<BrokerOptions, 'http' | 'logLevel'>
  readonly warmUp: boolean | undefined
  /** The world is this machine's, and not that of a simulation. */
  readonly isThisMachine: boolean
}

export interface LayeredPluginSettings {
  readonly given: Record<string, Record<string, unknown>>
  /** Of each plugin, where the value of each key that is given comes from. */
  readonly sources: Readonly<Record<string, Readonly<Record<string, SettingEntry['source']>>>>
}

/** What the composition says, with what the options say over it. */
export function pluginSettingsOf({ preset, file, commandLine, defaults, warmUp, isThisMachine }: PluginLayers, plugins: readonly Plugin[]): LayeredPluginSettings {
  const isVolatile = preset === 'memory' && isThisMachine
  const composed: Settings = {
    'observability': { logLevel: defaults.logLevel },
    'admin-http': { listen: defaults.http },
    'protocol-kafka': { warmup: warmUp === true ? true : undefined },
    'platform': { keyValue: isVolatile ? 'volatile' : undefined },
    // Where nothing is kept there is no path either; it shows in the log.
    'coordination-single': { path: isVolatile ? '(memory)' : undefined },
  }
  const ours = (settings: Settings): Settings => Object.fromEntries(Object.entries(settings).filter(([name]) => plugins.some((plugin) => plugin.name === name))
    .map(([name, values]) => [name, defined(values)]))
  const layers = [
    ['preset', ours(composed)],
    ['file', ours(shortSettings(file))], ['file', file.settings ?? {}],
    ['command line', ours({ 'protocol-kafka': { warmup: warmUp === false ? false : undefined } })],
    ['command line', ours(shortSettings(commandLine))], ['command line', commandLine.settings ?? {}],
  ] as const
  const given: Record<string, Record<string, unknown>> = {}
  const sources: Record<string, Record<string, SettingEntry['source']>> = {}
  for (const [source, settings] of layers) {
    for (const [name, values] of Object.entries(settings)) {
      given[name] = { ...given[name], ...values }
      sources[name] = { ...sources[name], ...Object.fromEntries(Object.keys(values).map((key) => [key, source])) }
    }
  }
  return { given, sources }
}

/** What the short options say, as settings of plugins. */
const shortSettings = ({ logLevel, http, insecure }: BrokerOptions): Settings => ({
  'observability': { logLevel },
  'admin-http': { listen: http, insecure },
  'protocol-kafka': { insecure },
})

const defined = (settings: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))

/** A setting that is wrong is left at its default. */
export function withoutFaults(given: Readonly<Record<string, Record<string, unknown>>>, plugins: readonly Plugin[], onFault: FaultSink): Record<string, Record<string, unknown>> {
  const right: Record<string, Record<string, unknown>> = {}
  for (const [name, settings] of Object.entries(given)) {
    const plugin = plugins.find((each) => each.name === name)
    if (plugin === undefined) {
      onFault(settingsOfNobody(name, plugins), `settings.${name}`)
      continue
    }
    // What is no plugin at all is refused when the broker is made.
    const faults = typeof plugin.config?.safeParse === 'function' ? pluginSettingFaults(plugin, settings) : []
    for (const error of faults) onFault(error, `settings.${name}.${String(error.details['key'])}`)
    const wrong = faults.map((error) => `${String(error.details['key'])}.`)
    right[name] = Object.fromEntries(Object.entries(settings).filter(([key]) => !wrong.some((each) => each.startsWith(`${key}.`))))
  }
  return right
}
