import { MillraceError } from '../errors/index.ts'
import { type Compression } from '../ports/compression.ts'
import {
  baseOffsetOf, baseTimestampOf, batchBytesOf, batchHeaderBytes, codecOf, isLogAppendTime, magicOf, maxTimestampOf, recordsCountOf,
} from './batch-header.ts'
import { codecName, isCodec, noCompressionRemedy } from './compression-codec.ts'
import { readHeaders, StoredRecord, type LogRecord, type RecordHeader } from './log-record.ts'
import { decompressedBytesMax } from './record-limits.ts'
import { cursor, longer, recordLengthMin, skipHeaders, varint, varlong } from './record-varint.ts'

const noBytes = new Uint8Array(0)

/**
 * Reads the records of a batch one after another: `next()` moves to a record and leaves its parts in the fields, so that a reader who wants
 * two of them pays for two. `record()` makes an object of it. Reusable by `open`. Throws MR_RECORD_CORRUPT when the records are not what
 * the header says, and what `Compression.decompress` throws. The CRC is not looked at.
 */
export class BatchReader {
  /** Of the current record. */
  offset = -1
  timestamp = -1
  keyLength = -1
  valueLength = -1
  /** Where the parts of the current record lie in `recordBytes`. */
  keyStart = 0
  valueStart = 0
  headersStart = 0
  /** Where the current record begins in `recordBytes`, with its length; it ends where the reader is. */
  recordStart = 0

  private readonly compression: Compression | undefined
  private readonly limitBytes: number
  private bytes: Uint8Array = noBytes
  private at = 0
  private end = 0
  private baseOffset = 0
  private baseTimestamp = 0
  /** The timestamp of all records, or -1 when each has its own. */
  private appendTime = -1
  private count = 0
  private index = 0

  /** Without a compression only uncompressed batches can be read. `limitBytes` bounds what one batch decompresses to. */
  constructor(compression?: Compression, limitBytes = decompressedBytesMax) {
    this.compression = compression
    this.limitBytes = limitBytes
  }

  /** Opens the batch that begins at `at`; all of it must be there. */
  open(bytes: Uint8Array, at = 0): this {
    const end = checkedEnd(bytes, at)
    const codec = codecOf(bytes, at)
    if (codec === 0) return this.openRecords(bytes, at, bytes, at + batchHeaderBytes, end)
    if (!isCodec(codec)) throw corrupt(`unknown codec ${String(codec)}`)
    if (this.compression === undefined) throw new MillraceError('MR_RECORD_CODEC_UNAVAILABLE', { codec: codecName(codec), remedy: noCompressionRemedy })
    const records = this.compression.decompress(codec, bytes.subarray(at + batchHeaderBytes, end), this.limitBytes)
    return this.openRecords(bytes, at, records, 0, records.length)
  }

  /** Opens the batch at `at` whose records were decompressed before, to `records[start, end)`. */
  openRecords(bytes: Uint8Array, at: number, records: Uint8Array, start: number, end: number): this {
    this.baseOffset = baseOffsetOf(bytes, at)
    this.baseTimestamp = baseTimestampOf(bytes, at)
    this.appendTime = isLogAppendTime(bytes, at) ? maxTimestampOf(bytes, at) : -1
    this.count = recordsCountOf(bytes, at)
    if (this.count < 0) throw corrupt(`it counts ${this.count} records`)
    this.index = 0
    this.bytes = records
    this.at = start
    this.end = end
    return this
  }

  /** The bytes behind the current batch: its own, or what they were decompressed to. */
  get recordBytes(): Uint8Array {
    return this.bytes
  }

  /** Where the current record ends in `recordBytes`, and the next one begins. */
  get recordEnd(): number {
    return this.at
  }

  /** Records that the header promises and `next` has not reached yet. */
  get remaining(): number {
    return this.count - this.index
  }

  /** Moves to the next record; false when all have been read. See `record-varint` for how it gets by with few checks. */
  next(): boolean {
    const index = this.index
    let at = this.at
    if (index >= this.count) {
      if (at !== this.end) throw corrupt('bytes follow the last record')
      return false
    }
    const bytes = this.bytes
    this.recordStart = at
    let raw = bytes[at++]!
    if (raw >= 0x80) {
      const second = bytes[at++]!
      raw = (raw & 0x7f) | (second << 7)
      if (second >= 0x80) [raw, at] = [longer(bytes, at, raw & 0x3fff, 14), cursor]
    }
    const length = (raw >>> 1) ^ -(raw & 1)
    if (length < recordLengthMin || length > this.end - at) throw corrupt(`record ${index} does not fit the batch`)
    const recordEnd = at + length
    at++ // attributes, of which no bit has a meaning yet
    raw = bytes[at++]!
    let timestampDelta = (raw >>> 1) ^ -(raw & 1)
    if (raw >= 0x80) [timestampDelta, at] = [varlong(bytes, at - 1), cursor]
    raw = bytes[at++]!
    if (raw >= 0x80) [raw, at] = [longer(bytes, at, raw & 0x7f, 7), cursor]
    this.offset = this.baseOffset + ((raw >>> 1) ^ -(raw & 1))
    this.timestamp = this.appendTime >= 0 ? this.appendTime : this.baseTimestamp + timestampDelta

    // A negative length is null; only -1 is ever written.
    raw = bytes[at++]!
    if (raw >= 0x80) [raw, at] = [longer(bytes, at, raw & 0x7f, 7), cursor]
    const keyLength = (raw & 1) === 0 ? raw >>> 1 : -1
    this.keyStart = at
    this.keyLength = keyLength
    if (keyLength > 0) at += keyLength

    raw = bytes[at++]!
    if (raw >= 0x80) {
      const second = bytes[at++]!
      raw = (raw & 0x7f) | (second << 7)
      if (second >= 0x80) [raw, at] = [longer(bytes, at, raw & 0x3fff, 14), cursor]
    }
    const valueLength = (raw & 1) === 0 ? raw >>> 1 : -1
    this.valueStart = at
    this.valueLength = valueLength
    if (valueLength > 0) at += valueLength

    this.headersStart = at
    raw = bytes[at++]!
    if (raw !== 0) at = skipHeaders(bytes, at - 1, recordEnd)
    if (at !== recordEnd) throw corrupt(`the parts of record ${index} do not fit its length`)
    this.at = at
    this.index = index + 1
    return true
  }

  /** How many headers the current record has. */
  get headersCount(): number {
    return varint(this.bytes, this.headersStart)
  }

  /** A view of the current record's key; null when it has none. */
  key(): Uint8Array | null {
    return this.keyLength < 0 ? null : this.bytes.subarray(this.keyStart, this.keyStart + this.keyLength)
  }

  /** A view of the current record's value; null when it deletes its key. */
  value(): Uint8Array | null {
    return this.valueLength < 0 ? null : this.bytes.subarray(this.valueStart, this.valueStart + this.valueLength)
  }

  headers(): readonly RecordHeader[] {
    return readHeaders(this.bytes, this.headersStart)
  }

  /** The current record as an object of its own. */
  record(): LogRecord {
    return new StoredRecord(
      this.offset, this.timestamp, this.bytes,
      this.keyStart, this.keyLength, this.valueStart, this.valueLength, this.headersStart,
    )
  }

  /** The records from the present one on. */
  *[Symbol.iterator](): IterableIterator<LogRecord> {
    while (this.next()) yield this.record()
  }
}

function checkedEnd(bytes: Uint8Array, at: number): number {
  if (bytes.length - at < batchHeaderBytes) throw corrupt('it is shorter than a header')
  if (magicOf(bytes, at) !== 2) throw corrupt(`its magic is ${magicOf(bytes, at)}; 2 is read`)
  const size = batchBytesOf(bytes, at)
  if (size < batchHeaderBytes || size > bytes.length - at) throw corrupt(`its length says ${size} bytes and ${bytes.length - at} are there`)
  return at + size
}

function corrupt(reason: string): MillraceError {
  return new MillraceError('MR_RECORD_CORRUPT', { reason })
}
