import { type Uuid } from '../../../base/uuid.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { batchHeaderBytes } from '../../../kernel/record/batch-header.ts'
import { batchSum, decodeSumHeader, entryPosition, entrySum, seedOf, sumEntryBytes, sumHeaderBytes } from '../core/batch-sums.ts'
import { parsePartitionMetadata } from '../core/partition-metadata.ts'
import { parseSegmentFileName } from '../core/segment-name.ts'
import { readWhole } from './index-file.ts'

/** Of so many batches one has to be what the checksums say. */
const entriesTried = 64

export interface FoundTopicId {
  readonly topicId: Uuid | undefined
  /** Why what `partition.metadata` says is in doubt; undefined where it is not. */
  readonly doubt: string | undefined
}

/** What else is known of a partition's directory. */
export interface Witnesses {
  readonly partition: number
  /** Checksums of segments that begin below are on the disk as they were written; others may be anything that a power cut has left. */
  readonly sumsSyncedTo: number
  /** Of which topic the directory's name is, as the data directory says. */
  readonly named: Uuid | undefined
  /** Whether the redo log has records of this partition of a topic, and does not say that it was removed. */
  readonly isInRedo: (topicId: Uuid) => boolean
}

/**
 * Of which topic a partition's directory is, as its `partition.metadata` says and the checksums beside its first and last segments do not deny. They deny it where they are of another
 * partition and the batches beside them are what they say. What a power cut may have torn denies it only where the data directory knows the name as that topic's; so does the redo log.
 */
export function readTopicId(files: FileSystem, directory: string, { partition, sumsSyncedTo, named, isInRedo }: Witnesses): FoundTopicId {
  const text = readWhole(files, `${directory}/partition.metadata`)
  const topicId = text === undefined ? undefined : parsePartitionMetadata(new TextDecoder().decode(text))
  if (topicId === undefined) return { topicId, doubt: undefined }
  const sums = files.list(directory).filter(name => name.endsWith('.sum'))
  const synced = sums.filter(name => (parseSegmentFileName(name)?.offset ?? Infinity) < sumsSyncedTo)
  let doubt = named !== undefined && named !== topicId && isInRedo(named) ? `its partition.metadata says ${topicId}, and the redo log has records of ${named}, whose it was` : undefined
  // Of the first and the last: one of them may be what is wrong.
  for (const name of new Set([synced[0], synced.at(-1), sums[0], sums.at(-1)])) {
    const bytes = name === undefined ? undefined : beginOf(files, `${directory}/${name}`)
    const said = bytes === undefined ? undefined : decodeSumHeader(bytes)
    if (said === undefined) continue
    if (said.topicId === topicId && said.partition === partition) return { topicId, doubt: undefined }
    const isBelieved = synced.includes(name!) ? holdForBatch(files, `${directory}/${name!.replace(/\.sum$/, '.log')}`, bytes!) : said.topicId === named && said.partition === partition
    if (isBelieved) doubt ??= `its partition.metadata says ${topicId}, and its checksums are of partition ${said.partition} of ${said.topicId}`
  }
  return { topicId: doubt === undefined ? topicId : undefined, doubt }
}

function beginOf(files: FileSystem, path: string): Uint8Array | undefined {
  if (files.stat(path)?.kind !== 'file') return undefined
  const file = files.open(path, 'read')
  try {
    const bytes = new Uint8Array(sumHeaderBytes + entriesTried * sumEntryBytes)
    return bytes.subarray(0, file.read(bytes, 0, bytes.length, 0))
  } finally {
    file.close()
  }
}

/** Whether a batch of the segment is what these checksums say. */
function holdForBatch(files: FileSystem, path: string, sums: Uint8Array): boolean {
  if (files.stat(path)?.kind !== 'file') return false
  const file = files.open(path, 'read')
  const batch = new Uint8Array(batchHeaderBytes)
  try {
    for (let at = sumHeaderBytes; at + sumEntryBytes <= sums.length; at += sumEntryBytes) {
      const position = entryPosition(sums, at)
      if (file.read(batch, 0, batchHeaderBytes, position) === batchHeaderBytes && batchSum(batch, 0, position, seedOf(sums)) === entrySum(sums, at)) return true
    }
    return false
  } finally {
    file.close()
  }
}
