import { type CompactionNeed, segmentGroups } from '../../kernel/log/compaction-policy.ts'
import { BatchCompactor, indexBatch, isIndexed, isUnreadable, recordsOfBatch } from '../../kernel/log/compaction-round.ts'
import { OffsetMap, offsetMapBytes } from '../../kernel/log/offset-map.ts'
import { RecordSieve } from '../../kernel/log/record-sieve.ts'
import { batchBytesOf, batchHeaderBytes, codecOf, lastOffsetOf } from '../../kernel/record/batch-header.ts'
import { BatchReader } from '../../kernel/record/batch-reader.ts'
import { codecNamed, compressInlineBytesMax, decompressesInline, isCodec, type CompressionCodec } from '../../kernel/record/compression-codec.ts'
import { decompressedBytesMax } from '../../kernel/record/record-limits.ts'
import { sumHeader } from './core/batch-sums.ts'
import { CleanedSegment } from './io/cleaned-segment.ts'
import { type Segment } from './io/segment.ts'
import { type LogState } from './log-state.ts'
import { SegmentSource, type SourceChunk } from './segment-source.ts'
import { swapSegments } from './segment-swap.ts'

export interface CleaningOptions {
  /** `log.cleaner.dedupe.buffer.size` */
  readonly mapBytesMax: number
  /** `log.cleaner.io.buffer.load.factor` */
  readonly loadFactor: number
  /** `log.cleaner.io.buffer.size` */
  readonly ioBytes: number
  /** Lets others have their turn, for as long as the budget says after so many bytes that were read and written. Rejects with CleaningEnded when the cleaner stops. */
  readonly pause: (bytes: number) => Promise<void>
}

/** What one round has done. */
export interface CleaningReport {
  readonly bytesRead: number
  readonly bytesWritten: number
  readonly recordsRead: number
  readonly recordsKept: number
  /** How full the map got, 0 to 1. */
  readonly mapUtilization: number
}

/** The round came to nothing because its log was closed, cut, or lost segments meanwhile, or the cleaner stops. Not a failure. */
export class CleaningEnded extends Error {
  override readonly name = 'CleaningEnded'
}

/** Bytes that are looked at before others have their turn. */
const sliceBytes = 65_536

/** One round of compaction over one log: the keys of the dirty part, then group after group of segments written anew and swapped in. */
export class LogCleaning {
  private readonly log: LogState
  private readonly need: CompactionNeed
  private readonly options: CleaningOptions
  private readonly truncations: number
  private readonly reader = new BatchReader()
  private readonly map: OffsetMap
  private bytesRead = 0
  private bytesWritten = 0
  private sliced = 0

  constructor(log: LogState, need: CompactionNeed, options: CleaningOptions) {
    this.log = log
    this.need = need
    this.options = options
    this.truncations = log.truncations
    const bytes = offsetMapBytes(need.end - need.firstDirty, options.loadFactor, options.mapBytesMax)
    this.map = new OffsetMap({ bytes, loadFactor: options.loadFactor, secret: log.world.random.bytes(16), begin: need.firstDirty })
  }

  /** Rejects with CleaningEnded, or what reading and writing failed with: what was swapped in until then stays, and the next round begins where this one did. */
  async run(): Promise<CleaningReport> {
    const { log, map, need } = this
    await this.index()
    const { deleteRetentionMs, compressionType, compressionLevel, segmentBytes } = log.settings
    const compactor = new BatchCompactor(
      { map, nowMs: log.world.clock.wallMs(), deleteRetentionMs, lastOffsets: log.producers.lastOffsets() },
      { codec: compressionType === 'producer' ? undefined : codecNamed(compressionType), level: compressionLevel },
    )
    const closed = log.segments.filter(segment => !segment.isActive && segment.endOffset <= Math.max(need.end, need.firstDirty))
    for (const group of segmentGroups(closed, map.endOffset, segmentBytes)) await this.clean(group, compactor)
    const { topic, partition } = log.id
    if (compactor.unreadable > 0) log.world.logger.warn('compaction left batches as they are whose records cannot be read', { topic, partition, batches: compactor.unreadable })
    log.cleanedTo = Math.max(log.cleanedTo, map.endOffset)
    log.nextHorizonMs = compactor.sieve.nextHorizonMs
    const { recordsRead, recordsKept } = compactor.sieve
    return { bytesRead: this.bytesRead, bytesWritten: this.bytesWritten, recordsRead, recordsKept, mapUtilization: map.utilization }
  }

  /** Puts the keys of the dirty part into the map, as far as it has room. */
  private async index(): Promise<void> {
    const { log, need, map } = this
    for (const segment of log.segments.filter(each => each.endOffset > need.firstDirty && each.endOffset <= need.end)) {
      const source = new SegmentSource(log, segment, this.options.ioBytes)
      for (let chunk = await this.next(source); chunk !== undefined; chunk = await this.next(source)) {
        for (let at = 0; at < chunk.end; at += batchBytesOf(chunk.bytes, at)) {
          const ready = isIndexed(chunk.bytes, at, need.firstDirty) ? this.recordsOf(chunk.bytes, at) : undefined
          const records = ready instanceof Promise ? await ready : ready
          if (lastOffsetOf(chunk.bytes, at) >= need.firstDirty && !indexBatch(map, chunk.bytes, at, records, this.reader, need.firstDirty)) return
          const pause = this.slice(batchBytesOf(chunk.bytes, at))
          if (pause !== undefined) await pause
        }
      }
      map.reached(segment.endOffset)
    }
  }

  /** Writes a group of segments anew, and puts what is left in their place. */
  private async clean(group: readonly Segment[], compactor: BatchCompactor): Promise<void> {
    const { log } = this
    const first = group[0]!
    const last = group.at(-1)!
    this.check(...group)
    const cleaned = log.guard(() => new CleanedSegment(log.world, {
      directory: log.directory, baseOffset: first.baseOffset, endOffset: last.endOffset, intervalBytes: log.settings.indexIntervalBytes, sumHeader: sumHeader(log.world.identity.clusterId, log.id, first.baseOffset),
    }))
    try {
      let changed = group.length > 1
      for (const segment of group) changed = await this.copy(segment, segment === last, cleaned, compactor) || changed
      if (!changed) return log.guard(() => cleaned.discard())
      await cleaned.finish()
      this.check(...group)
    } catch (error) {
      const told = log.home.fault(error)
      if (log.failure === undefined) log.guard(() => cleaned.discard())
      throw told
    }
    swapSegments(log, group, cleaned)
  }

  /** Gives whether anything is not as it was. */
  private async copy(segment: Segment, isLast: boolean, cleaned: CleanedSegment, compactor: BatchCompactor): Promise<boolean> {
    const source = new SegmentSource(this.log, segment, this.options.ioBytes)
    let changed = false
    for (let chunk = await this.next(source); chunk !== undefined; chunk = await this.next(source)) {
      const { bytes, end, position } = chunk
      for (let at = 0; at < end;) {
        const size = batchBytesOf(bytes, at)
        const ready = RecordSieve.readsRecords(bytes, at) ? this.recordsOf(bytes, at) : undefined
        const records = ready instanceof Promise ? await ready : ready
        const left = compactor.compact(bytes, at, records, isLast && position + at + size === segment.sizeBytes)
        const batch = left === 'rewritten' ? await this.rewritten(compactor, bytes, at) : left
        changed ||= batch === undefined || left === 'rewritten' || batch.length !== size
        if (batch !== undefined) cleaned.append(batch)
        const pause = this.slice(size)
        if (pause !== undefined) await pause
        at += size
      }
      const before = cleaned.sizeBytes
      cleaned.write()
      this.bytesWritten += cleaned.sizeBytes - before
      if (cleaned.isDue) await cleaned.sync()
    }
    return changed
  }

  private async next(source: SegmentSource): Promise<SourceChunk | undefined> {
    this.check()
    const chunk = await source.next()
    this.bytesRead += chunk?.end ?? 0
    return chunk
  }

  /** Decompressed, now or later; undefined where that cannot be done. */
  private recordsOf(bytes: Uint8Array, at: number): Uint8Array | Promise<Uint8Array | undefined> | undefined {
    const codec = codecOf(bytes, at)
    const storedBytes = batchBytesOf(bytes, at) - batchHeaderBytes
    if (!isCodec(codec) || decompressesInline(codec, storedBytes)) return recordsOfBatch(bytes, at, this.log.world.compression)
    return this.decompressed(codec, bytes.subarray(at + batchHeaderBytes, at + batchHeaderBytes + storedBytes))
  }

  private async decompressed(codec: CompressionCodec, stored: Uint8Array): Promise<Uint8Array | undefined> {
    const { compression } = this.log.world
    try {
      return await later(done => compression.decompressLater(codec, stored, decompressedBytesMax, done))
    } catch (error) {
      if (!isUnreadable(error)) throw error
      return undefined
    }
  }

  private async rewritten(compactor: BatchCompactor, bytes: Uint8Array, at: number): Promise<Uint8Array> {
    const codec = compactor.codecFor(bytes, at)
    return compactor.rewritten(bytes, at, await this.compressed(codec, compactor.sieve.kept, compactor.level))
  }

  private async compressed(codec: CompressionCodec, records: Uint8Array, level: number | undefined): Promise<Uint8Array> {
    const { compression } = this.log.world
    if (codec === 0) return records
    if (records.length <= compressInlineBytesMax(codec, level)) return compression.compress(codec, records, level)
    return later(done => compression.compressLater(codec, records, level, done))
  }

  private slice(bytes: number): Promise<void> | undefined {
    this.sliced += bytes
    if (this.sliced < sliceBytes) return undefined
    const { sliced } = this
    this.sliced = 0
    return this.options.pause(sliced)
  }

  /** Whether all is still as it was when the round began, but for what it has swapped itself. */
  private check(...segments: readonly Segment[]): void {
    const { log } = this
    if (log.failure !== undefined || log.truncations !== this.truncations || !log.settings.compact) throw new CleaningEnded('the log was closed, cut, or is compacted no longer')
    if (segments.some(segment => segment.released)) throw new CleaningEnded('a segment was deleted')
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
