import { BatchCompactor, indexBatch, isIndexed, isUnreadable, recordsOfBatch } from '../../kernel/log/compaction-round.ts'
import { OffsetMap } from '../../kernel/log/offset-map.ts'
import { RecordSieve } from '../../kernel/log/record-sieve.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { batchBytesOf, batchHeaderBytes, codecOf } from '../../kernel/record/batch-header.ts'
import { BatchReader } from '../../kernel/record/batch-reader.ts'
import { compressInlineBytesMax, decompressesInline, isCodec, type CompressionCodec } from '../../kernel/record/compression-codec.ts'
import { decompressedBytesMax } from '../../kernel/record/record-limits.ts'
import { CleanedSegment, discardCleaned, type CleanedFacts } from './io/cleaned-segment.ts'
import { figuresOf, type RoundFacts, type RoundFigures, type RoundWork } from './round-work.ts'
import { SegmentSource, type ReadSegment, type SourceChunk } from './segment-source.ts'

export interface SlicesOptions<S> {
  readonly files: FileSystem
  readonly logger: Pick<Logger, 'warn'>
  readonly compression: Compression
  /** Bytes that are read at a time, but for larger batches. */
  readonly chunkBytes: number
  /** Bytes that are looked at before others have their turn. */
  readonly sliceBytes: number
  /** Whether dear codecs are worked with here too, and not in their pool. */
  readonly isAside: boolean
  readonly read: (segment: S) => ReadSegment
  /** Others have their turn, after so many bytes. Rejects where the round is to end. */
  readonly pause: (bytes: number) => Promise<void>
}

/** The work of a round on this thread, in slices between which others have their turn. */
export class WorkInSlices<S> implements RoundWork<S> {
  private readonly facts: RoundFacts
  private readonly options: SlicesOptions<S>
  private readonly reader = new BatchReader()
  private readonly map: OffsetMap
  private readonly compactor: BatchCompactor
  private buffer: Uint8Array = new Uint8Array(0)
  private bytesRead = 0
  private bytesWritten = 0
  private sliced = 0

  constructor(facts: RoundFacts, options: SlicesOptions<S>) {
    this.facts = facts
    this.options = options
    this.map = new OffsetMap({ bytes: facts.mapBytes, ...facts })
    this.compactor = new BatchCompactor({ map: this.map, ...facts }, facts.rewrite)
  }

  async index(segment: S): Promise<boolean> {
    const { begin } = this.facts
    const read = this.options.read(segment)
    const isWhole = await this.each(read, async ({ bytes, end }) => {
      for (let at = 0; at < end; at += batchBytesOf(bytes, at)) {
        const ready = isIndexed(bytes, at, begin) ? this.recordsOf(bytes, at) : undefined
        const records = ready instanceof Promise ? await ready : ready
        if (!indexBatch(this.map, bytes, at, records, this.reader, begin)) return false
        const pause = this.slice(batchBytesOf(bytes, at))
        if (pause !== undefined) await pause
      }
      return true
    })
    if (isWhole) this.map.reached(read.endOffset)
    return isWhole
  }

  async clean(group: readonly S[], facts: CleanedFacts): Promise<number | undefined> {
    const segments = group.map(segment => this.options.read(segment))
    const last = segments.at(-1)
    let cleaned = segments.length > 1 ? new CleanedSegment(this.options, facts) : undefined
    try {
      for (const segment of segments) {
        await this.each(segment, async chunk => {
          const left = await this.compact(chunk, segment === last && chunk.position + chunk.end === segment.sizeBytes)
          // As long as all stays there is nothing to write.
          if (cleaned === undefined && left !== undefined) {
            cleaned = new CleanedSegment(this.options, facts)
            await this.copy(segment, chunk.position, cleaned)
          }
          await this.write(left ?? [chunk.bytes.subarray(0, chunk.end)], cleaned)
          return true
        })
      }
      await cleaned?.finish()
      return cleaned?.sizeBytes
    } finally {
      cleaned?.close()
    }
  }

  discard(facts: CleanedFacts): Promise<void> {
    discardCleaned(this.options.files, facts)
    return Promise.resolve()
  }

  swapped(directory: string): Promise<void> {
    this.options.files.syncDirectory(directory)
    return Promise.resolve()
  }

  figures(): Promise<RoundFigures> { return Promise.resolve(figuresOf(this.map, this.compactor, { bytesRead: this.bytesRead, bytesWritten: this.bytesWritten })) }

  end(): void {}

  /** Gives each chunk of a segment to `act`, until that says false. */
  private async each(segment: ReadSegment, act: (chunk: SourceChunk) => Promise<boolean>): Promise<boolean> {
    const wanted = Math.min(Math.max(segment.sizeBytes, batchHeaderBytes), this.options.chunkBytes)
    if (this.buffer.length < wanted) this.buffer = new Uint8Array(wanted)
    const source = new SegmentSource(segment, this.buffer)
    for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
      this.bytesRead += chunk.end
      if (!await act(chunk)) return false
    }
    this.buffer = source.buffer
    return true
  }

  /** What stayed as it was until now: the batches of the segment before `position`. */
  private async copy(segment: ReadSegment, position: number, cleaned: CleanedSegment): Promise<void> {
    const source = new SegmentSource(segment, new Uint8Array(Math.min(this.options.chunkBytes, position)))
    for (let chunk = position > 0 ? await source.next() : undefined; chunk !== undefined && chunk.position < position; chunk = await source.next()) {
      this.bytesRead += chunk.end
      await this.write([chunk.bytes.subarray(0, Math.min(chunk.end, position - chunk.position))], cleaned)
      const pause = this.slice(chunk.end)
      if (pause !== undefined) await pause
    }
  }

  /** Pieces of whole batches. */
  private async write(pieces: readonly Uint8Array[], cleaned: CleanedSegment | undefined): Promise<void> {
    if (cleaned === undefined) return
    for (const piece of pieces) for (let at = 0; at < piece.length; at += batchBytesOf(piece, at)) cleaned.append(piece.subarray(at, at + batchBytesOf(piece, at)))
    const before = cleaned.sizeBytes
    cleaned.write()
    this.bytesWritten += cleaned.sizeBytes - before
    if (cleaned.isDue) await cleaned.sync()
  }

  /** What is left of the batches of a chunk; undefined where all stays as it is. */
  private async compact({ bytes, end }: SourceChunk, keepsLast: boolean): Promise<Uint8Array[] | undefined> {
    const batches: Uint8Array[] = []
    let changed = false
    for (let at = 0; at < end;) {
      const size = batchBytesOf(bytes, at)
      const ready = RecordSieve.readsRecords(bytes, at) ? this.recordsOf(bytes, at) : undefined
      const records = ready instanceof Promise ? await ready : ready
      const left = this.compactor.compact(bytes, at, records, keepsLast && at + size === end)
      const made = left === 'rewritten' ? this.rewritten(bytes, at) : left
      const batch = made instanceof Promise ? await made : made
      changed ||= batch === undefined || left === 'rewritten' || batch.length !== size
      if (batch !== undefined) batches.push(batch)
      const pause = this.slice(size)
      if (pause !== undefined) await pause
      at += size
    }
    return changed ? batches : undefined
  }

  /** Decompressed, now or later; undefined where that cannot be done. */
  private recordsOf(bytes: Uint8Array, at: number): Uint8Array | Promise<Uint8Array | undefined> | undefined {
    const codec = codecOf(bytes, at)
    const storedBytes = batchBytesOf(bytes, at) - batchHeaderBytes
    if (this.options.isAside || !isCodec(codec) || decompressesInline(codec, storedBytes)) return recordsOfBatch(bytes, at, this.options.compression)
    return this.decompressed(codec, bytes.subarray(at + batchHeaderBytes, at + batchHeaderBytes + storedBytes))
  }

  private async decompressed(codec: CompressionCodec, stored: Uint8Array): Promise<Uint8Array | undefined> {
    try {
      return await later(done => this.options.compression.decompressLater(codec, stored, decompressedBytesMax, done))
    } catch (error) {
      if (!isUnreadable(error)) throw error
      return undefined
    }
  }

  private rewritten(bytes: Uint8Array, at: number): Uint8Array | Promise<Uint8Array> {
    const { compactor } = this
    const codec = compactor.codecFor(bytes, at)
    const records = this.compressed(codec, compactor.sieve.kept, compactor.level)
    return records instanceof Promise ? records.then(ready => compactor.rewritten(bytes, at, ready)) : compactor.rewritten(bytes, at, records)
  }

  private compressed(codec: CompressionCodec, records: Uint8Array, level: number | undefined): Uint8Array | Promise<Uint8Array> {
    const { compression, isAside } = this.options
    if (codec === 0) return records
    if (isAside || records.length <= compressInlineBytesMax(codec, level)) return compression.compress(codec, records, level)
    return later(done => compression.compressLater(codec, records, level, done))
  }

  private slice(bytes: number): Promise<void> | undefined {
    this.sliced += bytes
    if (this.sliced < this.options.sliceBytes) return undefined
    const { sliced } = this
    this.sliced = 0
    return this.options.pause(sliced)
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
