import { MillraceError } from '../errors/index.ts'
import {
  attributeCodecMask, attributeDeleteHorizon, attributesAt, baseTimestampOf, batchHeaderBytes, batchPrefixBytes, hasDeleteHorizon, isControl, isLogAppendTime,
  lastOffsetOf, maxTimestampOf, producerIdOf, putCrc, putInt32, putInt64, recordsCountAt, recordsCountOf,
} from '../record/batch-header.ts'
import { type BatchReader } from '../record/batch-reader.ts'
import { type CompressionCodec } from '../record/compression-codec.ts'
import { putVarint, putVarlong } from '../record/put-varint.ts'
import { cursor, varint, varlong } from '../record/record-varint.ts'
import { varintSize, varlongSize } from '../../base/varint.ts'
import { type OffsetMap } from './offset-map.ts'
import { RecordOrder } from './record-order.ts'

/** What one round of compaction goes by. */
export interface SieveRound {
  /** Of the dirty part; records at or above its end stay as they are. */
  readonly map: Pick<OffsetMap, 'isLast' | 'endOffset'>
  readonly nowMs: number
  /** `delete.retention.ms` */
  readonly deleteRetentionMs: number
  /** Last offset of the newest batch of each producer that is remembered. */
  readonly lastOffsets: ReadonlyMap<number, number>
}

/**
 * What becomes of a batch. `whole`: it stays as it is. `some`: with the records that are in `kept`. `empty`: its header alone, for the sequence
 * of its producer or the end of the log. `gone`: nothing of it is left.
 */
export type Sifted = 'whole' | 'some' | 'empty' | 'gone'

const growth = 2

/**
 * Says of the records of each batch which ones survive compaction, by Kafka's rules: the last one of each key, and the keyless ones not at all. A
 * tombstone stays until the delete horizon of its batch (KIP-534), which the first round that has all older records of its key in
 * sight writes into the batch. Offsets, timestamps, producers and sequences never change.
 *
 * Control batches stay as they are: there are none until there are transactions, which bring a rule of their own for them, and one for aborted batches.
 */
export class RecordSieve {
  /** After `some`: the records that stay, not compressed, as the source had them. Until the next call. */
  kept = new Uint8Array(0)
  /** Of all batches since the sieve was made: the first time at which a tombstone may go. Infinity without one. */
  nextHorizonMs = Infinity
  /** A batch before could not be read and stays: it may have older records of any key, so that no tombstone goes, nor is one told when it may. */
  keepsTombstones = false
  /** Records seen, and those that stay. */
  recordsRead = 0
  recordsKept = 0
  private readonly round: SieveRound
  private flags = new Uint8Array(1024)
  /** Where each record of the batch begins, and behind them where the last one ends. */
  private places = new Int32Array(1025)
  private buffer = new Uint8Array(16_384)
  private readonly order = new RecordOrder()
  private keptCount = 0
  private keptMaxTimestamp = -1
  private stampMs = -1

  constructor(round: SieveRound) {
    this.round = round
  }

  /** Whether anything of the batch has to be looked at but its header. */
  static readsRecords(bytes: Uint8Array, at: number): boolean {
    return !isControl(bytes, at) && recordsCountOf(bytes, at) !== 0
  }

  /**
   * The batch at `bytes[at]`, of which `reader` has been opened to read the records where they have to be looked at. `keepsPlace`: its header stays whatever becomes of its
   * records, for it is the last one of its segment.
   */
  sift(bytes: Uint8Array, at: number, reader: BatchReader, keepsPlace: boolean): Sifted {
    const staysEmpty = keepsPlace || this.isLastOfProducer(bytes, at)
    if (isControl(bytes, at)) return 'whole'
    const count = recordsCountOf(bytes, at)
    if (count === 0) return staysEmpty ? 'whole' : 'gone'
    const tombstones = this.flag(bytes, at, reader, count)
    this.recordsRead += count
    this.recordsKept += this.keptCount
    if (this.keptCount === 0) return staysEmpty ? 'empty' : 'gone'
    const horizonMs = tombstones ? this.horizonOf(bytes, at) : Infinity
    this.stampMs = horizonMs === Infinity || hasDeleteHorizon(bytes, at) ? -1 : horizonMs
    this.nextHorizonMs = Math.min(this.nextHorizonMs, horizonMs)
    return this.keptCount === count && this.stampMs < 0 ? 'whole' : 'some'
  }

  /** After `some`: puts the records that stay into `kept`. `records` are those that `sift` has read. Throws MR_RECORD_CORRUPT where one has no time that can be told. */
  collect(bytes: Uint8Array, at: number, records: Uint8Array): void {
    const { flags, places } = this
    const count = recordsCountOf(bytes, at)
    // With another base of times a record may get longer by as much as a time takes.
    this.reserve(places[count]! - places[0]! + (this.stampMs < 0 ? 0 : count * 10))
    const shiftMs = this.stampMs < 0 ? 0 : baseTimestampOf(bytes, at) - this.stampMs
    let used = 0
    for (let index = 0; index < count; index++) {
      if (flags[index] === 0) continue
      if (this.stampMs >= 0) {
        used = restamp(this.buffer, used, records, places[index]!, places[index + 1]!, shiftMs)
        continue
      }
      const start = places[index]!
      while (index + 1 < count && flags[index + 1] !== 0) index++
      used = copy(this.buffer, used, records, start, places[index + 1]!)
    }
    this.kept = this.buffer.subarray(0, used)
  }

  /** After `some`: the batch, its records in `codec` as they were made of `kept`. The bytes are the caller's. */
  rewritten(bytes: Uint8Array, at: number, codec: CompressionCodec, records: Uint8Array): Uint8Array {
    const batch = withHeaderOf(bytes, at, records)
    batch[attributesAt + 1] = (batch[attributesAt + 1]! & ~attributeCodecMask) | codec
    if (this.stampMs >= 0) {
      batch[attributesAt + 1]! |= attributeDeleteHorizon
      putInt64(batch, 27, this.stampMs)
    }
    if (!isLogAppendTime(bytes, at)) putInt64(batch, 35, this.keptMaxTimestamp)
    putInt32(batch, recordsCountAt, this.keptCount)
    putCrc(batch, 0)
    return batch
  }

  /** When the tombstones of the batch may go, by the batch or from now on; Infinity while older records of their keys may still be there, and for never. */
  private horizonOf(bytes: Uint8Array, at: number): number {
    if (this.keepsTombstones) return Infinity
    if (hasDeleteHorizon(bytes, at)) return baseTimestampOf(bytes, at)
    const { nowMs, deleteRetentionMs, map } = this.round
    const horizonMs = nowMs + deleteRetentionMs
    return lastOffsetOf(bytes, at) < map.endOffset && Number.isSafeInteger(horizonMs) ? horizonMs : Infinity
  }

  private isLastOfProducer(bytes: Uint8Array, at: number): boolean {
    const producerId = producerIdOf(bytes, at)
    return producerId >= 0 && this.round.lastOffsets.get(producerId) === lastOffsetOf(bytes, at)
  }

  /** Marks the records that stay. Gives whether there is a tombstone among them. */
  private flag(bytes: Uint8Array, at: number, reader: BatchReader, count: number): boolean {
    // Before anything is made for them: a header may promise any number.
    if (count > reader.recordBytes.length) throw new MillraceError('MR_RECORD_CORRUPT', { reason: `it counts ${count} records in ${reader.recordBytes.length} bytes` })
    if (this.flags.length < count) {
      this.flags = new Uint8Array(Math.max(count, this.flags.length * growth))
      this.places = new Int32Array(this.flags.length + 1)
    }
    const { flags, places } = this
    this.keptCount = 0
    this.keptMaxTimestamp = -1
    const dropsTombstones = !this.keepsTombstones && hasDeleteHorizon(bytes, at) && this.round.nowMs >= baseTimestampOf(bytes, at)
    let tombstones = false
    const order = this.order.open(bytes, at)
    for (let index = 0; reader.next(); index++) {
      order.check(reader.offset)
      if (!Number.isSafeInteger(reader.timestamp)) throw absurdTime(reader.timestamp)
      const stays = this.stays(reader, dropsTombstones)
      flags[index] = stays ? 1 : 0
      places[index] = reader.recordStart
      places[index + 1] = reader.recordEnd
      if (!stays) continue
      this.keptCount++
      if (reader.timestamp > this.keptMaxTimestamp) this.keptMaxTimestamp = reader.timestamp
      tombstones ||= reader.valueLength < 0
    }
    return tombstones
  }

  private stays(reader: BatchReader, dropsTombstones: boolean): boolean {
    const { map } = this.round
    if (reader.offset >= map.endOffset) return true
    if (reader.keyLength < 0 || (reader.valueLength < 0 && dropsTombstones)) return false
    return map.isLast(reader.offset, reader.recordBytes, reader.keyStart, reader.keyStart + reader.keyLength)
  }

  private reserve(bytes: number): void {
    if (bytes > this.buffer.length) this.buffer = new Uint8Array(Math.max(this.buffer.length * growth, bytes))
  }
}

/** A call of the platform costs as much as so many bytes one by one. */
const bytesOneByOne = 48

/** Gives the position behind the copy. */
function copy(target: Uint8Array, start: number, source: Uint8Array, from: number, to: number): number {
  const length = to - from
  if (length > bytesOneByOne) target.set(source.subarray(from, to), start)
  else for (let index = 0; index < length; index++) target[start + index] = source[from + index]!
  return start + length
}

/** The header of the batch at `at` without its records: base and last offset, producer and sequence stay, and the time of its newest record. */
export function emptied(bytes: Uint8Array, at: number): Uint8Array {
  const batch = withHeaderOf(bytes, at, new Uint8Array(0))
  batch[attributesAt + 1]! &= ~(attributeCodecMask | attributeDeleteHorizon)
  putInt64(batch, 27, -1)
  putInt64(batch, 35, maxTimestampOf(bytes, at))
  putInt32(batch, recordsCountAt, 0)
  putCrc(batch, 0)
  return batch
}

function withHeaderOf(bytes: Uint8Array, at: number, records: Uint8Array): Uint8Array {
  const batch = new Uint8Array(batchHeaderBytes + records.length)
  batch.set(bytes.subarray(at, at + batchHeaderBytes))
  batch.set(records, batchHeaderBytes)
  putInt32(batch, 8, batch.length - batchPrefixBytes)
  return batch
}

/** Copies a record with its timestamp relative to another base; all behind it is the same. Gives the position behind it. */
function restamp(target: Uint8Array, start: number, source: Uint8Array, from: number, to: number, shiftMs: number): number {
  varint(source, from)
  const attributes = cursor
  const delta = varlong(source, attributes + 1) + shiftMs
  if (!Number.isSafeInteger(delta)) throw absurdTime(delta)
  const rest = cursor
  const length = 1 + varlongSize(delta) + to - rest
  let at = putVarint(target, start, length)
  target[at++] = source[attributes]!
  at = putVarlong(target, at, delta)
  target.set(source.subarray(rest, to), at)
  return start + varintSize(length) + length
}

/** Far beyond any time: it cannot be told exactly, nor moved to another base. */
function absurdTime(ms: number): MillraceError {
  return new MillraceError('MR_RECORD_CORRUPT', { reason: `a record has the time ${ms}` })
}
