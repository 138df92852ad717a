import { EpochHistory } from '../../../kernel/log/epoch-history.ts'
import { CheckpointTextError } from '../../../kernel/log/checkpoint-text.ts'
import { zeroUuid, type Uuid } from '../../../kernel/model/ids.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { parseMetaProperties, type MetaProperties } from '../core/meta-properties.ts'
import { parsePartitionMetadata } from '../core/partition-metadata.ts'
import { planKey } from '../core/redo-history.ts'
import { parsePartitionDirectory, parseSegmentFileName } from '../core/segment-name.ts'
import { readWhole } from './index-file.ts'
import { newerOf, newestIdsInRedo, newestIdsOf, noIds } from './newest-ids.ts'

/** A partition directory as it lies there, in service. */
export interface FoundPartition {
  readonly path: string
  readonly topic: string
  readonly partition: number
  /** Undefined: its `partition.metadata` is gone or cannot be read. */
  readonly topicId: Uuid | undefined
  /** The largest that its files and the redo log say. Undefined where neither can be read. */
  readonly leaderEpoch: number | undefined
  /** The largest that its files and the redo log say; -1 for none. */
  readonly producerId: number
  /** Of its segments. */
  readonly bytes: number
}

const decoder = new TextDecoder()

/** Reads only. Directories that were taken out of service (deleted, stray) are not given. */
export function findPartitions(files: FileSystem, dataDirectory: string): FoundPartition[] {
  const found: FoundPartition[] = []
  const inRedo = newestIdsInRedo(files, dataDirectory)
  for (const name of files.list(dataDirectory)) {
    const parsed = parsePartitionDirectory(name)
    const path = `${dataDirectory}/${name}`
    if (parsed === undefined || parsed.state !== undefined || parsed.topic.startsWith('__cluster_metadata') || files.stat(path)?.kind !== 'directory') continue
    const topicId = topicIdIn(files, path)
    const filedEpoch = epochIn(files, path)
    const { leaderEpoch, producerId } = newerOf(newestIdsOf(files, path), inRedo.get(planKey(topicId ?? zeroUuid, parsed.partition)) ?? noIds)
    const isKnown = filedEpoch !== undefined || leaderEpoch >= 0
    found.push({
      path, topic: parsed.topic, partition: parsed.partition, topicId, leaderEpoch: isKnown ? Math.max(filedEpoch ?? -1, leaderEpoch) : undefined, producerId, bytes: segmentBytes(files, path),
    })
  }
  return found
}

/** Undefined when there is none that can be read. */
export function findMetaProperties(files: FileSystem, dataDirectory: string): MetaProperties | undefined {
  const bytes = readWhole(files, `${dataDirectory}/meta.properties`)
  return bytes === undefined ? undefined : parseMetaProperties(decoder.decode(bytes))
}

function topicIdIn(files: FileSystem, path: string): Uuid | undefined {
  const bytes = readWhole(files, `${path}/partition.metadata`)
  return bytes === undefined ? undefined : parsePartitionMetadata(decoder.decode(bytes))
}

function epochIn(files: FileSystem, path: string): number | undefined {
  const bytes = readWhole(files, `${path}/leader-epoch-checkpoint`)
  if (bytes === undefined) return undefined
  const history = new EpochHistory()
  try {
    history.load(decoder.decode(bytes))
  } catch (error) {
    if (error instanceof CheckpointTextError) return undefined
    throw error
  }
  return history.lastEpoch
}

function segmentBytes(files: FileSystem, path: string): number {
  let bytes = 0
  for (const name of files.list(path)) {
    const parsed = parseSegmentFileName(name)
    if (parsed?.suffix === '.log' && parsed.stage === undefined) bytes += files.stat(`${path}/${name}`)?.bytes ?? 0
  }
  return bytes
}
