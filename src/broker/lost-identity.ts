import { isMillraceError, MillraceError } from '../kernel/errors/index.ts'
import { type Plugin } from '../kernel/plugin/define-plugin.ts'
import { createHost } from '../kernel/plugin/plugin-host.ts'
import { type AnyToken } from '../kernel/plugin/token.ts'
import { ClusterMetadata } from '../kernel/ports/cluster-metadata.ts'
import { type FileSystem } from '../kernel/ports/file-system.ts'

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
  const error = await metadataRefusal(plugins, pluginSettings)
  if (error !== undefined && !isMillraceError(error, 'MR_CLUSTER_METADATA_FOREIGN')) throw error as Error
  const lines = error?.details['lines'] ?? 'version=1, cluster.id=, node.id= and directory.id=, from a backup'
  throw new MillraceError('MR_CLUSTER_META_PROPERTIES_LOST', { paths: directories.join(' and '), partition, lines })
}

export interface EmptyData extends Omit<LostIdentity, 'partition'> {
  /** Of the metadata, which lies elsewhere. */
  readonly metadata: string
  readonly files: FileSystem
}

/**
 * The data directories hold nothing, and there is metadata outside of them: a disk may not be mounted. Nothing may be written there before that is
 * known. Rejects with MR_CLUSTER_DATA_EMPTY where the metadata knows partitions; whatever else is wrong with it the start itself tells.
 */
export async function refuseEmptyData({ plugins, pluginSettings, directories, metadata, files }: EmptyData): Promise<void> {
  if (files.stat(metadata)?.kind !== 'directory') return
  const error = await metadataRefusal(plugins, pluginSettings)
  if (!isMillraceError(error, 'MR_CLUSTER_METADATA_FOREIGN') || error.details['partitions'] === 0) return
  throw new MillraceError('MR_CLUSTER_DATA_EMPTY', { ...error.details, paths: directories.join(' and '), metadata })
}

/** What the metadata's start ends with, without anything beside it. */
async function metadataRefusal(plugins: LostIdentity['plugins'], pluginSettings: LostIdentity['pluginSettings']): Promise<unknown> {
  const needed = neededFor(ClusterMetadata, plugins)
  const settings = Object.fromEntries(Object.entries(pluginSettings).filter(([name]) => needed.some((plugin) => plugin.name === name)))
  const host = createHost({ plugins: needed, settings })
  try {
    await host.start()
    return undefined
  } catch (error) {
    return error
  } finally {
    await host.stop()
  }
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
