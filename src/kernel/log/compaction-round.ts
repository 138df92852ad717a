import { isMillraceError } from '../errors/index.ts'
import { type Compression } from '../ports/compression.ts'
import { batchBytesOf, batchHeaderBytes, codecOf, isControl, lastOffsetOf, recordsCountOf } from '../record/batch-header.ts'
import { BatchReader } from '../record/batch-reader.ts'
import { isCodec, type CompressionCodec } from '../record/compression-codec.ts'
import { decompressedBytesMax } from '../record/record-limits.ts'
import { type OffsetMap } from './offset-map.ts'
import { RecordOrder } from './record-order.ts'
import { emptied, RecordSieve, type SieveRound } from './record-sieve.ts'

/** How batches that are written again are compressed. */
export interface RewriteOptions {
  /** `compression.type` of the topic; undefined for `producer`: the batch keeps its codec. */
  readonly codec: CompressionCodec | undefined
  readonly level: number | undefined
}

/** Whether the records of the batch are needed by `indexBatch`. */
export function isIndexed(bytes: Uint8Array, at: number, from: number): boolean {
  return lastOffsetOf(bytes, at) >= from && !isControl(bytes, at) && recordsCountOf(bytes, at) !== 0
}

/** The records of a batch are not what its header says, under a right CRC: nobody can tell their keys, and the batch is left as it is. */
export function isUnreadable(error: unknown): boolean {
  return isMillraceError(error, 'MR_RECORD_CORRUPT') || isMillraceError(error, 'MR_RECORD_DECOMPRESSED_TOO_LARGE')
}

/**
 * Puts the keys of a batch from the offset `from` on into the map. `records` are its records, decompressed, where `isIndexed` says that they are needed, or undefined where
 * they cannot be read. False when the map is full: it ends before the first record that found no room.
 */
export function indexBatch(map: OffsetMap, bytes: Uint8Array, at: number, records: Uint8Array | undefined, reader: BatchReader, from: number): boolean {
  try {
    if (records !== undefined && isIndexed(bytes, at, from) && !indexRecords(map, reader.openRecords(bytes, at, records, 0, records.length), order.open(bytes, at), from)) return false
  } catch (error) {
    if (!isUnreadable(error)) throw error
  }
  map.reached(lastOffsetOf(bytes, at) + 1)
  return true
}

const order = new RecordOrder()

function indexRecords(map: OffsetMap, reader: BatchReader, order: RecordOrder, from: number): boolean {
  while (reader.next()) {
    order.check(reader.offset)
    if (reader.offset < from) continue
    if (reader.keyLength < 0) map.reached(reader.offset + 1)
    else if (!map.put(reader.recordBytes, reader.keyStart, reader.keyStart + reader.keyLength, reader.offset)) return false
  }
  return true
}

/** Compacts batches one after another, in their order. */
export class BatchCompactor {
  readonly sieve: RecordSieve
  /** Batches that were left as they are because their records cannot be read. */
  unreadable = 0
  private readonly rewrite: RewriteOptions
  private readonly reader = new BatchReader()

  constructor(round: SieveRound, rewrite: RewriteOptions) {
    this.sieve = new RecordSieve(round)
    this.rewrite = rewrite
  }

  /**
   * What is left of the batch at `at`, all of which is there: a view of it where it stays as it is; undefined when it goes; `rewritten` when some of its records
   * go: they are in `sieve.kept`, to be compressed by `codecOf`, and `rewritten` makes a batch of them. `records` are its records, decompressed, where
   * `RecordSieve.readsRecords` says that they are needed. See `RecordSieve.sift` for `keepsPlace`.
   */
  compact(bytes: Uint8Array, at: number, records: Uint8Array | undefined, keepsPlace: boolean): Uint8Array | 'rewritten' | undefined {
    const whole = bytes.subarray(at, at + batchBytesOf(bytes, at))
    const { sieve, reader } = this
    if (records === undefined && RecordSieve.readsRecords(bytes, at)) return this.left(whole)
    try {
      const sifted = sieve.sift(bytes, at, records === undefined ? reader : reader.openRecords(bytes, at, records, 0, records.length), keepsPlace)
      if (sifted === 'whole') return whole
      if (sifted === 'gone') return undefined
      if (sifted === 'empty') return emptied(bytes, at)
      sieve.collect(bytes, at, reader.recordBytes)
    } catch (error) {
      if (!isUnreadable(error)) throw error
      return this.left(whole)
    }
    return 'rewritten'
  }

  /** After `rewritten`: the codec and level to compress `sieve.kept` with. */
  codecFor(bytes: Uint8Array, at: number): CompressionCodec {
    return this.rewrite.codec ?? codecOf(bytes, at)
  }

  get level(): number | undefined { return this.rewrite.level }

  /** After `rewritten`: the batch, of what was compressed. */
  rewritten(bytes: Uint8Array, at: number, compressed: Uint8Array): Uint8Array {
    return this.sieve.rewritten(bytes, at, this.codecFor(bytes, at), compressed)
  }

  private left(whole: Uint8Array): Uint8Array {
    this.unreadable++
    this.sieve.keepsTombstones = true
    return whole
  }
}

/** The records of the batch at `at`, decompressed here; undefined where that cannot be done. */
export function recordsOfBatch(bytes: Uint8Array, at: number, compression: Compression): Uint8Array | undefined {
  const stored = bytes.subarray(at + batchHeaderBytes, at + batchBytesOf(bytes, at))
  const codec = codecOf(bytes, at)
  if (codec === 0) return stored
  if (!isCodec(codec)) return undefined
  try {
    return compression.decompress(codec, stored, decompressedBytesMax)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    return undefined
  }
}

/** The same as `compact`, on this thread, to the end. */
export function compactInline(compactor: BatchCompactor, bytes: Uint8Array, at: number, keepsPlace: boolean, compression: Compression): Uint8Array | undefined {
  const records = RecordSieve.readsRecords(bytes, at) ? recordsOfBatch(bytes, at, compression) : undefined
  const left = compactor.compact(bytes, at, records, keepsPlace)
  if (left !== 'rewritten') return left
  const codec = compactor.codecFor(bytes, at)
  const { kept } = compactor.sieve
  return compactor.rewritten(bytes, at, codec === 0 ? kept : compression.compress(codec, kept, compactor.level))
}
