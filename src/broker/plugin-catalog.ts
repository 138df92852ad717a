import { nearestName } from '../base/suggestion.ts'
import { MillraceError } from '../kernel/errors/millrace-error.ts'
import { type Plugin } from '../kernel/plugin/define-plugin.ts'
import { importModule } from '../platform/module-loader.ts'
import { type BrokerOptions, type PluginChoice, type PresetName } from './broker-options.ts'

/** Our own plugins by name, each imported only when a composition has it. */
const catalog: Readonly<Record<string, () => Promise<{ readonly plugin: Plugin }>>> = {
  'observability': () => import('../plugins/observability/index.ts'),
  'admin-http': () => import('../plugins/admin-http/index.ts'),
  'storage-local': () => import('../plugins/storage-local/index.ts'),
  'storage-memory': () => import('../plugins/storage-memory/index.ts'),
  'coordination-single': () => import('../plugins/coordination-single/index.ts'),
  'cluster-metadata': () => import('../plugins/cluster-metadata/index.ts'),
  'replication-single': () => import('../plugins/replication-single/index.ts'),
  'protocol-kafka': () => import('../plugins/protocol-kafka/index.ts'),
}

const common = ['observability', 'coordination-single', 'cluster-metadata', 'replication-single', 'protocol-kafka', 'admin-http']

/** Which plugins a preset is made of. Their order is the order of contributions of equal standing. */
export const presets: Readonly<Record<PresetName, readonly string[]>> = {
  'single-node': ['storage-local', ...common],
  'memory': ['storage-memory', ...common],
}

/** Loads the plugins of a composition. `directory` is where names of packages and relative paths are resolved from. */
export async function loadPlugins(options: BrokerOptions, directory: string): Promise<readonly Plugin[]> {
  const names = presets[options.preset ?? 'single-node']
  const replacements = new Map<string, string | Plugin>()
  const additions: (string | Plugin)[] = []
  for (const choice of options.plugins ?? []) {
    if (isReplacement(choice)) replacements.set(choice.instead, choice.use)
    else additions.push(choice)
  }
  for (const name of [...replacements.keys(), ...options.without ?? []]) checkIsOfPreset(name, names)
  const chosen = names
    .filter((name) => !options.without?.includes(name))
    .map((name) => replacements.get(name) ?? name)
  return await Promise.all([...chosen, ...additions].map(async (use) => typeof use === 'string' ? await loadPlugin(use, directory) : use))
}

async function loadPlugin(name: string, directory: string): Promise<Plugin> {
  const own = catalog[name]
  if (own !== undefined) return (await own()).plugin
  let module: Record<string, unknown>
  try {
    module = await importModule(name, directory)
  } catch (error) {
    const near = nearestName(name, Object.keys(catalog))
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`
    throw new MillraceError('MR_HOST_PLUGIN_NOT_FOUND', { plugin: name, reason: `${firstLine(error)}${hint}` }, error)
  }
  const plugin = module['plugin'] ?? (module['default'] as Record<string, unknown> | undefined)?.['plugin'] ?? module['default']
  if (typeof plugin === 'object' && plugin !== null && 'register' in plugin) return plugin as Plugin
  throw new MillraceError('MR_HOST_PLUGIN_INVALID', { plugin: name, reason: 'the package has no export `plugin` made by definePlugin' })
}

const isReplacement = (choice: PluginChoice): choice is Extract<PluginChoice, { readonly instead: string }> =>
  typeof choice === 'object' && 'use' in choice

function checkIsOfPreset(name: string, names: readonly string[]): void {
  if (names.includes(name)) return
  const near = nearestName(name, names)
  throw new MillraceError('MR_HOST_PLUGIN_NOT_FOUND', {
    plugin: name, reason: near === undefined ? `the preset has ${names.join(', ')}` : `the preset does not have it; did you mean ${near}?`,
  })
}

const firstLine = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n')[0]!
