import { type Plugin } from '../kernel/plugin/define-plugin.ts'
import { type SettingEntry } from '../kernel/ports/broker-settings.ts'
import { type BrokerOptions, type PresetName } from './broker-options.ts'
import { type LoadedPlugin } from './plugin-catalog.ts'

type Source = SettingEntry['source']

/** Of what a broker is composed, and who said so. */
export interface CompositionDescription {
  readonly preset: { readonly name: PresetName, readonly source: Source }
  /** In the order of the composition. */
  readonly plugins: readonly PluginDescription[]
  /** Plugins of the preset that are not there. */
  readonly without: readonly { readonly name: string, readonly source: Source }[]
}

export interface PluginDescription {
  readonly name: string
  /** What it does, in its own words. */
  readonly summary: string
  /** `default` for what every composition has. */
  readonly source: Source
  /** The package or path that it came from; null for one that was given as an object. */
  readonly use: string | null
  /** The plugin of the preset that it replaces, or null. */
  readonly instead: string | null
}

export function describeComposition(file: BrokerOptions, commandLine: BrokerOptions, platform: Plugin, loaded: readonly LoadedPlugin[]): CompositionDescription {
  const sourceOf = (option: keyof BrokerOptions): Source => commandLine[option] !== undefined ? 'command line' : file[option] !== undefined ? 'file' : 'default'
  return {
    preset: { name: commandLine.preset ?? file.preset ?? 'single-node', source: sourceOf('preset') },
    plugins: [
      { name: platform.name, summary: platform.summary, source: 'default', use: null, instead: null },
      ...loaded.map(({ plugin: { name, summary }, use = null, isOfPreset, instead = null }) => ({ name, summary, source: isOfPreset ? 'preset' as const : sourceOf('plugins'), use, instead })),
    ],
    without: (commandLine.without ?? file.without ?? []).map((name) => ({ name, source: sourceOf('without') })),
  }
}
