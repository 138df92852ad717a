import { MillraceError } from '../errors/millrace-error.ts'
import { contractVersion } from './contract-version.ts'
import { type Plugin } from './define-plugin.ts'
import { type AnyToken, type Need, tokenName } from './token.ts'

const namePattern = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

/** Everything that can be known of a composition before a line of a plugin runs. Throws the first fault, named with its remedy. */
export function checkComposition(plugins: readonly Plugin[]): void {
  checkDeclarations(plugins)
  const providers = providersOf(plugins)
  for (const plugin of plugins) {
    for (const need of plugin.requires ?? []) {
      if (typeof need === 'symbol' && !providers.has(need)) throw missing(plugin, need)
    }
    for (const { port } of plugin.decorates ?? []) {
      if (!providers.has(port)) throw missing(plugin, port)
    }
    checkCapabilities(plugin, providers)
  }
}

export function providersOf(plugins: readonly Plugin[]): ReadonlyMap<AnyToken, Plugin> {
  const providers = new Map<AnyToken, Plugin>()
  for (const plugin of plugins) {
    for (const port of plugin.provides ?? []) {
      const first = providers.get(port)
      if (first !== undefined) {
        throw new MillraceError('MR_HOST_PORT_TWICE', { port: tokenName(port), first: first.name, second: plugin.name, remedy: portTwiceRemedy(first.name, plugin.name) })
      }
      providers.set(port, plugin)
    }
  }
  return providers
}

/** The platform is part of no preset: it cannot be replaced by name, and hardly anybody wants to replace all of it. */
const portTwiceRemedy = (first: string, second: string): string => first === 'platform'
  ? `let ${second} decorate it instead of providing it: the platform gives the world as a whole, and is in place of nothing`
  : `put one in the place of the other ({ use: ${second}, instead: ${first} } under plugins), or let one decorate it`

/** What each plugin says of itself, and that no two have one name. What holds for it may be described, whether or not the plugins fit together. */
export function checkDeclarations(plugins: readonly Plugin[]): void {
  const names = new Set<string>()
  for (const plugin of plugins) {
    if (typeof plugin?.name !== 'string' || !namePattern.test(plugin.name)) {
      throw new MillraceError('MR_HOST_PLUGIN_INVALID', {
        plugin: String(plugin?.name), reason: 'its name must be lower case words joined by dashes',
      })
    }
    if (names.has(plugin.name)) throw new MillraceError('MR_HOST_PLUGIN_NAME_TWICE', { plugin: plugin.name })
    names.add(plugin.name)
    if (plugin.contract !== contractVersion) {
      throw new MillraceError('MR_HOST_CONTRACT_VERSION', {
        plugin: plugin.name, found: plugin.contract, expected: contractVersion,
      })
    }
    if (typeof plugin.summary !== 'string' || plugin.summary === '') {
      throw new MillraceError('MR_HOST_PLUGIN_INVALID', { plugin: plugin.name, reason: 'it needs a summary: what it does, in one sentence' })
    }
    checkSettingsAreDescribed(plugin)
  }
}

function checkSettingsAreDescribed(plugin: Plugin): void {
  for (const [key, schema] of Object.entries(plugin.config?.shape ?? {})) {
    if ((schema as { description?: string }).description === undefined) {
      throw new MillraceError('MR_HOST_PLUGIN_INVALID', {
        plugin: plugin.name, reason: `its setting ${key} has no description; add .describe('…')`,
      })
    }
  }
  const lacks = [
    ...typeof plugin.config?.safeParse === 'function' ? [] : ['a zod object as `config`, which is z.object({}) where it has no settings'],
    ...typeof plugin.register === 'function' ? [] : ['a function `register`'],
  ]
  if (lacks.length > 0) throw new MillraceError('MR_HOST_PLUGIN_INVALID', { plugin: plugin.name, reason: `it needs ${lacks.join(', and ')}` })
}

function checkCapabilities(plugin: Plugin, providers: ReadonlyMap<AnyToken, Plugin>): void {
  for (const need of plugin.needsCapabilities ?? []) {
    const provider = providers.get(need.port)
    if (provider === undefined) throw missing(plugin, need.port)
    if (provider.capabilities?.[need.capability] !== true) {
      throw new MillraceError('MR_HOST_CAPABILITY_MISSING', {
        plugin: plugin.name, capability: `${need.capability} (${need.reason})`, provider: provider.name,
      })
    }
  }
}

const missing = (plugin: Plugin, port: Need): MillraceError =>
  new MillraceError('MR_HOST_PORT_MISSING', { plugin: plugin.name, port: tokenName(port as AnyToken) })
