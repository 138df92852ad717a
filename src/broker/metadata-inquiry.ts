import { isMillraceError } from '../kernel/errors/index.ts'
import { type Uuid } from '../kernel/model/ids.ts'
import { type Plugin } from '../kernel/plugin/define-plugin.ts'
import { createHost, type PluginHost } from '../kernel/plugin/plugin-host.ts'
import { type AnyToken } from '../kernel/plugin/token.ts'
import { ClusterMetadata } from '../kernel/ports/cluster-metadata.ts'

export interface MetadataInquiry {
  readonly plugins: readonly Plugin[]
  readonly pluginSettings: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Told of what is started, for a stop that comes meanwhile. */
  readonly onHost: (host: Pick<PluginHost, 'stop'> | undefined) => void
}

/** One of the two is undefined. */
export interface MetadataAnswer {
  readonly clusterId: Uuid | undefined
  /** What the metadata's start ended with; MR_CLUSTER_METADATA_FOREIGN says in `found` which cluster it is of. */
  readonly error: unknown
}

/** Starts what the metadata needs, without anything beside it, and stops it again. Metadata that are not there yet are made, of the cluster of the identity. */
export async function askMetadata({ plugins, pluginSettings, onHost }: MetadataInquiry): Promise<MetadataAnswer> {
  const needed = neededFor(ClusterMetadata, plugins)
  const settings = Object.fromEntries(Object.entries(pluginSettings).filter(([name]) => needed.some((plugin) => plugin.name === name)))
  const host = createHost({ plugins: needed, settings })
  onHost(host)
  try {
    await host.start()
    return { clusterId: host.get(ClusterMetadata).image().clusterId, error: undefined }
  } catch (error) {
    return { clusterId: undefined, error }
  } finally {
    await host.stop()
    // What it knew of the cluster takes no memory from here on.
    onHost(undefined)
  }
}

/**
 * The cluster that the metadata is of, of which the data directories say nothing: where the log store keeps no identity there, the metadata alone does. Rejects with
 * what else the metadata's start ends with. Undefined: there is no metadata in the composition.
 */
export async function clusterOfMetadata(inquiry: MetadataInquiry): Promise<Uuid | undefined> {
  if (!inquiry.plugins.some(({ provides }) => provides?.includes(ClusterMetadata))) return undefined
  const { clusterId, error } = await askMetadata(inquiry)
  if (error === undefined) return clusterId
  if (isMillraceError(error, 'MR_CLUSTER_METADATA_FOREIGN')) return error.details['found'] as Uuid
  throw error as Error
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
