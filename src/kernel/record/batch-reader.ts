import { BytesReader } from '../../base/bytes-reader.ts'
import { isBytesError } from '../../base/bytes-error.ts'
import { MillraceError } from '../errors/index.ts'
import { type Compression } from '../ports/compression.ts'
import {
  baseOffsetOf, baseTimestampOf, batchBytesOf, batchHeaderBytes, codecOf, isLogAppendTime, magicOf, maxTimestampOf, recordsCountOf,
} from './batch-header.ts'
import { codecName, isCodec } from './compression-codec.ts'
import { readHeaders, StoredRecord, type LogRecord, type RecordHeader } from './log-record.ts'
import { decompressedBytesMax } from './record-limits.ts'

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
  headersCount = 0
  private keyStart = 0
  private valueStart = 0
  private headersStart = 0

  private readonly compression: Compression | undefined
  private readonly limitBytes: number
  private readonly reader = new BytesReader()
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
    if (this.compression === undefined) throw new MillraceError('MR_RECORD_CODEC_UNAVAILABLE', { codec: codecName(codec), package: 'none configured' })
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
    this.reader.reset(records, start, end)
    return this
  }

  /** Records that the header promises and `next` has not reached yet. */
  get remaining(): number {
    return this.count - this.index
  }

  /** Moves to the next record; false when all have been read. */
  next(): boolean {
    const reader = this.reader
    if (this.index >= this.count) {
      if (reader.remaining > 0) throw corrupt('bytes follow the last record')
      return false
    }
    const index = this.index
    try {
      const length = reader.varint()
      const end = reader.position + length
      if (length < 0 || end > reader.end) throw corrupt(`record ${index} does not fit the batch`)
      reader.skip(1)
      const timestampDelta = reader.varlong()
      this.offset = this.baseOffset + reader.varint()
      this.timestamp = this.appendTime >= 0 ? this.appendTime : this.baseTimestamp + timestampDelta
      this.keyLength = reader.varint()
      this.keyStart = this.keyLength > 0 ? reader.advance(this.keyLength, 'key') : reader.position
      this.valueLength = reader.varint()
      this.valueStart = this.valueLength > 0 ? reader.advance(this.valueLength, 'value') : reader.position
      this.headersCount = reader.varint()
      this.headersStart = reader.position
      if (this.headersCount !== 0) this.skipHeaders()
      if (reader.position !== end) throw corrupt(`the length of record ${index} is not that of its parts`)
    } catch (error) {
      throw isBytesError(error) ? corrupt(`record ${index}: ${error.message}`) : error
    }
    this.index = index + 1
    return true
  }

  /** A view of the current record's key; null when it has none. */
  key(): Uint8Array | null {
    return this.keyLength < 0 ? null : this.reader.bytes.subarray(this.keyStart, this.keyStart + this.keyLength)
  }

  /** A view of the current record's value; null when it deletes its key. */
  value(): Uint8Array | null {
    return this.valueLength < 0 ? null : this.reader.bytes.subarray(this.valueStart, this.valueStart + this.valueLength)
  }

  headers(): readonly RecordHeader[] {
    return readHeaders(this.reader.bytes, this.headersStart, this.headersCount)
  }

  /** The current record as an object of its own. */
  record(): LogRecord {
    return new StoredRecord(
      this.offset, this.timestamp, this.reader.bytes,
      this.keyStart, this.keyLength, this.valueStart, this.valueLength, this.headersStart, this.headersCount,
    )
  }

  /** The records from the present one on. */
  *[Symbol.iterator](): IterableIterator<LogRecord> {
    while (this.next()) yield this.record()
  }

  private skipHeaders(): void {
    if (this.headersCount < 0) throw corrupt(`record ${this.index} has ${this.headersCount} headers`)
    const reader = this.reader
    for (let index = 0; index < this.headersCount; index++) {
      reader.skip(reader.varint())
      const valueLength = reader.varint()
      if (valueLength > 0) reader.skip(valueLength)
    }
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
