import { BytesReader } from '../../base/bytes-reader.ts'

export interface RecordHeader {
  readonly key: string
  readonly value: Uint8Array | null
}

/** One record of a log. Byte ranges are views of the batch (or of its decompressed records): they live as long as those bytes. */
export interface LogRecord {
  readonly offset: number
  /** Milliseconds since the epoch; -1 when the producer gave none. */
  readonly timestamp: number
  readonly key: Uint8Array | null
  /** Null deletes the key in a compacted topic. */
  readonly value: Uint8Array | null
  /** In the order sent; a key may occur more than once. */
  readonly headers: readonly RecordHeader[]
}

const noHeaders: readonly RecordHeader[] = []
const headerReader = new BytesReader()

/** A record that makes its views when they are asked for: most readers want the value alone, and many none. */
export class StoredRecord implements LogRecord {
  readonly offset: number
  readonly timestamp: number
  private readonly bytes: Uint8Array
  private readonly keyStart: number
  private readonly keyLength: number
  private readonly valueStart: number
  private readonly valueLength: number
  private readonly headersStart: number

  /** A length of -1 is null. Ranges are checked by the one who made the record. */
  constructor(
    offset: number, timestamp: number, bytes: Uint8Array,
    keyStart: number, keyLength: number, valueStart: number, valueLength: number, headersStart: number,
  ) {
    this.offset = offset
    this.timestamp = timestamp
    this.bytes = bytes
    this.keyStart = keyStart
    this.keyLength = keyLength
    this.valueStart = valueStart
    this.valueLength = valueLength
    this.headersStart = headersStart
  }

  get key(): Uint8Array | null {
    return this.keyLength < 0 ? null : this.bytes.subarray(this.keyStart, this.keyStart + this.keyLength)
  }

  get value(): Uint8Array | null {
    return this.valueLength < 0 ? null : this.bytes.subarray(this.valueStart, this.valueStart + this.valueLength)
  }

  get headers(): readonly RecordHeader[] {
    return readHeaders(this.bytes, this.headersStart)
  }
}

/** Decodes the headers that begin at `start` with their number. Their structure has been checked. */
export function readHeaders(bytes: Uint8Array, start: number): readonly RecordHeader[] {
  if (bytes[start] === 0) return noHeaders
  headerReader.reset(bytes, start)
  const count = headerReader.varint()
  const headers: RecordHeader[] = []
  for (let index = 0; index < count; index++) {
    const key = headerReader.utf8(headerReader.varint())
    const valueLength = headerReader.varint()
    headers.push({ key, value: valueLength < 0 ? null : headerReader.slice(valueLength) })
  }
  return headers
}
