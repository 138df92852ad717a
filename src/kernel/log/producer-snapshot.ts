import { isBytesError } from '../../base/bytes-error.ts'
import { BytesReader } from '../../base/bytes-reader.ts'
import { BytesWriter } from '../../base/bytes-writer.ts'
import { crc32c } from '../../base/crc32c.ts'
import { type ProducerEntry } from './producer-state.ts'

/*
 * Kafka's `.snapshot`: int16 version 1, uint32 CRC-32C of all from byte 6, int32 count, then 46 bytes an entry:
 * producerId int64, epoch int16, lastSequence int32, lastOffset int64, offsetDelta int32, timestamp int64, coordinatorEpoch int32,
 * currentTxnFirstOffset int64.
 */
const version = 1
const checksumAt = 2
const coveredFrom = 6
const headerBytes = 10
const entryBytes = 46

/** A `.snapshot` file in Kafka's format, version 1, with its CRC. Entries are written in the order given. */
export function encodeProducerSnapshot(entries: readonly ProducerEntry[]): Uint8Array {
  const writer = new BytesWriter(headerBytes + entryBytes * entries.length)
  writer.int16(version)
  writer.uint32(0)
  writer.int32(entries.length)
  for (const entry of entries) {
    writer.int64(entry.producerId)
    writer.int16(entry.epoch)
    writer.int32(entry.lastSequence)
    writer.int64(entry.lastOffset)
    writer.int32(entry.offsetDelta)
    writer.int64(entry.timestamp)
    writer.int32(entry.coordinatorEpoch)
    writer.int64(entry.transactionStart)
  }
  writer.patchUint32(checksumAt, crc32c(writer.written(), coveredFrom))
  return writer.finish()
}

/** Undefined when the bytes are no whole snapshot: another one, or the log itself, has to do. */
export function decodeProducerSnapshot(bytes: Uint8Array): ProducerEntry[] | undefined {
  if (bytes.length < headerBytes) return undefined
  const reader = new BytesReader(bytes)
  if (reader.int16() !== version || reader.uint32() !== crc32c(bytes, coveredFrom)) return undefined
  const count = reader.int32()
  if (count < 0 || reader.remaining < count * entryBytes) return undefined
  try {
    return Array.from({ length: count }, () => readEntry(reader))
  } catch (error) {
    // Numbers beyond 2^53 - 1, under a right checksum: no release of ours writes them.
    if (isBytesError(error)) return undefined
    throw error
  }
}

function readEntry(reader: BytesReader): ProducerEntry {
  return {
    producerId: reader.int64(),
    epoch: reader.int16(),
    lastSequence: reader.int32(),
    lastOffset: reader.int64(),
    offsetDelta: reader.int32(),
    timestamp: reader.int64(),
    coordinatorEpoch: reader.int32(),
    transactionStart: reader.int64(),
  }
}
