import { isMillraceError, MillraceError } from '../kernel/errors/index.ts'
import { type Plugin } from '../kernel/plugin/define-plugin.ts'
import { createHost } from '../kernel/plugin/plugin-host.ts'
import { type AnyToken } from '../kernel/plugin/token.ts'
import { ClusterMetadata } from '../kernel/ports/cluster-metadata.ts'

export interface LostIdentity {
  readonly plugins: readonly Plugin[]
  readonly pluginSettings: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly directories: readonly string[]
  /** The directory of one of the partitions. */
  readonly partition: string
}

/**
 * The data directories hold partitions, and no `meta.properties` says whose they are. Nothing may be written there before that is known: so
 * only what the metadata needs is started, to learn which cluster it is of, and the error says what the file has to be. Always rejects.
 */
export async function refuseLostIdentity({ plugins, pluginSettings, directories, partition }: LostIdentity): Promise<never> {
  const needed = neededFor(ClusterMetadata, plugins)
  const settings = Object.fromEntries(Object.entries(pluginSettings).filter(([name]) => needed.some((plugin) => plugin.name === name)))
  const host = createHost({ plugins: needed, settings })
  let known: MillraceError['details'] = { lines: 'version=1, cluster.id=, node.id= and directory.id=, from a backup' }
  try {
    await host.start()
  } catch (error) {
    if (!isMillraceError(error, 'MR_CLUSTER_METADATA_FOREIGN')) throw error
    known = error.details
  } finally {
    await host.stop()
  }
  throw new MillraceError('MR_CLUSTER_META_PROPERTIES_LOST', { paths: directories.join(' and '), partition, lines: known.lines })
}

/** The plugins that provide a port and all that it needs, in their order. */
function neededFor(port: AnyToken, plugins: readonly Plugin[]): readonly Plugin[] {
  const needed = new Set<Plugin>()
  const visit = (wanted: unknown): void => {
    const provider = plugins.find((plugin) => plugin.provides?.some((provided) => provided === wanted))
    if (provider === undefined || needed.has(provider)) return
    needed.add(provider)
    for (const need of provider.requires ?? []) visit(need)
  }
  visit(port)
  return plugins.filter((plugin) => needed.has(plugin))
}
