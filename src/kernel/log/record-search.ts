import { baseOffsetOf, batchBytesOf, lastOffsetOf, leaderEpochOf, newestTimestampOf } from '../record/batch-header.ts'
import { type BatchReader } from '../record/batch-reader.ts'
import { type TimestampHit } from '../ports/partition-log.ts'

/** The records that a search may find: `startOffset <= offset < endOffset`. */
export interface OffsetRange {
  readonly startOffset: number
  readonly endOffset: number
}

/**
 * The first record in the whole batches `bytes[at, end)` that lies in the range and has a timestamp at or above `timestampMs`. Only the
 * batch that holds it is opened, and those whose maximum is at an offset outside of the range.
 */
export function firstRecordSince(
  bytes: Uint8Array, at: number, end: number, timestampMs: number, range: OffsetRange, reader: BatchReader,
): TimestampHit | undefined {
  for (let position = at; position < end && baseOffsetOf(bytes, position) < range.endOffset; position += batchBytesOf(bytes, position)) {
    if (newestTimestampOf(bytes, position) < timestampMs) continue
    reader.open(bytes, position)
    while (reader.next()) {
      if (reader.timestamp < timestampMs || reader.offset < range.startOffset) continue
      if (reader.offset >= range.endOffset) return undefined
      return { offset: reader.offset, timestamp: reader.timestamp, leaderEpoch: leaderEpochOf(bytes, position) }
    }
  }
  return undefined
}

/**
 * The record of the largest timestamp in the whole batches `bytes[at, end)` and the range, the first of equals; `best` if none is larger
 * than that one. Opens the batch that holds it, and those that lie partly outside of the range.
 */
export function newestRecord(
  bytes: Uint8Array, at: number, end: number, range: OffsetRange, reader: BatchReader, best: TimestampHit | undefined,
): TimestampHit | undefined {
  let found = best
  let newest = -1
  let timestamp = best?.timestamp ?? -1
  for (let position = at; position < end && baseOffsetOf(bytes, position) < range.endOffset; position += batchBytesOf(bytes, position)) {
    if (newestTimestampOf(bytes, position) <= timestamp) continue
    if (baseOffsetOf(bytes, position) >= range.startOffset && lastOffsetOf(bytes, position) < range.endOffset) {
      newest = position
      timestamp = newestTimestampOf(bytes, position)
      continue
    }
    const hit = newestOfBatch(bytes, position, range, reader)
    if (hit === undefined || hit.timestamp <= timestamp) continue
    found = hit
    newest = -1
    timestamp = hit.timestamp
  }
  return newest < 0 ? found : newestOfBatch(bytes, newest, range, reader) ?? found
}

/** The record of the largest timestamp in one batch and the range, the first of equals. Undefined when all have none (-1). */
export function newestOfBatch(bytes: Uint8Array, at: number, range: OffsetRange, reader: BatchReader): TimestampHit | undefined {
  let offset = -1
  let timestamp = -1
  reader.open(bytes, at)
  while (reader.next()) {
    if (reader.timestamp <= timestamp || reader.offset < range.startOffset || reader.offset >= range.endOffset) continue
    offset = reader.offset
    timestamp = reader.timestamp
  }
  return offset < 0 ? undefined : { offset, timestamp, leaderEpoch: leaderEpochOf(bytes, at) }
}
