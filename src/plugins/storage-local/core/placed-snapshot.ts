import { crc32c } from '../../../base/crc32c.ts'
import { type PartitionId } from '../../../kernel/model/ids.ts'
import { putInt32, readInt32 } from '../../../kernel/record/batch-header.ts'

const checksumAt = 2
const coveredFrom = 6
const countAt = 6
const entriesAt = 10
const entryBytes = 46
const trailerBytes = 8
const magic = 0x4d_52_50_4c

/**
 * A producer snapshot that says whose it is: behind the entries a mark, and the CRC-32C of topic id, partition and offset. Kafka reads as many entries as are
 * announced and has its CRC over whatever follows; without this a snapshot of another log, or of another time, would be as good as the right one.
 */
export function placedSnapshot(snapshot: Uint8Array, id: Pick<PartitionId, 'topicId' | 'partition'>, offset: number): Uint8Array {
  const bytes = new Uint8Array(snapshot.length + trailerBytes)
  bytes.set(snapshot)
  putInt32(bytes, snapshot.length, magic)
  putInt32(bytes, snapshot.length + 4, placeOf(id, offset))
  putInt32(bytes, checksumAt, crc32c(bytes, coveredFrom))
  return bytes
}

/** Whether the snapshot is of this log and offset, or does not say; its own CRC is for its reader. */
export function snapshotInPlace(bytes: Uint8Array, id: Pick<PartitionId, 'topicId' | 'partition'>, offset: number): boolean {
  if (bytes.length < entriesAt) return false
  const end = entriesAt + readInt32(bytes, countAt) * entryBytes
  if (bytes.length !== end + trailerBytes || readInt32(bytes, end) !== magic) return true
  return readInt32(bytes, end + 4) === placeOf(id, offset)
}

function placeOf({ topicId, partition }: Pick<PartitionId, 'topicId' | 'partition'>, offset: number): number {
  return crc32c(new TextEncoder().encode(`${topicId} ${partition} ${offset}`)) | 0
}
