import { isMillraceError, MillraceError, reasonOf, type ErrorCode, type ErrorDetails } from '../errors/index.ts'
import { type TopicSettings } from '../model/topic-settings.ts'
import { type Compression } from '../ports/compression.ts'
import {
  baseOffsetOf, baseSequenceOf, baseTimestampOf, batchBytesOf, batchHeaderBytes, codecOf, crcValid, isControl, isLogAppendTime,
  lastOffsetDeltaOf, magicOf, maxTimestampOf, producerIdOf, putLogAppendTime, putMaxTimestamp, recordsCountOf,
} from './batch-header.ts'
import { codecLz4, codecName, isCodec, noCompressionRemedy, type CompressionCodec } from './compression-codec.ts'
import { lz4BlocksIndependent } from './decompressed-bound.ts'
import { decompressedBytesMax, recordErrorsMax } from './record-limits.ts'
import { lookAtRecords, skim, skimRecords } from './record-skim.ts'

type Rules = Pick<
  TopicSettings,
  'batchCheck' | 'compact' | 'maxMessageBytes' | 'timestampAfterMaxMs' | 'timestampBeforeMaxMs' | 'timestampType'
>

/** What the check of a batch found, to keep beyond the next check. */
export type BatchFindings = Pick<BatchCheck, 'codec' | 'recordsCount' | 'maxTimestamp' | 'recordsChecked'>

/**
 * The broker's check of what a client produced, as Kafka's LogValidator makes it: exactly one batch of magic 2, whole, with a right CRC, not
 * too large, no control batch, a record count that fits the offsets, records of a sound structure, keys where the topic is compacted,
 * timestamps within the topic's limits. One object is reused for all batches; after `check` said false its fields tell why,
 * after true what was found. `batch.check=header` leaves the records alone.
 *
 * A compressed batch is decompressed on the spot. Who wants that done elsewhere calls `checkHeader`, decompresses, then `checkRecords`.
 */
export class BatchCheck {
  /** Why the batch is refused; undefined when it is not. */
  code: ErrorCode | undefined
  reason = ''
  /** Details of an error that somebody else gave: its message is made of them again. */
  private thrown: ErrorDetails | undefined
  /** The first record that is at fault; -1 when it is not the fault of one. */
  recordIndex = -1
  /** All records at fault, up to a bound; for the RecordErrors of a Produce answer. Overwritten by the next check. */
  readonly badRecords: number[] = []
  codec: CompressionCodec = 0
  recordsCount = 0
  /** The largest timestamp of the records, -1 for none; what the header says where the records were left alone. */
  maxTimestamp = -1
  /** Whether the records have been looked at. */
  recordsChecked = false

  private readonly compression: Compression | undefined
  private readonly limitBytes: number

  constructor(compression?: Compression, limitBytes = decompressedBytesMax) {
    this.compression = compression
    this.limitBytes = limitBytes
  }

  /** Checks `bytes[at, at + length)`. `nowMs` is the broker's time, for the limits of timestamps. */
  check(bytes: Uint8Array, at: number, length: number, rules: Rules, nowMs: number): boolean {
    if (!this.checkHeader(bytes, at, length, rules)) return false
    if (rules.batchCheck === 'header') return true
    const start = at + batchHeaderBytes
    if (this.codec === 0) return this.checkRecords(bytes, at, bytes, start, at + length, rules, nowMs)
    if (this.compression === undefined) {
      return this.refuse('MR_RECORD_CODEC_UNAVAILABLE', `no ${codecName(this.codec)} codec is there`, { remedy: noCompressionRemedy })
    }
    try {
      const records = this.compression.decompress(this.codec, bytes.subarray(start, at + length), this.limitBytes)
      return this.checkRecords(bytes, at, records, 0, records.length, rules, nowMs)
    } catch (error) {
      return this.refuseDecompression(error)
    }
  }

  /** All that can be said without the records. */
  checkHeader(bytes: Uint8Array, at: number, length: number, rules: Rules): boolean {
    this.begin()
    if (length < batchHeaderBytes) return this.refuse(...shorterThanHeader(bytes, at, length))
    if (magicOf(bytes, at) !== 2) return this.refuse('MR_RECORD_BATCH_INVALID', `magic ${magicOf(bytes, at)}; only record batches of magic 2 are taken`)
    const size = batchBytesOf(bytes, at)
    if (size < batchHeaderBytes) return this.refuse('MR_RECORD_CORRUPT', `its length says ${size} bytes, less than a header`)
    if (size > length) return this.refuse('MR_RECORD_BATCH_INVALID', `its length says ${size} bytes, but ${length} are there`)
    if (size < length) return this.refuse('MR_RECORD_BATCH_INVALID', 'more than one batch for a partition')
    if (size > rules.maxMessageBytes) return this.refuse('MR_RECORD_TOO_LARGE', `${size} bytes are over max.message.bytes=${rules.maxMessageBytes}`)
    if (!crcValid(bytes, at)) return this.refuse('MR_RECORD_CORRUPT', 'its CRC-32C does not match its bytes')
    return this.checkFields(bytes, at)
  }

  /**
   * The rest: `records[start, end)` are the uncompressed records of the batch at `at`, whose header passed `checkHeader` before in this
   * object or in another.
   */
  checkRecords(
    bytes: Uint8Array, at: number, records: Uint8Array, start: number, end: number, rules: Rules, nowMs: number,
  ): boolean {
    this.begin()
    this.codec = codecOf(bytes, at)
    const count = this.recordsCount = recordsCountOf(bytes, at)
    if (!skimRecords(records, start, end, count)) {
      this.recordIndex = skim.problemIndex < count ? skim.problemIndex : -1
      return this.refuse('MR_RECORD_BATCH_INVALID', this.recordIndex < 0 ? skim.problem : `record ${this.recordIndex}: ${skim.problem}`)
    }
    this.recordsChecked = true
    const baseTimestamp = baseTimestampOf(bytes, at)
    const oldest = baseTimestamp + skim.deltaMin
    const youngest = baseTimestamp + skim.deltaMax
    if (!Number.isSafeInteger(oldest) || !Number.isSafeInteger(youngest)) {
      return this.refuse('MR_RECORD_TIMESTAMP_INVALID', 'a timestamp is beyond 2^53 - 1')
    }
    this.maxTimestamp = Math.max(-1, youngest)
    if (rules.compact && skim.keylessCount > 0) return this.refuseKeyless(records, start, count)
    if (rules.timestampType === 'CreateTime' && (nowMs - oldest > rules.timestampBeforeMaxMs || youngest - nowMs > rules.timestampAfterMaxMs)) {
      return this.checkTimestamps(records, start, count, baseTimestamp, rules, nowMs)
    }
    return true
  }

  /** Says why a batch is refused whose decompression failed, here or on another thread. Errors that are none of the batch's are thrown. */
  refuseDecompression(error: unknown): false {
    if (!isMillraceError(error)) throw error
    // The CRC was right: sent again, the bytes would be the same. So it is an invalid batch and not a corrupt one, which clients retry.
    if (error.code === 'MR_RECORD_CORRUPT') return this.refuse('MR_RECORD_BATCH_INVALID', `its records can not be decompressed: ${reasonOf(error)}`)
    return this.refuse(error.code, reasonOf(error), error.details)
  }

  /** What the last check found. */
  findings(): BatchFindings {
    const { codec, recordsCount, maxTimestamp, recordsChecked } = this
    return { codec, recordsCount, maxTimestamp, recordsChecked }
  }

  /** What the header of the batch at `at` says, where its records are left alone. */
  headerFindings(bytes: Uint8Array, at: number): BatchFindings {
    return { codec: codecOf(bytes, at) as CompressionCodec, recordsCount: recordsCountOf(bytes, at), maxTimestamp: maxTimestampOf(bytes, at), recordsChecked: false }
  }

  /** The refusal as an error to throw. */
  error(topic: string, rules: Rules, sizeBytes: number): MillraceError {
    return new MillraceError(this.refusal, this.details(topic, rules, sizeBytes))
  }

  /** The code of the refusal, and its details: to answer with, without an Error. */
  get refusal(): ErrorCode {
    return this.code ?? 'MR_RECORD_BATCH_INVALID'
  }

  details(topic: string, rules: Rules, sizeBytes: number): ErrorDetails {
    return {
      reason: this.reason, topic, size: sizeBytes,
      limit: this.refusal === 'MR_RECORD_TOO_LARGE' ? rules.maxMessageBytes : this.limitBytes, codec: codecName(this.codec), ...this.thrown,
    }
  }

  private checkFields(bytes: Uint8Array, at: number): boolean {
    const codec = codecOf(bytes, at)
    if (!isCodec(codec)) return this.refuse('MR_RECORD_BATCH_INVALID', `unknown codec ${String(codec)}`)
    this.codec = codec
    const count = this.recordsCount = recordsCountOf(bytes, at)
    const lastOffsetDelta = lastOffsetDeltaOf(bytes, at)
    if (baseOffsetOf(bytes, at) !== 0) return this.refuse('MR_RECORD_BATCH_INVALID', `base offset ${baseOffsetOf(bytes, at)}; producers send 0`)
    if (count <= 0) return this.refuse('MR_RECORD_BATCH_INVALID', `it counts ${count} records`)
    if (lastOffsetDelta !== count - 1) {
      return this.refuse('MR_RECORD_BATCH_INVALID', `last offset delta ${lastOffsetDelta} does not fit ${count} records`)
    }
    if (isControl(bytes, at)) return this.refuse('MR_RECORD_BATCH_INVALID', 'clients do not write control records')
    const producerId = producerIdOf(bytes, at)
    if (!Number.isSafeInteger(producerId) || producerId < -1) return this.refuse('MR_RECORD_BATCH_INVALID', `producer id ${producerId}`)
    if (producerId >= 0 && baseSequenceOf(bytes, at) < 0) {
      return this.refuse('MR_RECORD_BATCH_INVALID', `sequence ${baseSequenceOf(bytes, at)} of producer ${producerId}`)
    }
    if (isLogAppendTime(bytes, at)) return this.refuse('MR_RECORD_TIMESTAMP_INVALID', 'a producer does not set the timestamp type LogAppendTime')
    this.maxTimestamp = maxTimestampOf(bytes, at)
    if (!Number.isSafeInteger(this.maxTimestamp) || !Number.isSafeInteger(baseTimestampOf(bytes, at))) {
      return this.refuse('MR_RECORD_TIMESTAMP_INVALID', 'a timestamp is beyond 2^53 - 1')
    }
    if (codec === codecLz4 && !lz4BlocksIndependent(bytes.subarray(at + batchHeaderBytes, at + batchHeaderBytes + 5))) {
      return this.refuse('MR_RECORD_BATCH_INVALID', 'its LZ4 frame has blocks that depend on one another, which Java clients can not read')
    }
    return true
  }

  private begin(): void {
    this.code = undefined
    this.reason = ''
    this.thrown = undefined
    this.recordIndex = -1
    this.recordsChecked = false
    if (this.badRecords.length > 0) this.badRecords.length = 0
  }

  private refuse(code: ErrorCode, reason: string, thrown?: ErrorDetails): false {
    this.code = code
    this.thrown = thrown
    this.reason = reason
    return false
  }

  private refuseKeyless(records: Uint8Array, start: number, count: number): false {
    lookAtRecords(records, start, count, (index, _delta, hasKey) => {
      if (!hasKey) this.addBadRecord(index)
    })
    return this.refuse('MR_RECORD_BATCH_INVALID', 'a compacted topic takes no record without a key')
  }

  /** Some timestamp is outside the limits, unless it is -1, which no limit applies to. */
  private checkTimestamps(
    records: Uint8Array, start: number, count: number, baseTimestamp: number, rules: Rules, nowMs: number,
  ): boolean {
    lookAtRecords(records, start, count, (index, delta) => {
      const timestamp = baseTimestamp + delta
      const age = nowMs - timestamp
      if (timestamp !== -1 && (age > rules.timestampBeforeMaxMs || -age > rules.timestampAfterMaxMs)) this.addBadRecord(index)
    })
    if (this.recordIndex < 0) return true
    return this.refuse(
      'MR_RECORD_TIMESTAMP_INVALID',
      `the timestamp of record ${this.recordIndex} is outside [now - ${rules.timestampBeforeMaxMs}, now + ${rules.timestampAfterMaxMs}]`,
    )
  }

  private addBadRecord(index: number): void {
    if (this.recordIndex < 0) this.recordIndex = index
    if (this.badRecords.length < recordErrorsMax) this.badRecords.push(index)
  }
}

/**
 * Writes the timestamps that the topic asks for into a batch that `check` has passed: with LogAppendTime the broker's own, else the true maximum
 * where the producer's was wrong. Recomputes the CRC only if something changes.
 */
export function stampBatch(bytes: Uint8Array, at: number, check: Pick<BatchFindings, 'recordsChecked' | 'maxTimestamp'>, rules: Rules, nowMs: number): void {
  if (rules.timestampType === 'LogAppendTime') putLogAppendTime(bytes, at, nowMs)
  else if (check.recordsChecked) putMaxTimestamp(bytes, at, check.maxTimestamp)
}

function shorterThanHeader(bytes: Uint8Array, at: number, length: number): [ErrorCode, string] {
  if (length === 0) return ['MR_RECORD_BATCH_INVALID', 'no batch for a partition']
  if (length > 16 && magicOf(bytes, at) !== 2) return ['MR_RECORD_BATCH_INVALID', `magic ${magicOf(bytes, at)}; only record batches of magic 2 are taken`]
  return ['MR_RECORD_CORRUPT', `${length} bytes are less than the header of a batch`]
}
