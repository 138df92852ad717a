import { type Compression } from '../ports/compression.ts'
import { batchBytesOf, batchHeaderBytes, codecOf, isControl, lastOffsetOf, recordsCountOf } from '../record/batch-header.ts'
import { BatchReader } from '../record/batch-reader.ts'
import { type CompressionCodec } from '../record/compression-codec.ts'
import { decompressedBytesMax } from '../record/record-limits.ts'
import { type OffsetMap } from './offset-map.ts'
import { codecAfter, emptied, RecordSieve, type SieveRound } from './record-sieve.ts'

/** How batches that are written again are compressed. */
export interface RewriteOptions {
  /** `compression.type` of the topic; undefined for `producer`: the batch keeps its codec. */
  readonly codec: CompressionCodec | undefined
  readonly level: number | undefined
}

/** Whether the records of the batch have to be at hand for `indexBatch`. */
export function isIndexed(bytes: Uint8Array, at: number, from: number): boolean {
  return lastOffsetOf(bytes, at) >= from && !isControl(bytes, at) && recordsCountOf(bytes, at) > 0
}

/**
 * Puts the keys of a batch from the offset `from` on into the map; `reader` has been opened on it where `isIndexed` says so. False when the map is
 * full: it ends before the first record that found no room.
 */
export function indexBatch(map: OffsetMap, bytes: Uint8Array, at: number, reader: BatchReader, from: number): boolean {
  if (isIndexed(bytes, at, from)) {
    while (reader.next()) {
      if (reader.offset < from) continue
      if (reader.keyLength >= 0) {
        if (!map.put(reader.recordBytes, reader.keyStart, reader.keyStart + reader.keyLength, reader.offset)) return false
      } else {
        map.reached(reader.offset + 1)
      }
    }
  }
  map.reached(lastOffsetOf(bytes, at) + 1)
  return true
}

/** Compacts batches that are in memory, one after another, in their order. */
export class BatchCompactor {
  readonly sieve: RecordSieve
  private readonly compression: Compression
  private readonly rewrite: RewriteOptions
  private readonly reader: BatchReader

  constructor(round: SieveRound, compression: Compression, rewrite: RewriteOptions) {
    this.sieve = new RecordSieve(round)
    this.compression = compression
    this.rewrite = rewrite
    this.reader = new BatchReader(compression)
  }

  /** What is left of the batch at `at`, all of which is there: a view of it where it stays as it is; undefined when it goes. See `RecordSieve.sift`. */
  compact(bytes: Uint8Array, at: number, keepsPlace: boolean): Uint8Array | undefined {
    const end = at + batchBytesOf(bytes, at)
    const { sieve, reader } = this
    const stored = bytes.subarray(at + batchHeaderBytes, end)
    const readsRecords = RecordSieve.readsRecords(bytes, at)
    const records = readsRecords && codecOf(bytes, at) !== 0 ? this.compression.decompress(codecOf(bytes, at), stored, decompressedBytesMax) : stored
    if (readsRecords) reader.openRecords(bytes, at, records, 0, records.length)
    switch (sieve.sift(bytes, at, reader, keepsPlace)) {
      case 'whole': return bytes.subarray(at, end)
      case 'gone': return undefined
      case 'empty': return emptied(bytes, at)
      case 'some': {
        sieve.collect(bytes, at, reader.openRecords(bytes, at, records, 0, records.length))
        const codec = codecAfter(bytes, at, this.rewrite.codec)
        return sieve.rewritten(bytes, at, codec, codec === 0 ? sieve.kept : this.compression.compress(codec, sieve.kept, this.rewrite.level))
      }
    }
  }
}
