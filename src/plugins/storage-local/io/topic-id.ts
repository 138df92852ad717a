import { uuidBytes, type Uuid } from '../../../base/uuid.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { sumHeaderBytes, topicIdBytesOf } from '../core/batch-sums.ts'
import { parsePartitionMetadata } from '../core/partition-metadata.ts'
import { readWhole } from './index-file.ts'

export interface FoundTopicId {
  readonly topicId: Uuid | undefined
  /** The checksums of a segment are of another topic than `partition.metadata`, so that there is no telling. */
  readonly isDoubtful: boolean
}

/** Of which topic a partition's directory is, as its `partition.metadata` says and the checksums beside its first segment do not deny. */
export function readTopicId(files: FileSystem, directory: string): FoundTopicId {
  const text = readWhole(files, `${directory}/partition.metadata`)
  const topicId = text === undefined ? undefined : parsePartitionMetadata(new TextDecoder().decode(text))
  if (topicId === undefined) return { topicId, isDoubtful: false }
  const expected = uuidBytes(topicId).slice()
  const sums = files.list(directory).filter(name => name.endsWith('.sum'))
  // Of the first and the last: one of them may be what is wrong.
  const named = [...new Set([sums[0], sums.at(-1)])].map(name => name === undefined ? undefined : topicIdIn(files, `${directory}/${name}`)).filter(id => id !== undefined)
  const isDoubtful = named.length > 0 && !named.some(id => id.every((byte, index) => byte === expected[index]))
  return { topicId: isDoubtful ? undefined : topicId, isDoubtful }
}

function topicIdIn(files: FileSystem, path: string): Uint8Array | undefined {
  if (files.stat(path)?.kind !== 'file') return undefined
  const file = files.open(path, 'read')
  try {
    const header = new Uint8Array(sumHeaderBytes)
    return file.read(header, 0, header.length, 0) < header.length ? undefined : topicIdBytesOf(header)
  } finally {
    file.close()
  }
}
