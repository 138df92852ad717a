import { assert } from '../../base/assert.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { runEnd } from '../../kernel/log/batch-walk.ts'
import { compactionNeed, type CompactionNeed } from '../../kernel/log/compaction-policy.ts'
import { EpochHistory, type EpochEnd } from '../../kernel/log/epoch-history.ts'
import { ProducerState } from '../../kernel/log/producer-state.ts'
import { firstRecordSince, newestRecord } from '../../kernel/log/record-search.ts'
import { expiredSegments } from '../../kernel/log/retention-policy.ts'
import { closesToCompact, drawJitterMs, mayCloseByTime, mustRoll } from '../../kernel/log/roll-policy.ts'
import { type PartitionId } from '../../kernel/model/ids.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type Clock, type Random } from '../../kernel/ports/clock.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type SweepReport } from '../../kernel/ports/log-store.ts'
import {
  type ActiveProducer, type AppendOrigin, type AppendOutcome, type CompactionState, type LogWatcher, type PartitionLog, type ReadRequest, type ReadSink, type TimestampHit,
} from '../../kernel/ports/partition-log.ts'
import { baseOffsetOf, lastOffsetDeltaOf, leaderEpochOf, maxTimestampOf, putBaseOffset, putLeaderEpoch } from '../../kernel/record/batch-header.ts'
import { BatchReader } from '../../kernel/record/batch-reader.ts'
import { compactSegments, type RoundOptions, type RoundReport } from './memory-round.ts'
import { MemorySegment } from './memory-segment.ts'

/** The last round of compaction failed. */
export interface CompactionFailure {
  readonly failures: number
  readonly reason: string
  readonly nextTryMs: number
}

export interface MemoryLogWorld {
  readonly clock: Clock
  readonly random: Random
  readonly compression: Compression
  /** `producer.id.expiration.ms` */
  readonly producerExpirationMs: number
}

const nothing = new Uint8Array(0)
const noRelease = (): void => {}

/** A partition log in slabs of memory. What was appended counts as flushed: it is as safe as it will ever be. */
export class MemoryLog implements PartitionLog {
  readonly id: PartitionId
  watcher: LogWatcher | undefined
  private readonly world: MemoryLogWorld
  private readonly epochs = new EpochHistory()
  private readonly producerState: ProducerState
  private readonly reader: BatchReader
  private settings: TopicSettings
  private segments: MemorySegment[]
  private start = 0
  private end = 0
  private watermark = 0
  private bytes = 0
  private closed = false
  /** Set by whoever compacts. */
  compactionFailure: CompactionFailure | undefined
  private cleanedTo = 0
  private nextHorizonMs = Infinity
  private lastRoundMs = -1

  constructor(id: PartitionId, settings: TopicSettings, world: MemoryLogWorld) {
    this.id = id
    this.settings = settings
    this.world = world
    this.producerState = new ProducerState(id, world.clock.wallMs())
    this.reader = new BatchReader(world.compression)
    this.segments = [this.newSegment(0)]
  }

  get startOffset(): number { return this.start }
  get endOffset(): number { return this.end }
  get flushedOffset(): number { return this.end }
  get highWatermark(): number { return this.watermark }
  get lastEpoch(): number { return this.epochs.lastEpoch }
  get sizeBytes(): number { return this.bytes }
  get segmentCount(): number { return this.segments.length }
  get producers(): Iterable<ActiveProducer> { return this.producerState.active() }

  get compaction(): CompactionState | undefined {
    const need = this.compactionNeed()
    if (need === undefined) return undefined
    const { cleanedTo, lastRoundMs, compactionFailure: failure } = this
    return { cleanedTo, dirtyBytes: need.dirtyBytes, dirtyRatio: need.ratio, lastRoundMs, failure }
  }

  append(bytes: Uint8Array, at: number, length: number, origin: AppendOrigin): AppendOutcome {
    if (this.closed) throw this.closedError()
    assert(origin.leaderEpoch >= this.epochs.lastEpoch, 'leader epochs of a log never go back')
    if (origin.role === 'leader') {
      if (this.producerState.check(bytes, at) === 'duplicate') {
        return { baseOffset: this.producerState.duplicateBaseOffset, lastOffset: this.producerState.duplicateLastOffset, duplicate: true }
      }
      putBaseOffset(bytes, at, this.end)
      putLeaderEpoch(bytes, at, origin.leaderEpoch)
    }
    const baseOffset = baseOffsetOf(bytes, at)
    assert(baseOffset >= this.end, 'a batch begins at the log end or later')
    const lastOffset = baseOffset + lastOffsetDeltaOf(bytes, at)
    let active = this.segments.at(-1)!
    const next = { bytes: length, lastOffset, maxTimestamp: maxTimestampOf(bytes, at) }
    if (closesToCompact(this.id.topic, active, this.bytes, this.settings) || mustRoll(active, next, this.settings, this.world.clock.wallMs())) {
      active = this.newSegment(baseOffset)
      this.segments.push(active)
    }
    active.append(bytes, at, length)
    this.producerState.apply(bytes, at)
    this.epochs.append(leaderEpochOf(bytes, at), baseOffset)
    this.end = lastOffset + 1
    this.bytes += length
    return { baseOffset, lastOffset, duplicate: false }
  }

  read(request: ReadRequest, sink: ReadSink): undefined {
    if (this.closed) return void sink.failed(this.closedError())
    const { offset, endOffset } = request
    if (offset < this.start || offset > this.end) return void sink.failed(this.rangeError(offset))
    const slab = offset >= endOffset ? undefined : this.segments.find(segment => segment.endOffset > offset)?.slabFor(offset)
    if (slab === undefined) return void sink.read(nothing, noRelease)
    const from = slab.find(offset)
    const to = runEnd(slab.bytes, from, slab.used, endOffset, request.maxBytes, request.atLeastOneBatch)
    sink.read(slab.bytes.subarray(from, to), noRelease)
  }

  truncateTo(offset: number): void {
    if (this.closed) throw this.closedError()
    if (offset >= this.end) return
    if (offset <= this.start) {
      this.segments = [this.newSegment(offset)]
      this.start = offset
    } else {
      while (this.segments.length > 1 && this.segments.at(-1)!.baseOffset >= offset) this.segments.pop()
      this.segments.at(-1)!.truncateTo(offset)
    }
    this.end = Math.max(this.start, this.segments.at(-1)!.endOffset)
    this.cleanedTo = Math.min(this.cleanedTo, this.end)
    this.watermark = Math.min(this.watermark, this.end)
    this.bytes = this.segments.reduce((sum, segment) => sum + segment.sizeBytes, 0)
    this.epochs.fit(this.start, this.end)
    this.rebuildProducers()
  }

  deleteTo(offset: number): void {
    if (this.closed) throw this.closedError()
    if (offset > this.watermark) throw this.rangeError(offset)
    if (offset <= this.start) return
    this.start = offset
    this.epochs.truncateStart(offset)
    let below = 0
    while (below < this.segments.length - 1 && this.segments[below]!.endOffset <= offset) below++
    this.drop(below)
  }

  locate(timestampMs: number | 'max', endOffset: number): TimestampHit | undefined {
    if (this.closed) throw this.closedError()
    const range = { startOffset: this.start, endOffset: Math.min(endOffset, this.end) }
    let newest: TimestampHit | undefined
    for (const segment of this.segments) {
      for (const slab of segment.slabs) {
        if (slab.endOffset <= range.startOffset || slab.baseOffset >= range.endOffset) continue
        if (timestampMs === 'max') {
          if (slab.maxTimestamp > (newest?.timestamp ?? -1)) newest = newestRecord(slab.bytes, 0, slab.used, range, this.reader, newest)
        } else if (slab.maxTimestamp >= timestampMs) {
          const hit = firstRecordSince(slab.bytes, 0, slab.used, timestampMs, range, this.reader)
          if (hit !== undefined) return hit
        }
      }
    }
    return newest
  }

  epochEnd(epoch: number): EpochEnd {
    if (this.closed) throw this.closedError()
    return this.epochs.endOf(epoch, this.end)
  }

  configure(settings: TopicSettings): void {
    if (this.closed) throw this.closedError()
    this.settings = settings
  }

  raiseHighWatermark(offset: number): void {
    if (this.closed) throw this.closedError()
    this.watermark = Math.max(this.watermark, Math.min(offset, this.end))
  }

  /** Rolls by time and for compaction, applies retention, forgets idle producers. */
  sweep(nowMs: number): Omit<SweepReport, 'left'> {
    this.producerState.expire(nowMs, this.world.producerExpirationMs)
    const count = this.segments.length
    const limits = { sizeBytes: this.bytes, startOffset: this.start, highWatermark: this.watermark, nowMs }
    const expired = expiredSegments(this.segments, limits, this.settings)
    const active = this.segments.at(-1)!
    const rolls = expired === count || mayCloseByTime(active, this.settings, nowMs) || closesToCompact(this.id.topic, active, this.bytes, this.settings)
    if (rolls) this.segments.push(this.newSegment(this.end))
    return { segmentsDeleted: expired, bytesDeleted: this.drop(expired), segmentsRolled: rolls ? 1 : 0 }
  }

  /** What compaction has to do; undefined where the topic is not compacted. */
  compactionNeed(): CompactionNeed | undefined {
    if (this.closed || !this.settings.compact) return undefined
    const open = this.producerState.firstOpenTransaction()
    const place = { cleanedTo: this.cleanedTo, bound: Math.min(this.watermark, open < 0 ? Infinity : open), nextHorizonMs: this.nextHorizonMs, nowMs: this.world.clock.wallMs() }
    return compactionNeed(this.segments.slice(0, -1), place, this.settings)
  }

  /** One round of compaction. Undefined when it came to nothing; `goesOn` when the table of keys had no room for all. */
  async compact(options: RoundOptions): Promise<RoundReport & { readonly goesOn: boolean } | undefined> {
    const need = this.compactionNeed()
    if (need === undefined) return undefined
    const before = this.cleanedTo
    const report = await compactSegments(this.segments.slice(0, -1), need, options, {
      compression: this.world.compression, settings: this.settings, nowMs: this.world.clock.wallMs(), lastOffsets: this.producerState.lastOffsets(),
      replace: (old, made) => this.replace(old, made),
    })
    if (report === undefined) return undefined
    this.cleanedTo = Math.max(this.cleanedTo, report.cleanedTo)
    this.nextHorizonMs = report.nextHorizonMs
    this.lastRoundMs = this.world.clock.wallMs()
    return { ...report, goesOn: report.cleanedTo < need.end && report.cleanedTo > before }
  }

  private replace(old: readonly MemorySegment[], made: MemorySegment): boolean {
    const index = this.segments.indexOf(old[0]!)
    const isThere = index >= 0 && old.every((segment, at) => this.segments[index + at] === segment && segment !== this.segments.at(-1))
    if (!isThere || old.at(-1)!.endOffset !== made.endOffset) return false
    this.segments.splice(index, old.length, made)
    this.bytes += made.sizeBytes - old.reduce((sum, segment) => sum + segment.sizeBytes, 0)
    return true
  }

  /** Every later call fails with MR_LOG_CLOSED. */
  close(): void {
    if (this.closed) return
    this.closed = true
    this.segments = []
    this.watcher?.failed(this.closedError())
  }

  /** Drops so many of the oldest segments; gives their bytes. */
  private drop(count: number): number {
    if (count === 0) return 0
    let bytes = 0
    for (const segment of this.segments.splice(0, count)) bytes += segment.sizeBytes
    this.bytes -= bytes
    this.start = Math.max(this.start, this.segments[0]!.baseOffset)
    this.epochs.truncateStart(this.start)
    return bytes
  }

  private newSegment(baseOffset: number): MemorySegment {
    return new MemorySegment(baseOffset, this.world.clock.wallMs(), drawJitterMs(this.settings, this.world.random.fraction()))
  }

  /** From all records left: which producer sent what is cut from a producer's last batches, the state itself does not say. */
  private rebuildProducers(): void {
    this.producerState.clear()
    for (const segment of this.segments) {
      for (const slab of segment.slabs) this.producerState.applyAll(slab.bytes, 0, slab.used)
    }
  }

  private closedError(): MillraceError {
    return new MillraceError('MR_LOG_CLOSED', { topic: this.id.topic, partition: this.id.partition })
  }

  private rangeError(offset: number): MillraceError {
    const { topic, partition } = this.id
    return new MillraceError('MR_LOG_OFFSET_OUT_OF_RANGE', { topic, partition, offset, start: this.start, end: this.end })
  }
}
