import { BatchCompactor, indexBatch, isIndexed, isUnreadable, recordsOfBatch } from '../../kernel/log/compaction-round.ts'
import { OffsetMap } from '../../kernel/log/offset-map.ts'
import { RecordSieve } from '../../kernel/log/record-sieve.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { batchBytesOf, batchHeaderBytes, codecOf } from '../../kernel/record/batch-header.ts'
import { BatchReader } from '../../kernel/record/batch-reader.ts'
import { compressInlineBytesMax, decompressesInline, isCodec, type CompressionCodec } from '../../kernel/record/compression-codec.ts'
import { decompressedBytesMax } from '../../kernel/record/record-limits.ts'
import { figuresOf, type Compacted, type RoundFacts, type RoundFigures, type RoundWork } from './round-work.ts'

/** Bytes that are looked at before others have their turn. */
const sliceBytes = 65_536

/** The work of a round on this thread, in slices between which others have their turn; what dear codecs do is done in their pool. */
export class WorkInSlices implements RoundWork {
  readonly chunkBytes: number
  readonly readsAhead = false
  private readonly facts: RoundFacts
  private readonly compression: Compression
  private readonly pause: (bytes: number) => Promise<void>
  private readonly reader = new BatchReader()
  private readonly map: OffsetMap
  private readonly compactor: BatchCompactor
  private sliced = 0

  constructor(facts: RoundFacts, compression: Compression, chunkBytes: number, pause: (bytes: number) => Promise<void>) {
    this.facts = facts
    this.compression = compression
    this.chunkBytes = chunkBytes
    this.pause = pause
    this.map = new OffsetMap({ bytes: facts.mapBytes, ...facts })
    this.compactor = new BatchCompactor({ map: this.map, ...facts }, facts.rewrite)
  }

  memory(bytes: number): Uint8Array { return new Uint8Array(bytes) }

  async index(bytes: Uint8Array, end: number): Promise<boolean> {
    const { begin } = this.facts
    for (let at = 0; at < end; at += batchBytesOf(bytes, at)) {
      const ready = isIndexed(bytes, at, begin) ? this.recordsOf(bytes, at) : undefined
      const records = ready instanceof Promise ? await ready : ready
      if (!indexBatch(this.map, bytes, at, records, this.reader, begin)) return false
      const pause = this.slice(batchBytesOf(bytes, at))
      if (pause !== undefined) await pause
    }
    return true
  }

  reached(offset: number): void { this.map.reached(offset) }

  async compact(bytes: Uint8Array, end: number, keepsLast: boolean): Promise<Compacted> {
    const batches: Uint8Array[] = []
    let changed = false
    for (let at = 0; at < end;) {
      const size = batchBytesOf(bytes, at)
      const ready = RecordSieve.readsRecords(bytes, at) ? this.recordsOf(bytes, at) : undefined
      const records = ready instanceof Promise ? await ready : ready
      const left = this.compactor.compact(bytes, at, records, keepsLast && at + size === end)
      const batch = left === 'rewritten' ? await this.rewritten(bytes, at) : left
      changed ||= batch === undefined || left === 'rewritten' || batch.length !== size
      if (batch !== undefined) batches.push(batch)
      const pause = this.slice(size)
      if (pause !== undefined) await pause
      at += size
    }
    return { batches, changed }
  }

  figures(): Promise<RoundFigures> { return Promise.resolve(figuresOf(this.map, this.compactor)) }

  end(): void {}

  /** Decompressed, now or later; undefined where that cannot be done. */
  private recordsOf(bytes: Uint8Array, at: number): Uint8Array | Promise<Uint8Array | undefined> | undefined {
    const codec = codecOf(bytes, at)
    const storedBytes = batchBytesOf(bytes, at) - batchHeaderBytes
    if (!isCodec(codec) || decompressesInline(codec, storedBytes)) return recordsOfBatch(bytes, at, this.compression)
    return this.decompressed(codec, bytes.subarray(at + batchHeaderBytes, at + batchHeaderBytes + storedBytes))
  }

  private async decompressed(codec: CompressionCodec, stored: Uint8Array): Promise<Uint8Array | undefined> {
    try {
      return await later(done => this.compression.decompressLater(codec, stored, decompressedBytesMax, done))
    } catch (error) {
      if (!isUnreadable(error)) throw error
      return undefined
    }
  }

  private async rewritten(bytes: Uint8Array, at: number): Promise<Uint8Array> {
    const { compactor } = this
    return compactor.rewritten(bytes, at, await this.compressed(compactor.codecFor(bytes, at), compactor.sieve.kept, compactor.level))
  }

  private async compressed(codec: CompressionCodec, records: Uint8Array, level: number | undefined): Promise<Uint8Array> {
    if (codec === 0) return records
    if (records.length <= compressInlineBytesMax(codec, level)) return this.compression.compress(codec, records, level)
    return later(done => this.compression.compressLater(codec, records, level, done))
  }

  private slice(bytes: number): Promise<void> | undefined {
    this.sliced += bytes
    if (this.sliced < sliceBytes) return undefined
    const { sliced } = this
    this.sliced = 0
    return this.pause(sliced)
  }
}

function later(begin: (done: (error: unknown, bytes: Uint8Array | undefined) => void) => void): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    begin((error, bytes) => {
      if (bytes !== undefined) resolve(bytes)
      else reject(error as Error)
    })
  })
}
