import { crc32c } from '../../base/crc32c.ts'
import { type CompressionCodec } from './compression-codec.ts'

/**
 * The header of a record batch, magic 2, where it lies: functions over (bytes, position of the batch), without objects. None of them
 * checks that 61 bytes are there. 64-bit fields are read as numbers; where a value may be beyond ±(2^53 - 1) because a client wrote it,
 * `BatchCheck` refuses the batch.
 */

/** Bytes of a batch before its records. */
export const batchHeaderBytes = 61
/** Base offset and length: the length counts what follows them. */
export const batchPrefixBytes = 12
/** The CRC covers all from here; the base offset, length, leader epoch and magic before it are not covered. */
export const batchChecksumStart = 21

/** Where the magic byte is in a batch, from its first byte on: 2 is the only format that is served. */
export const magicAt = 16
/** Where the attributes are, two bytes. */
export const attributesAt = 21
/** Where the number of records is, four bytes. */
export const recordsCountAt = 57

/** The bits of the attributes that have the codec. */
export const attributeCodecMask = 0x07
/** The bit of batches whose timestamps are the broker's. */
export const attributeLogAppendTime = 0x08
/** The bit of batches that belong to a transaction. */
export const attributeTransactional = 0x10
/** The bit of batches that brokers write: the ends of transactions. */
export const attributeControl = 0x20
/** The bit of batches whose base timestamp is the time at which their tombstones may go. */
export const attributeDeleteHorizon = 0x40

const maxSequence = 0x7fff_ffff

/** Big-endian, signed. Reads beyond the end give a wrong number, and do not throw: the caller has checked the length. */
export function readInt16(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) >> 16) | bytes[at + 1]!
}

/** Big-endian, signed. Reads beyond the end give a wrong number, and do not throw: the caller has checked the length. */
export function readInt32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

/** Exact within ±(2^53 - 1), rounded beyond. */
export function readInt64(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at) * 0x1_0000_0000 + (readInt32(bytes, at + 4) >>> 0)
}

/** Big-endian; the lower 16 bits. */
export function putInt16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >> 8
  bytes[at + 1] = value
}

/** Big-endian; the lower 32 bits. */
export function putInt32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >> 24
  bytes[at + 1] = value >> 16
  bytes[at + 2] = value >> 8
  bytes[at + 3] = value
}

/** `value` is a safe integer. */
export function putInt64(bytes: Uint8Array, at: number, value: number): void {
  putInt32(bytes, at, Math.floor(value / 0x1_0000_0000))
  putInt32(bytes, at + 4, value | 0)
}

/** The offset of the first record, or of one that compaction has taken from before it. `at` is where the batch begins. */
export const baseOffsetOf = (bytes: Uint8Array, at: number): number => readInt64(bytes, at)
/** Bytes of the whole batch, this prefix included. */
export const batchBytesOf = (bytes: Uint8Array, at: number): number => batchPrefixBytes + readInt32(bytes, at + 8)
/** Of the leader that appended it; before the append, whatever its producer sent. `at` is where the batch begins. */
export const leaderEpochOf = (bytes: Uint8Array, at: number): number => readInt32(bytes, at + 12)
/** The version of the format. `at` is where the batch begins. */
export const magicOf = (bytes: Uint8Array, at: number): number => bytes[at + magicAt]!
/** As stored, unsigned. */
export const crcOf = (bytes: Uint8Array, at: number): number => readInt32(bytes, at + 17) >>> 0
/** All 16 bits. `at` is where the batch begins. */
export const attributesOf = (bytes: Uint8Array, at: number): number => readInt16(bytes, at + attributesAt)
/** 0 to 7; whether it is a known one, `isCodec` says. */
export const codecOf = (bytes: Uint8Array, at: number): CompressionCodec =>
  (bytes[at + attributesAt + 1]! & attributeCodecMask) as CompressionCodec
/** Whether the timestamps are those of the append. `at` is where the batch begins. */
export const isLogAppendTime = (bytes: Uint8Array, at: number): boolean => (bytes[at + attributesAt + 1]! & attributeLogAppendTime) !== 0
/** Whether it belongs to a transaction. `at` is where the batch begins. */
export const isTransactional = (bytes: Uint8Array, at: number): boolean => (bytes[at + attributesAt + 1]! & attributeTransactional) !== 0
/** Whether it has a marker, and no records of producers. `at` is where the batch begins. */
export const isControl = (bytes: Uint8Array, at: number): boolean => (bytes[at + attributesAt + 1]! & attributeControl) !== 0
/** Whether it says when its tombstones may go. `at` is where the batch begins. */
export const hasDeleteHorizon = (bytes: Uint8Array, at: number): boolean => (bytes[at + attributesAt + 1]! & attributeDeleteHorizon) !== 0
/** The last offset less the base offset; compaction leaves it as it was. `at` is where the batch begins. */
export const lastOffsetDeltaOf = (bytes: Uint8Array, at: number): number => readInt32(bytes, at + 23)
/** The offset of the last record, or of one that compaction has taken from behind it. `at` is where the batch begins. */
export const lastOffsetOf = (bytes: Uint8Array, at: number): number => readInt64(bytes, at) + readInt32(bytes, at + 23)
/** What record timestamps are relative to; with a delete horizon it is that time (KIP-534). */
export const baseTimestampOf = (bytes: Uint8Array, at: number): number => readInt64(bytes, at + 27)
/** The largest timestamp of its records, milliseconds since the epoch; -1 where there is none. `at` is where the batch begins. */
export const maxTimestampOf = (bytes: Uint8Array, at: number): number => readInt64(bytes, at + 35)
/** -1 for a producer without idempotence. `at` is where the batch begins. */
export const producerIdOf = (bytes: Uint8Array, at: number): number => readInt64(bytes, at + 43)
/** -1 for a producer without idempotence. `at` is where the batch begins. */
export const producerEpochOf = (bytes: Uint8Array, at: number): number => readInt16(bytes, at + 51)
/** The sequence number of the first record; -1 for a producer without idempotence. `at` is where the batch begins. */
export const baseSequenceOf = (bytes: Uint8Array, at: number): number => readInt32(bytes, at + 53)
/** 0 after compaction has taken all records of a batch (quirk 39). */
export const recordsCountOf = (bytes: Uint8Array, at: number): number => readInt32(bytes, at + recordsCountAt)
/** Largest timestamp of the records that are there; -1 without one. An emptied batch keeps that of the records that it had. */
export const newestTimestampOf = (bytes: Uint8Array, at: number): number => recordsCountOf(bytes, at) === 0 ? -1 : maxTimestampOf(bytes, at)

/** The sequence number `count` after `sequence`: 0 follows 2147483647. */
export function sequenceAfter(sequence: number, count: number): number {
  const next = sequence + count
  return next > maxSequence ? next - maxSequence - 1 : next
}

/** Sequence of the last record; -1 when the batch has none. */
export function lastSequenceOf(bytes: Uint8Array, at: number): number {
  const base = baseSequenceOf(bytes, at)
  return base < 0 ? -1 : sequenceAfter(base, lastOffsetDeltaOf(bytes, at))
}

/** The CRC-32C that the bytes of the batch have. */
export function computeCrc(bytes: Uint8Array, at: number): number {
  return crc32c(bytes, at + batchChecksumStart, at + batchBytesOf(bytes, at))
}

/** Whether the bytes of the batch have the CRC that its header says. `at` is where the batch begins. */
export function crcValid(bytes: Uint8Array, at: number): boolean {
  return computeCrc(bytes, at) === crcOf(bytes, at)
}

/** Not covered by the CRC: cheap. */
export function putBaseOffset(bytes: Uint8Array, at: number, offset: number): void {
  putInt64(bytes, at, offset)
}

/** Not covered by the CRC: cheap. */
export function putLeaderEpoch(bytes: Uint8Array, at: number, leaderEpoch: number): void {
  putInt32(bytes, at + 12, leaderEpoch)
}

/** Writes the CRC of the bytes as they are. */
export function putCrc(bytes: Uint8Array, at: number): void {
  putInt32(bytes, at + 17, computeCrc(bytes, at))
}

/** Makes `timeMs` the timestamp of all records (message.timestamp.type=LogAppendTime): the type bit, the maximum and the CRC. */
export function putLogAppendTime(bytes: Uint8Array, at: number, timeMs: number): void {
  bytes[at + attributesAt + 1]! |= attributeLogAppendTime
  putInt64(bytes, at + 35, timeMs)
  putCrc(bytes, at)
}

/** Corrects the maximum timestamp, and the CRC with it; does nothing when it is right already. */
export function putMaxTimestamp(bytes: Uint8Array, at: number, timestamp: number): void {
  if (maxTimestampOf(bytes, at) === timestamp) return
  putInt64(bytes, at + 35, timestamp)
  putCrc(bytes, at)
}
