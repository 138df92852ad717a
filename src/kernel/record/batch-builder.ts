import { assert } from '../../base/assert.ts'
import { utf8Length } from '../../base/bytes-writer.ts'
import { varintSize } from '../../base/varint.ts'
import { type Compression } from '../ports/compression.ts'
import {
  attributeControl, attributeDeleteHorizon, attributeLogAppendTime, attributeTransactional, batchHeaderBytes, batchPrefixBytes, magicAt,
  putCrc, putInt16, putInt32, putInt64,
} from './batch-header.ts'
import { type CompressionCodec } from './compression-codec.ts'
import { type RecordHeader } from './log-record.ts'
import { putVarint, putVarlong } from './put-varint.ts'
import { recordLengthMin } from './record-varint.ts'

/** What goes into the header of a batch beside its records. Absent numbers are -1, "none"; absent flags are false. */
export interface BatchFields {
  readonly codec?: CompressionCodec
  readonly compressionLevel?: number | undefined
  readonly baseOffset?: number
  readonly leaderEpoch?: number
  readonly producerId?: number
  readonly producerEpoch?: number
  readonly baseSequence?: number
  readonly transactional?: boolean
  readonly control?: boolean
  /** Stored as the timestamp of all records. */
  readonly logAppendTime?: number
  /** Larger than the last record's when compaction has dropped records behind it. */
  readonly lastOffsetDelta?: number
}

const encoder = new TextEncoder()
const noHeaders: readonly RecordHeader[] = []
/** Length, attributes, timestamp, offset, key length, value length, number of headers, each at its longest. */
const recordOverheadMax = 5 + 1 + 8 + 5 + 5 + 5 + 5
/** Lengths of a header's key and value. */
const headerOverheadMax = 5 + 5
/** Of a UTF-16 unit. */
const utf8BytesMax = 3
/** The length of a batch is a signed 32-bit field. */
const batchBytesMax = 0x7fff_ffff

/**
 * Makes batches, one after another: append records, then finish, then reset. The buffer is kept and grows to the largest batch. It writes
 * what it is given: limits of size and age are the caller's.
 */
export class BatchBuilder {
  private readonly compression: Compression | undefined
  private bytes: Uint8Array
  private at = batchHeaderBytes
  private count = 0
  private lastDelta = -1
  private baseTimestamp = -1
  private maxTimestamp = -1
  private horizonMs = -1

  /** Without a compression only codec 0 can be finished with. */
  constructor(compression?: Compression, initialBytes = 16_384) {
    this.compression = compression
    this.bytes = new Uint8Array(Math.max(initialBytes, batchHeaderBytes))
  }

  get recordsCount(): number {
    return this.count
  }

  /** Bytes of the batch so far, header included, not compressed. */
  get sizeBytes(): number {
    return this.at
  }

  /** Forgets the records. */
  reset(): void {
    this.at = batchHeaderBytes
    this.count = 0
    this.lastDelta = -1
    this.baseTimestamp = -1
    this.maxTimestamp = -1
    this.horizonMs = -1
  }

  /** Marks the batch with the time after which its tombstones may go (KIP-534). Before the first append: it takes the base timestamp's place. */
  setDeleteHorizon(deleteHorizonMs: number): void {
    assert(this.count === 0, 'a delete horizon is set before the first record')
    this.horizonMs = deleteHorizonMs
    this.baseTimestamp = deleteHorizonMs
  }

  /** What `sizeBytes` could be after such an append, at most. */
  sizeWith(key: Uint8Array | null, value: Uint8Array | null, headers: readonly RecordHeader[] = noHeaders): number {
    let size = this.at + recordOverheadMax + (key === null ? 0 : key.length) + (value === null ? 0 : value.length)
    for (const header of headers) size += headerOverheadMax + header.key.length * utf8BytesMax + (header.value === null ? 0 : header.value.length)
    return size
  }

  /**
   * Adds a record and gives its offset delta. Bytes are copied. `timestamp` is in milliseconds, -1 for none. `offsetDelta` is for those who
   * write gaps on purpose (compaction); deltas must grow.
   */
  append(
    timestamp: number, key: Uint8Array | null, value: Uint8Array | null, headers: readonly RecordHeader[] = noHeaders,
    offsetDelta = this.lastDelta + 1,
  ): number {
    assert(offsetDelta > this.lastDelta, 'offset deltas grow')
    if (this.count === 0 && this.horizonMs < 0) this.baseTimestamp = timestamp
    const most = this.sizeWith(key, value, headers)
    if (most > this.bytes.length) this.grow(most)
    const bytes = this.bytes
    const start = this.at
    // The length comes first and is known last: so many bytes are left for it as it most likely takes.
    const width = varintSize(recordLengthMin + (key === null ? 0 : key.length) + (value === null ? 0 : value.length))
    let at = start + width
    bytes[at++] = 0
    at = putVarlong(bytes, at, timestamp - this.baseTimestamp)
    at = putVarint(bytes, at, offsetDelta)
    at = key === null ? putNull(bytes, at) : putBytes(bytes, putVarint(bytes, at, key.length), key)
    at = value === null ? putNull(bytes, at) : putBytes(bytes, putVarint(bytes, at, value.length), value)
    if (headers.length === 0) bytes[at++] = 0
    else at = putHeaders(bytes, at, headers)
    const length = at - start - width
    const missing = varintSize(length) - width
    if (missing !== 0) bytes.copyWithin(start + width + missing, start + width, at)
    putVarint(bytes, start, length)
    this.at = at + missing
    this.count++
    this.lastDelta = offsetDelta
    if (timestamp > this.maxTimestamp) this.maxTimestamp = timestamp
    return offsetDelta
  }

  /** The batch as bytes that the caller owns. The builder keeps its records until `reset`. */
  finish(fields: BatchFields = {}): Uint8Array {
    if (fields.codec === undefined || fields.codec === 0) return this.finishInPlace(fields).slice()
    assert(this.compression !== undefined, 'a builder that compresses has a compression')
    const records = this.compression.compress(fields.codec, this.bytes.subarray(batchHeaderBytes, this.at), fields.compressionLevel)
    const batch = new Uint8Array(batchHeaderBytes + records.length)
    batch.set(records, batchHeaderBytes)
    this.writeHeader(batch, batch.length, fields)
    return batch
  }

  /** The uncompressed batch as a view of the builder's buffer, valid until the next append or reset. */
  finishInPlace(fields: BatchFields = {}): Uint8Array {
    assert(fields.codec === undefined || fields.codec === 0, 'a batch finished in place is not compressed')
    this.writeHeader(this.bytes, this.at, fields)
    return this.bytes.subarray(0, this.at)
  }

  private writeHeader(bytes: Uint8Array, size: number, fields: BatchFields): void {
    const none = -1
    const attributes = (fields.codec ?? 0)
      | (fields.logAppendTime === undefined ? 0 : attributeLogAppendTime)
      | (fields.transactional === true ? attributeTransactional : 0)
      | (fields.control === true ? attributeControl : 0)
      | (this.horizonMs < 0 ? 0 : attributeDeleteHorizon)
    const lastOffsetDelta = fields.lastOffsetDelta ?? Math.max(0, this.lastDelta)
    assert(lastOffsetDelta >= this.lastDelta, 'the last offset of a batch is not before its last record')
    putInt64(bytes, 0, fields.baseOffset ?? 0)
    putInt32(bytes, 8, size - batchPrefixBytes)
    putInt32(bytes, 12, fields.leaderEpoch ?? none)
    bytes[magicAt] = 2
    putInt16(bytes, 21, attributes)
    putInt32(bytes, 23, lastOffsetDelta)
    putInt64(bytes, 27, this.baseTimestamp)
    putInt64(bytes, 35, fields.logAppendTime ?? this.maxTimestamp)
    putInt64(bytes, 43, fields.producerId ?? none)
    putInt16(bytes, 51, fields.producerEpoch ?? none)
    putInt32(bytes, 53, fields.baseSequence ?? none)
    putInt32(bytes, 57, this.count)
    putCrc(bytes, 0)
  }

  private grow(size: number): void {
    assert(size <= batchBytesMax, 'a batch is below 2 GiB')
    const larger = new Uint8Array(Math.min(batchBytesMax, Math.max(this.bytes.length * 2, size)))
    larger.set(this.bytes.subarray(0, this.at))
    this.bytes = larger
  }
}

function putHeaders(bytes: Uint8Array, start: number, headers: readonly RecordHeader[]): number {
  let at = putVarint(bytes, start, headers.length)
  for (const header of headers) {
    at = putText(bytes, at, header.key)
    at = header.value === null ? putNull(bytes, at) : putBytes(bytes, putVarint(bytes, at, header.value.length), header.value)
  }
  return at
}

/** Length and UTF-8; names of headers are short and ASCII, as a rule. */
function putText(bytes: Uint8Array, start: number, text: string): number {
  const length = text.length
  if (length <= 32) {
    const at = putVarint(bytes, start, length)
    let index = 0
    for (; index < length; index++) {
      const unit = text.charCodeAt(index)
      if (unit >= 0x80) break
      bytes[at + index] = unit
    }
    if (index === length) return at + length
  }
  const at = putVarint(bytes, start, utf8Length(text))
  return at + encoder.encodeInto(text, bytes.subarray(at)).written
}

/** The length -1. */
function putNull(bytes: Uint8Array, at: number): number {
  bytes[at] = 1
  return at + 1
}

function putBytes(bytes: Uint8Array, at: number, from: Uint8Array): number {
  const length = from.length
  if (length > 16) bytes.set(from, at)
  else for (let index = 0; index < length; index++) bytes[at + index] = from[index]!
  return at + length
}
