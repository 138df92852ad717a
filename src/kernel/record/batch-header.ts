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

export const magicAt = 16
export const attributesAt = 21
export const recordsCountAt = 57

export const attributeCodecMask = 0x07
export const attributeLogAppendTime = 0x08
export const attributeTransactional = 0x10
export const attributeControl = 0x20
export const attributeDeleteHorizon = 0x40

const maxSequence = 0x7fff_ffff

export function readInt16(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) >> 16) | bytes[at + 1]!
}

export function readInt32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

/** Exact within ±(2^53 - 1), rounded beyond. */
export function readInt64(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at) * 0x1_0000_0000 + (readInt32(bytes, at + 4) >>> 0)
}

export function putInt16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >> 8
  bytes[at + 1] = value
}

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

export const baseOffsetOf = (bytes: Uint8Array, at: number): number => readInt64(bytes, at)
/** Bytes of the whole batch, this prefix included. */
export const batchBytesOf = (bytes: Uint8Array, at: number): number => batchPrefixBytes + readInt32(bytes, at + 8)
export const leaderEpochOf = (bytes: Uint8Array, at: number): number => readInt32(bytes, at + 12)
export const magicOf = (bytes: Uint8Array, at: number): number => bytes[at + magicAt]!
/** As stored, unsigned. */
export const crcOf = (bytes: Uint8Array, at: number): number => readInt32(bytes, at + 17) >>> 0
export const attributesOf = (bytes: Uint8Array, at: number): number => readInt16(bytes, at + attributesAt)
/** 0 to 7; whether it is a known one, `isCodec` says. */
export const codecOf = (bytes: Uint8Array, at: number): CompressionCodec =>
  (bytes[at + attributesAt + 1]! & attributeCodecMask) as CompressionCodec
export const isLogAppendTime = (bytes: Uint8Array, at: number): boolean => (bytes[at + attributesAt + 1]! & attributeLogAppendTime) !== 0
export const isTransactional = (bytes: Uint8Array, at: number): boolean => (bytes[at + attributesAt + 1]! & attributeTransactional) !== 0
export const isControl = (bytes: Uint8Array, at: number): boolean => (bytes[at + attributesAt + 1]! & attributeControl) !== 0
export const hasDeleteHorizon = (bytes: Uint8Array, at: number): boolean => (bytes[at + attributesAt + 1]! & attributeDeleteHorizon) !== 0
export const lastOffsetDeltaOf = (bytes: Uint8Array, at: number): number => readInt32(bytes, at + 23)
export const lastOffsetOf = (bytes: Uint8Array, at: number): number => readInt64(bytes, at) + readInt32(bytes, at + 23)
/** What record timestamps are relative to; with a delete horizon it is that time (KIP-534). */
export const baseTimestampOf = (bytes: Uint8Array, at: number): number => readInt64(bytes, at + 27)
export const maxTimestampOf = (bytes: Uint8Array, at: number): number => readInt64(bytes, at + 35)
export const producerIdOf = (bytes: Uint8Array, at: number): number => readInt64(bytes, at + 43)
export const producerEpochOf = (bytes: Uint8Array, at: number): number => readInt16(bytes, at + 51)
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
