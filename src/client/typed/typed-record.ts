import { type RecordHeader } from '../../kernel/record/log-record.ts'
import { type ConsumerRecord } from '../consumer/consumer-record.ts'

/** A record that was read and decoded. */
export class TypedRecord<Name extends string, Key, Value> {
  /** Null for a record without a key. */
  readonly key: Key | null
  /** Null deletes the key in a compacted topic; no serde and no validator has seen it. */
  readonly value: Value | null
  /** What was read, with the bytes of key and value. */
  readonly raw: ConsumerRecord

  constructor(raw: ConsumerRecord, key: Key | null, value: Value | null) {
    this.raw = raw
    this.key = key
    this.value = value
  }

  /** Where it was read: the name of the typed topic. */
  get topic(): Name {
    return this.raw.topic as Name
  }

  /** Where it was read. */
  get partition(): number {
    return this.raw.partition
  }

  /** Its place in the partition, as the raw record has it. */
  get offset(): number {
    return this.raw.offset
  }

  /** Milliseconds since the epoch; -1 when the producer gave none. */
  get timestamp(): number {
    return this.raw.timestamp
  }

  /** In the order sent; a name may occur more than once. */
  get headers(): readonly RecordHeader[] {
    return this.raw.headers
  }

  /** The value of the last header of that name; undefined without one. */
  header(name: string): Uint8Array | null | undefined {
    return this.raw.header(name)
  }
}
