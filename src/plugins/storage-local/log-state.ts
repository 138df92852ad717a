import { CheckpointTextError } from '../../kernel/log/checkpoint-text.ts'
import { EpochHistory } from '../../kernel/log/epoch-history.ts'
import { ProducerState } from '../../kernel/log/producer-state.ts'
import { drawJitterMs } from '../../kernel/log/roll-policy.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { type PartitionId } from '../../kernel/model/ids.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type LogWatcher } from '../../kernel/ports/partition-log.ts'
import { baseOffsetOf, lastOffsetOf } from '../../kernel/record/batch-header.ts'
import { BatchReader } from '../../kernel/record/batch-reader.ts'
import { sumHeader } from './core/batch-sums.ts'
import { SegmentIndexes } from './core/segment-indexes.ts'
import { CheckpointFile } from './io/checkpoint-file.ts'
import { type SegmentFacts } from './io/segment-facts.ts'
import { Segment } from './io/segment.ts'
import { type LogHome, type LogWorld } from './log-world.ts'
import { Doubt, tellMisread } from './second-look.ts'

/** The first batch of a segment that goes when a log is cut, or the end of the segment. */
export interface CutPoint {
  readonly segment: Segment
  readonly position: number
  readonly baseOffset: number
  /** Where the log ends then: behind the batch before, which gaps may lie behind. */
  readonly endOffset: number
}

/** What a partition log is made of; the classes around it are what can be done with it. */
export class LogState {
  readonly id: PartitionId
  readonly world: LogWorld
  readonly home: LogHome
  /** Of the partition. */
  readonly directory: string
  readonly epochs = new EpochHistory()
  readonly epochFile: CheckpointFile
  readonly producers: ProducerState
  readonly reader: BatchReader
  settings: TopicSettings
  /** Whether the settings are the topic's; until then they are the broker's defaults, and nothing is deleted by them. */
  configured = false
  /** In order; the last one is active. Never empty while the log is in service. */
  segments: Segment[] = []
  start = 0
  end = 0
  watermark = 0
  /** A checkpoint knows of records below this offset that a start did not find; 0 where it found all. */
  missingTo = 0
  /** What the topic's durability promises is kept for the records below. */
  flushed = 0
  /** The records below are known to be on the disk. */
  synced = 0
  /** The recovery point on the disk is here or above. */
  pointWritten = 0
  sizeBytes = 0
  /** What lies below was compacted; the rest is dirty. */
  cleanedTo = 0
  /** The first time at which a tombstone of the compacted part may go, as far as is known. */
  nextHorizonMs = Infinity
  /** Of the last snapshot of the producers between two rolls, and where in the active segment it was taken. */
  snapshotOffset = -1
  snapshotPosition = 0
  /** Counts what may have changed bytes that a read under way has seen or will see. */
  truncations = 0
  watcher: LogWatcher | undefined
  /** Set once: why nothing can be done with the log any more. */
  failure: Error | undefined
  /** Told when `failure` is set, to end what is under way. */
  readonly onFailure: ((error: Error) => void)[] = []
  private epochChangesWritten = -1
  private finished: readonly unknown[] = []
  /** A look-up is under way that is done again where it meets damage. */
  private looksTwice = false

  constructor(id: PartitionId, directory: string, settings: TopicSettings, world: LogWorld, home: LogHome) {
    this.id = id
    this.directory = directory
    this.settings = settings
    this.world = world
    this.home = home
    this.epochFile = new CheckpointFile(world.files, directory, 'leader-epoch-checkpoint', `leader epochs of ${id.topicId} ${id.partition}`)
    this.producers = new ProducerState(id, world.clock.wallMs())
    this.reader = new BatchReader(world.compression)
  }

  /** What the next start wants to find beside the active segment is on the disk, as it is now. */
  markFinished(): void {
    this.finished = this.place()
  }

  /** Nothing has changed since `markFinished` that those files tell of. */
  get isFinished(): boolean {
    const place = this.place()
    return this.finished.length > 0 && this.finished.every((each, index) => each === place[index])
  }

  private place(): readonly unknown[] {
    return [this.active, this.end, this.start, this.truncations]
  }

  get active(): Segment {
    return this.segments[this.segments.length - 1]!
  }

  /** Throws why the log is out of service. */
  check(): void {
    if (this.failure !== undefined) throw this.failure
  }

  /** Takes the log out of service. The first call counts. */
  fail(error: Error): void {
    if (this.failure !== undefined) return
    this.failure = error
    for (const segment of this.segments) segment.release()
    for (const told of this.onFailure.splice(0)) told(error)
    this.watcher?.failed(error)
  }

  /** Runs something on files; `LogHome.fault` says what is thrown. */
  guard<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      throw this.home.fault(error)
    }
  }

  /** Runs what must not be left half done: whatever it fails with, the directory goes out of service, and a start sees to it. */
  wholly<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      throw this.home.fail(error)
    }
  }

  /** Makes the file of a new segment; it is not in `segments` yet. */
  createSegment(baseOffset: number): Segment {
    const { files } = this.world
    const segment = this.segmentOfBytes(baseOffset, { sizeBytes: 0, endOffset: baseOffset })
    files.open(segment.path('.log'), 'ensure').close()
    try {
      segment.sums.begin()
      segment.trustFrom(0, baseOffset)
      segment.open(SegmentIndexes.empty(baseOffset), false, true)
    } catch (error) {
      // The log goes on in the segment before: an empty one in the middle of it would say that it ends there.
      files.remove(segment.path('.log'))
      throw error
    }
    return segment
  }

  /** A segment of which the file is there; it is not in `segments` yet, nor open. */
  segmentOfBytes(baseOffset: number, facts: Pick<SegmentFacts, 'sizeBytes' | 'endOffset'>): Segment {
    const { clock, random, identity } = this.world
    const segment: Segment = new Segment(this.world, this.directory, baseOffset, {
      ...facts,
      createdMs: clock.wallMs(),
      jitterMs: drawJitterMs(this.settings, random.fraction()),
      intervalBytes: this.settings.indexIntervalBytes,
      sumHeader: sumHeader(identity.clusterId, this.id, baseOffset),
      damaged: (position, reason) => this.damaged(segment, position, reason),
    })
    return segment
  }

  /** The segment that holds `offset` or, where there is a gap, the next one; -1 when all end at or below it. */
  segmentOf(offset: number): number {
    let low = 0
    let high = this.segments.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.segments[middle]!.baseOffset <= offset) low = middle + 1
      else high = middle
    }
    let index = Math.max(0, low - 1)
    while (index < this.segments.length && this.segments[index]!.endOffset <= offset) index++
    return index < this.segments.length ? index : -1
  }

  /** Where the log is cut for all that reaches `offset`, which is in a segment, to go. */
  cutPoint(offset: number): CutPoint {
    let index = this.segments.length - 1
    while (index > 0 && this.segments[index]!.baseOffset >= offset) index--
    const segment = this.segments[index]!
    const from = segment.positionBelow(offset - 1)
    return segment.withFile(file => {
      const scan = segment.scan(file, from)
      let endOffset = segment.baseOffset
      while (scan.next()) {
        const last = lastOffsetOf(scan.bytes, scan.at)
        if (last >= offset) return { segment, position: scan.position, baseOffset: baseOffsetOf(scan.bytes, scan.at), endOffset }
        endOffset = last + 1
      }
      if (scan.problem !== undefined) throw this.damaged(segment, scan.position, scan.problem)
      return { segment, position: segment.sizeBytes, baseOffset: endOffset, endOffset }
    })
  }

  /**
   * The oldest segment with bytes that are not known to be on the disk. Segments are synced in order, so that none before one that is has
   * any; an empty one says nothing.
   */
  oldestUnsynced(): Segment | undefined {
    let oldest: Segment | undefined
    for (let index = this.segments.length - 1; index >= 0; index--) {
      const segment = this.segments[index]!
      if (segment.syncedBytes < segment.sizeBytes) oldest = segment
      else if (segment.sizeBytes > 0) break
    }
    return oldest
  }

  /**
   * Recovery after a crash may begin at the last entry of the offset index below this offset: what is below is on the disk, with the
   * indexes, the epochs and, of closed segments, the snapshots. Where a segment is closed at this very offset the last words beside it come later: the next start
   * sees to those.
   */
  recoveryPoint(): number {
    const first = this.segments.find(segment => segment === this.active || !segment.sidesSynced)!
    return Math.min(this.synced, Math.max(first.indexedTo, first.baseOffset))
  }

  /**
   * Writes the index entries of the active segment, and the epochs that begin below their end, and makes them durable. `done` is called later, or at once where there are no
   * entries.
   */
  syncIndexes(done: (error: unknown) => void): void {
    const { active, end } = this
    const { truncations } = active
    this.writeEpochs()
    active.writeSides()
    active.syncSides(error => {
      // Of what a truncation took meanwhile, and of what came in its place, this sync says nothing.
      if (error === undefined && active.truncations === truncations) active.indexedTo = Math.max(active.indexedTo, end)
      done(this.failure === undefined ? error : undefined)
    })
  }

  /** How far compaction had come before this start. */
  takeCleaned({ cleanedTo, nextHorizonMs }: Pick<LogState, 'cleanedTo' | 'nextHorizonMs'>): void {
    this.cleanedTo = cleanedTo <= this.end ? cleanedTo : 0
    this.nextHorizonMs = this.cleanedTo > 0 ? nextHorizonMs : Infinity
  }

  /** Takes over what is in the file. Where that cannot be done, says why. */
  loadEpochs(): string | undefined {
    const text = this.epochFile.read()
    if (text === undefined) return 'there is none'
    try {
      this.epochs.load(text)
    } catch (error) {
      if (!(error instanceof CheckpointTextError)) throw error
      return error.message
    }
    this.epochChangesWritten = this.epochs.changes
    return undefined
  }

  /** Writes the epochs if they have changed. Durable when it returns: for the part of the log that recovery will not read. */
  writeEpochs(): void {
    if (this.epochs.changes === this.epochChangesWritten) return
    const changes = this.epochs.changes
    this.epochFile.write(this.epochs.format())
    this.epochChangesWritten = changes
  }

  corrupt(offset: number, path: string, reason: string): MillraceError {
    return new MillraceError('MR_LOG_CORRUPT', { topic: this.id.topic, partition: this.id.partition, offset, path, reason })
  }

  /**
   * The batch at a position of a segment is not what was written, by two reads. Takes note of it, once, and gives the error for who asked: the log goes on
   * serving what is intact.
   */
  damaged(segment: Segment, position: number, reason: string, asked = segment.baseOffset): Error {
    const { topic, partition } = this.id
    if (this.looksTwice && this.suspects(segment, position)) return new Doubt(segment, position, reason)
    const place = segment.sums.offsetsAt(position)
    const first = place?.first ?? asked
    const behind = Math.max(first + 1, this.segments[this.segments.indexOf(segment) + 1]?.baseOffset ?? this.end)
    // Behind the end of a file that was cut off nothing is left of its segment. Whoever asked must get on, wherever the damage begins.
    const known = position < segment.sizeBytes ? place?.next : undefined
    const next = known === undefined || known <= asked ? behind : known
    const damage = { topic, partition, path: segment.path('.log'), position, first, last: next - 1, reason }
    // Of records that are deleted already, and only their segment is still there, nobody needs to be told.
    if (damage.last >= this.start) this.world.integrity.damaged(damage)
    return new MillraceError('MR_LOG_ROTTEN', { ...damage, next })
  }

  /**
   * The batch at a position is not what was written, by one read. Gives whether it is to be read once more, from the disk or the page cache: memory and bus may
   * have been at fault. Not where it is known to be damaged.
   */
  suspects(segment: Segment, position: number): boolean {
    const { integrity } = this.world
    if (integrity.knows(segment.path('.log'), position)) return false
    integrity.failed('first')
    segment.sums.forgetWindow()
    return true
  }

  /** It was what was written, the second time. */
  cleared({ segment, position, reason }: Pick<Doubt, 'segment' | 'position' | 'reason'>): void {
    const { topic, partition } = this.id
    tellMisread(this.world, { topic, partition, path: segment.path('.log'), position, reason })
  }

  /** The bytes of a range were found as they were written: damage that was told of there was none of the disk, or is repaired. */
  intact(segment: Segment, start: number, end: number): void {
    for (const { path, position, first, last } of this.world.integrity.forget(segment.path('.log'), start, end)) {
      this.world.logger.warn('what was damaged reads well now, and is served', { topic: this.id.topic, partition: this.id.partition, path, position, first, last })
    }
  }

  /** Runs a look-up; once more from its beginning where it meets what is not as it was written. */
  lookUp<T>(run: () => T): T {
    if (this.looksTwice) return run()
    this.looksTwice = true
    try {
      return run()
    } catch (error) {
      if (!(error instanceof Doubt)) throw error
      this.looksTwice = false
      const found = run()
      this.cleared(error)
      return found
    } finally {
      this.looksTwice = false
    }
  }

  closed(): MillraceError {
    return new MillraceError('MR_LOG_CLOSED', { topic: this.id.topic, partition: this.id.partition })
  }

  outOfRange(offset: number): MillraceError {
    const { topic, partition } = this.id
    return new MillraceError('MR_LOG_OFFSET_OUT_OF_RANGE', { topic, partition, offset, start: this.start, end: this.end })
  }
}
