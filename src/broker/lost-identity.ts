import { isMillraceError, MillraceError } from '../kernel/errors/index.ts'
import { type FileSystem } from '../kernel/ports/file-system.ts'
import { askMetadata, type MetadataInquiry } from './metadata-inquiry.ts'

export interface LostIdentity extends MetadataInquiry {
  readonly directories: readonly string[]
  /** The directory of one of the partitions. */
  readonly partition: string
}

/**
 * The data directories hold partitions, and no `meta.properties` says whose they are. Nothing may be written there before that is known: so
 * only what the metadata needs is started, to learn which cluster it is of, and the error says what the file has to be. Always rejects.
 */
export async function refuseLostIdentity({ directories, partition, ...inquiry }: LostIdentity): Promise<never> {
  const { error } = await askMetadata(inquiry)
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
export async function refuseEmptyData({ directories, metadata, files, ...inquiry }: EmptyData): Promise<void> {
  if (files.stat(metadata)?.kind !== 'directory') return
  const { error } = await askMetadata(inquiry)
  if (!isMillraceError(error, 'MR_CLUSTER_METADATA_FOREIGN') || error.details['partitions'] === 0) return
  throw new MillraceError('MR_CLUSTER_DATA_EMPTY', { ...error.details, paths: directories.join(' and '), metadata })
}
