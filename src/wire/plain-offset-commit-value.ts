import { BytesReader } from '../base/bytes-reader.ts'
import { uuidOfWords, zeroUuid } from '../base/uuid.ts'
import { readInt16, readInt32, readInt64 } from '../kernel/record/batch-header.ts'
import { type OffsetCommitValue } from './group-records.ts'
import { readText } from './schema/text-cache.ts'

/** What `decodeOffsetCommitValue` gives, to be written to. */
type Fields = { -readonly [Field in keyof OffsetCommitValue]: OffsetCommitValue[Field] }

/** Before the metadata: version, offset, leader epoch. */
const metadataAt = 14
/** Behind the metadata: when it was committed. */
const timestampBytes = 8
/** Behind that, of a value with the id of its topic: one field, of tag 0 and 16 bytes. */
const topicIdBytes = 19

/** Overwritten by each call of `readPlainOffsetCommit`. */
export const plainOffsetCommit: Fields = { offset: -1, leaderEpoch: -1, metadata: '', commitTimestamp: -1, expireTimestamp: -1, topicId: zeroUuid }

/**
 * Reads a value of `__consumer_offsets` as brokers write nearly all of them, version 3 or 4, into `plainOffsetCommit`: the same as `decodeOffsetCommitValue`, and nothing is allocated for it. False for any other
 * value, and for one that is not as it should be: that is for `decodeOffsetCommitValue`.
 */
export function readPlainOffsetCommit(data: Uint8Array): boolean {
  if (data.length < metadataAt + 1 + timestampBytes) return false
  const version = readInt16(data, 0)
  if (version !== 3 && version !== 4) return false
  const length = version === 4 ? data[metadataAt]! - 1 : readInt16(data, metadataAt)
  // Longer text of version 4 has a longer length.
  if (length < 0 || (version === 4 && length > 126)) return false
  const textAt = metadataAt + (version === 4 ? 1 : 2)
  const timestampAt = textAt + length
  const end = timestampAt + timestampBytes
  if (!isPlainEnd(data, end, version)) return false
  const offset = naturalAt(data, 2)
  const commitTimestamp = naturalAt(data, timestampAt)
  if (offset < 0 || commitTimestamp < 0) return false
  plainOffsetCommit.offset = offset
  plainOffsetCommit.leaderEpoch = readInt32(data, 10)
  plainOffsetCommit.metadata = length === 0 ? '' : readText(new BytesReader(data, textAt, timestampAt), length)
  plainOffsetCommit.commitTimestamp = commitTimestamp
  plainOffsetCommit.topicId = end + topicIdBytes === data.length
    ? uuidOfWords(readInt32(data, end + 3), readInt32(data, end + 7), readInt32(data, end + 11), readInt32(data, end + 15))
    : zeroUuid
  return true
}

/** Version 3 ends there. Version 4 has its tagged fields: none, or the topic's id. */
function isPlainEnd(data: Uint8Array, end: number, version: number): boolean {
  if (version === 3) return end === data.length
  if (end + 1 === data.length) return data[end] === 0
  return end + topicIdBytes === data.length && data[end] === 1 && data[end + 1] === 0 && data[end + 2] === 16
}

/** -1 for what is negative, or beyond 2^53 - 1. */
function naturalAt(data: Uint8Array, at: number): number {
  return (readInt32(data, at) >>> 0) > 0x1f_ffff ? -1 : readInt64(data, at)
}
