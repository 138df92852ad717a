import { nearestName } from '../base/suggestion.ts'
import { isMillraceError, MillraceError } from '../kernel/errors/millrace-error.ts'
import { type Plugin } from '../kernel/plugin/define-plugin.ts'
import { importModule, resolvePath } from '../platform/module-loader.ts'
import { type BrokerOptions, type PluginChoice, type PresetName } from './broker-options.ts'
import { throwFault, type FaultSink } from './config-fault.ts'

/** Our own plugins by name, each imported only when a composition has it. */
const catalog: Readonly<Record<string, () => Promise<{ readonly plugin: Plugin }>>> = {
  'observability': () => import('../plugins/observability/index.ts'),
  'admin-http': () => import('../plugins/admin-http/index.ts'),
  'storage-local': () => import('../plugins/storage-local/index.ts'),
  'storage-memory': () => import('../plugins/storage-memory/index.ts'),
  'retention': () => import('../plugins/retention/index.ts'),
  'coordination-single': () => import('../plugins/coordination-single/index.ts'),
  'cluster-metadata': () => import('../plugins/cluster-metadata/index.ts'),
  'replication-single': () => import('../plugins/replication-single/index.ts'),
  'coordinator-group': () => import('../plugins/coordinator-group/index.ts'),
  'protocol-kafka': () => import('../plugins/protocol-kafka/index.ts'),
}

const common = ['observability', 'retention', 'coordination-single', 'cluster-metadata', 'replication-single', 'coordinator-group', 'protocol-kafka', 'admin-http']

/** Which plugins a preset is made of. Their order is the order of contributions of equal standing. */
export const presets: Readonly<Record<PresetName, readonly string[]>> = {
  'single-node': ['storage-local', ...common],
  'memory': ['storage-memory', ...common],
}

export interface LoadedPlugin {
  readonly plugin: Plugin
  /** The package or path that it came from; undefined for one that was given as an object. */
  readonly use: string | undefined
  /** Of the preset, or which of `plugins` it is. */
  readonly isOfPreset: boolean
  /** The name of the preset's plugin that it stands for. */
  readonly instead: string | undefined
}

/**
 * Loads the plugins of a composition. `directory` is where names of packages and relative paths are resolved from. `onFault` is told of each that
 * cannot be had, with the key of the options that names it.
 */
export async function loadPlugins(options: BrokerOptions, directory: string, onFault: FaultSink = throwFault): Promise<readonly LoadedPlugin[]> {
  const names = presets[options.preset ?? 'single-node']
  const replacements = new Map<string, Wanted>()
  const additions: Wanted[] = []
  for (const [index, choice] of (options.plugins ?? []).entries()) {
    const key = `plugins.${index}`
    if (!isReplacement(choice)) additions.push({ key, use: choice })
    else if (isOfPreset(choice.instead, names, key, onFault)) replacements.set(choice.instead, { key, ...choice })
  }
  const without = (options.without ?? []).filter((name, index) => isOfPreset(name, names, `without.${index}`, onFault))
  const chosen = names.filter((name) => !without.includes(name)).map((name): Wanted => replacements.get(name) ?? { key: 'preset', use: name })
  const loaded = await Promise.all([...chosen, ...additions].map(async ({ key, use, instead }): Promise<LoadedPlugin | undefined> => {
    try {
      return { plugin: await load(use, directory), use: typeof use === 'string' ? use : undefined, isOfPreset: key === 'preset', instead }
    } catch (error) {
      if (!isMillraceError(error)) throw error
      onFault(error, key)
      return undefined
    }
  }))
  return loaded.filter((each) => each !== undefined)
}

interface Wanted {
  readonly use: string | Plugin
  /** Where the options name it, or `preset`. */
  readonly key: string
  readonly instead?: string
}

async function load(use: string | Plugin, directory: string): Promise<Plugin> {
  if (typeof use !== 'string') return use
  const own = catalog[use]
  if (own !== undefined) return (await own()).plugin
  const module = await importPlugin(use, directory)
  const plugin = module['plugin'] ?? (module['default'] as Record<string, unknown> | undefined)?.['plugin'] ?? module['default']
  if (typeof plugin === 'object' && plugin !== null && 'register' in plugin) return plugin as Plugin
  throw new MillraceError('MR_HOST_PLUGIN_INVALID', { plugin: use, reason: 'the module has no export `plugin` made by definePlugin' })
}

async function importPlugin(name: string, directory: string): Promise<Record<string, unknown>> {
  try {
    return await importModule(name, directory)
  } catch (error) {
    const near = nearestName(name, Object.keys(catalog))
    const suggestion = near === undefined ? '; install it, or correct its name in the configuration' : `; did you mean ${near}?`
    throw new MillraceError('MR_HOST_PLUGIN_NOT_FOUND', { plugin: name, ...reasonAndSuggestion(name, directory, error, suggestion) }, error)
  }
}

const linkedRemedy = '; a package that npm has only linked does not see those beside its link: install its folder with `npm install --install-links PATH`, with millrace among its peerDependencies'

/** A module that is not there, and one that is there and fails, are two things to look for. */
function reasonAndSuggestion(name: string, directory: string, error: unknown, suggestion: string): { reason: string, suggestion: string } {
  const text = (error instanceof Error ? error.message : String(error)).split('\n')[0]!
  const path = resolvePath(directory, name)
  // Of a module that is there, another that it imports may be missing.
  // A linked package finds what it imports from where it lies, and not from where it is used.
  const own = /Cannot find (?:package|module) '(millrace)(?:\/[^']*)?'/.exec(text)
  if (isMissing(error) && own !== null && name !== own[1]) {
    const suggestion = /^[./]/.test(name) ? '; install millrace in the folder of that file, or of one above it' : linkedRemedy
    return { reason: `it cannot be loaded: ${text}`, suggestion }
  }
  if (!isMissing(error) || !(text.includes(`'${name}'`) || text.includes(`${path}'`))) return { reason: `it cannot be loaded: ${text}`, suggestion: '' }
  if (/^[./]/.test(name)) return { reason: `there is no file ${path}`, suggestion: '; correct its path in the configuration' }
  return { reason: `no package of that name is installed in ${directory}`, suggestion }
}

const isMissing = (error: unknown): boolean => /^(ERR_)?MODULE_NOT_FOUND$/.test(String((error as NodeJS.ErrnoException | undefined)?.code))

const isReplacement = (choice: PluginChoice): choice is Extract<PluginChoice, { readonly instead: string }> =>
  typeof choice === 'object' && 'use' in choice

function isOfPreset(name: string, names: readonly string[], key: string, onFault: FaultSink): boolean {
  if (names.includes(name)) return true
  const near = nearestName(name, names)
  onFault(new MillraceError('MR_HOST_PLUGIN_NOT_FOUND', {
    plugin: name, reason: 'the preset does not have it', suggestion: near === undefined ? `; it has ${names.join(', ')}` : `; did you mean ${near}?`,
  }), key)
  return false
}
