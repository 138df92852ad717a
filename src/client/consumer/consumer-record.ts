import { readHeaders, type RecordHeader } from '../../kernel/record/log-record.ts'

const decoder = new TextDecoder()

/** What the records of one batch have in common. */
export interface RecordSource {
  readonly topic: string
  readonly partition: number
  /** Of the leader that stored the batch; -1 where the broker does not tell. */
  readonly leaderEpoch: number
  readonly bytes: Uint8Array
}

/**
 * A record that was read. Key, value and headers are decoded when they are asked for: as views into the fetched bytes, without a copy. A kept
 * record keeps those bytes, up to a whole fetch of them, in memory: copy what has to last (`value.slice()`).
 */
export class ConsumerRecord {
  /** Its place in the partition. Rising from record to record, and not always by one: compaction and transactions leave gaps. */
  readonly offset: number
  /** Milliseconds since the epoch; -1 when the producer gave none. */
  readonly timestamp: number
  /** Bytes of the key, -1 when it is null. Costs nothing, where `key` makes a view. */
  readonly keyLength: number
  /** Bytes of the value, -1 when it is null. */
  readonly valueLength: number
  private readonly source: RecordSource
  private readonly keyStart: number
  private readonly valueStart: number
  private readonly headersStart: number

  /** Ranges are checked by the one who makes it; a length of -1 is null. */
  constructor(
    source: RecordSource, offset: number, timestamp: number,
    keyStart: number, keyLength: number, valueStart: number, valueLength: number, headersStart: number,
  ) {
    this.offset = offset
    this.timestamp = timestamp
    this.keyLength = keyLength
    this.valueLength = valueLength
    this.source = source
    this.keyStart = keyStart
    this.valueStart = valueStart
    this.headersStart = headersStart
  }

  /** Where it was read. */
  get topic(): string {
    return this.source.topic
  }

  /** Where it was read. */
  get partition(): number {
    return this.source.partition
  }

  /** Of the leader that stored it; -1 where the broker does not tell. */
  get leaderEpoch(): number {
    return this.source.leaderEpoch
  }

  /** A view of the fetched bytes, made at each call; null for a record without a key. Must not be changed. */
  get key(): Uint8Array | null {
    return this.keyLength < 0 ? null : this.source.bytes.subarray(this.keyStart, this.keyStart + this.keyLength)
  }

  /** Null deletes the key in a compacted topic. */
  get value(): Uint8Array | null {
    return this.valueLength < 0 ? null : this.source.bytes.subarray(this.valueStart, this.valueStart + this.valueLength)
  }

  /** In the order sent; a name may occur more than once. */
  get headers(): readonly RecordHeader[] {
    return readHeaders(this.source.bytes, this.headersStart)
  }

  /** The key as text. What is not UTF-8 becomes U+FFFD. */
  keyText(): string | null {
    const { key } = this
    return key === null ? null : decoder.decode(key)
  }

  /** The value as text. What is not UTF-8 becomes U+FFFD. */
  text(): string | null {
    const { value } = this
    return value === null ? null : decoder.decode(value)
  }

  /** The value of the last header of that name; undefined without one. */
  header(name: string): Uint8Array | null | undefined {
    return this.headers.findLast(header => header.key === name)?.value
  }
}
