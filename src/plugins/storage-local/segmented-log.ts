import { assert } from '../../base/assert.ts'
import { isMillraceError } from '../../kernel/errors/index.ts'
import { type EpochEnd } from '../../kernel/log/epoch-history.ts'
import { closesToCompact, mustRoll } from '../../kernel/log/roll-policy.ts'
import { type PartitionId } from '../../kernel/model/ids.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import {
  type ActiveProducer, type AppendOrigin, type AppendOutcome, type CompactionState, type DamagedRange, type LogWatcher, type PartitionLog, type ReadRequest, type ReadSink, type TimestampHit,
} from '../../kernel/ports/partition-log.ts'
import { baseOffsetOf, lastOffsetDeltaOf, leaderEpochOf, maxTimestampOf, putBaseOffset, putLeaderEpoch } from '../../kernel/record/batch-header.ts'
import { type AppendedBatch } from './core/redo-group.ts'
import { type Flusher } from './io/flusher.ts'
import { type Segment } from './io/segment.ts'
import { LogReader } from './log-reader.ts'
import { type LogState } from './log-state.ts'
import { LogSync } from './log-sync.ts'
import { type RedoLog } from './redo-log.ts'
import { beginSweep, deletePrefix, roll, type SweepPlan } from './log-trim.ts'
import { truncateLog } from './log-truncation.ts'
import { locateRecord } from './record-locator.ts'

/** The batch at hand, for the roll policy; one object, so that an append makes none for it. */
const next = { bytes: 0, lastOffset: 0, maxTimestamp: -1 }
/** The batch that was appended; one object too. */
const appended: AppendedBatch = { bytes: new Uint8Array(0), at: 0, length: 0, logEnd: 0, segmentBase: 0, position: 0 }

/** A partition log in segment files, laid out as Kafka does. */
export class SegmentedLog implements PartitionLog {
  readonly state: LogState
  readonly sync: LogSync
  private readonly reader: LogReader

  constructor(state: LogState, flusher: Flusher, redo: RedoLog | undefined) {
    this.state = state
    this.sync = new LogSync(state, flusher, redo)
    this.reader = new LogReader(state)
  }

  get id(): PartitionId { return this.state.id }
  get startOffset(): number { return this.state.start }
  get endOffset(): number { return this.state.end }
  get flushedOffset(): number { return this.state.flushed }
  get highWatermark(): number { return this.state.watermark }
  get lastEpoch(): number { return this.state.epochs.lastEpoch }
  get sizeBytes(): number { return this.state.sizeBytes }
  get segmentCount(): number { return this.state.segments.length }
  get damage(): readonly DamagedRange[] { return this.state.world.integrity.of(this.state.id) }
  get missing(): DamagedRange | undefined { return this.state.world.integrity.lostTailOf(this.state.id) }
  get compaction(): CompactionState | undefined { return this.state.world.compactionOf(this.state.id) }
  get producers(): Iterable<ActiveProducer> { return this.state.producers.active() }
  get watcher(): LogWatcher | undefined { return this.state.watcher }
  set watcher(watcher: LogWatcher | undefined) { this.state.watcher = watcher }

  append(bytes: Uint8Array, at: number, length: number, origin: AppendOrigin): AppendOutcome {
    const { state } = this
    state.check()
    if (state.home.full) state.home.checkSpace()
    assert(origin.leaderEpoch >= state.epochs.lastEpoch, 'leader epochs of a log never go back')
    if (origin.role === 'leader') {
      if (state.producers.check(bytes, at) === 'duplicate') {
        return { baseOffset: state.producers.duplicateBaseOffset, lastOffset: state.producers.duplicateLastOffset, duplicate: true }
      }
      putBaseOffset(bytes, at, state.end)
      putLeaderEpoch(bytes, at, origin.leaderEpoch)
    }
    const baseOffset = baseOffsetOf(bytes, at)
    assert(baseOffset >= state.end, 'a batch begins at the log end or later')
    const lastOffset = baseOffset + lastOffsetDeltaOf(bytes, at)
    next.bytes = length
    next.lastOffset = lastOffset
    next.maxTimestamp = maxTimestampOf(bytes, at)
    let segment = state.active
    if (this.rollsBefore(segment)) segment = roll(state, this.sync, baseOffset)
    try {
      segment.append(bytes, at, length, state.settings.segmentIndexBytes)
    } catch (error) {
      throw this.appendFailed(segment, error)
    }
    state.producers.apply(bytes, at)
    state.epochs.append(leaderEpochOf(bytes, at), baseOffset)
    appended.bytes = bytes
    appended.at = at
    appended.length = length
    appended.logEnd = state.end
    appended.segmentBase = segment.baseOffset
    appended.position = segment.sizeBytes - length
    state.end = lastOffset + 1
    state.sizeBytes += length
    this.sync.appended(appended)
    return { baseOffset, lastOffset, duplicate: false }
  }

  read(request: ReadRequest, sink: ReadSink): (() => void) | undefined {
    return this.reader.read(request, sink)
  }

  truncateTo(offset: number): void {
    this.state.check()
    if (offset >= this.state.end) return
    this.reader.forgetHints()
    truncateLog(this.state, this.sync, offset)
  }

  deleteTo(offset: number): void {
    this.state.check()
    deletePrefix(this.state, this.sync, offset)
  }

  locate(timestampMs: number | 'max', endOffset: number): TimestampHit | undefined {
    this.state.check()
    return this.state.guard(() => this.state.lookUp(() => locateRecord(this.state, timestampMs, endOffset)))
  }

  epochEnd(epoch: number): EpochEnd {
    this.state.check()
    return this.state.epochs.endOf(epoch, this.state.end)
  }

  configure(settings: TopicSettings): void {
    this.state.check()
    this.state.settings = settings
    this.state.configured = true
    tellMissing(this.state)
    for (const segment of this.state.segments) segment.intervalBytes = settings.indexIntervalBytes
    this.sync.configured()
  }

  raiseHighWatermark(offset: number): void {
    this.state.check()
    this.state.watermark = Math.max(this.state.watermark, Math.min(offset, this.state.end))
  }

  beginSweep(nowMs: number): SweepPlan | undefined {
    return beginSweep(this.state, this.sync, nowMs)
  }

  /** Every later call fails with MR_LOG_CLOSED. */
  close(): void {
    this.state.fail(this.state.closed())
  }

  /** Whether the batch in `next` goes to a new segment. The first timestamp of one that was there at the start is read from it. */
  private rollsBefore(segment: Segment): boolean {
    const { state } = this
    try {
      return closesToCompact(state.id.topic, segment, state.sizeBytes, state.settings) || mustRoll(segment, next, state.settings, state.world.clock.wallMs())
    } catch (error) {
      throw state.home.fault(error)
    }
  }

  /** A full disk leaves the log as it was, if what was written can be cut again. */
  private appendFailed(segment: Segment, error: unknown): unknown {
    const told = this.state.home.fault(error)
    if (!isMillraceError(told, 'MR_FILE_NO_SPACE')) return told
    try {
      segment.restoreSize()
      this.state.home.filled()
      return told
    } catch (failure) {
      return this.state.home.fail(failure)
    }
  }
}

/** With durability `os` a power cut may take what was below the high watermark; with `fsync` it was on the disk. */
function tellMissing(log: LogState): void {
  const { id: { topic, partition }, end, missingTo, directory, settings } = log
  log.missingTo = 0
  if (missingTo === 0) return
  if (settings.durability !== 'fsync') {
    log.world.logger.warn('a log ends below its high watermark, as a power cut may leave it with durability os: the offsets of what is missing are given to others', {
      topic, partition, path: directory, end, highWatermark: missingTo, remedy: 'produce what is missing again; durability fsync keeps what was acknowledged',
    })
    return
  }
  log.world.integrity.lostTail({ topic, partition, first: end, last: missingTo - 1 }, log)
  log.world.logger.error('records that were on the disk are not there any more: the log ends below its high watermark, and their offsets are given to others', {
    topic, partition, path: directory, end, highWatermark: missingTo,
    remedy: 'was an older copy of the directory put here? Stop the broker and put the newer one back; or else look at the disk, and produce what is missing again',
  })
}
