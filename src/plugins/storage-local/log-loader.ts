import { CheckpointTextError } from '../../kernel/log/checkpoint-text.ts'
import { type EpochEntry } from '../../kernel/log/epoch-history.ts'
import { baseOffsetOf, crcValid, lastOffsetOf, leaderEpochOf } from '../../kernel/record/batch-header.ts'
import { drawJitterMs, relativeOffsetMax } from '../../kernel/log/roll-policy.ts'
import { planDirectory } from './core/directory-plan.ts'
import { SegmentIndexes } from './core/segment-indexes.ts'
import { segmentFileName } from './core/segment-name.ts'
import { BatchScan } from './io/batch-scan.ts'
import { loadIndexes, resumeBelow, type ResumePoint } from './io/index-file.ts'
import { Segment } from './io/segment.ts'
import { hideSegment } from './io/segment-removal.ts'
import { type LogState } from './log-state.ts'
import { keepProducersBelow, recoverProducers, snapshotOffsets, snapshotPath, writeProducerSnapshot } from './producer-recovery.ts'

/** What the checkpoints of a directory say about one log. */
export interface KnownOfLog {
  /** The directory was stopped cleanly: every byte of it was synced, and nothing is scanned. */
  readonly clean: boolean
  /** Everything below was synced. Undefined when the checkpoint is lost: then it may be anything. */
  readonly recoveryPoint: number | undefined
  readonly startOffset: number
  readonly highWatermark: number
}

export interface LoadReport {
  /** Bytes that were read and checked. */
  readonly scannedBytes: number
  /** Bytes behind the last whole batch that were cut, with the segments behind them. */
  readonly cutBytes: number
}

/**
 * Brings a log into service from what is in its directory. After a clean stop nothing but the end of the last segment is looked at. Else
 * all batches from the recovery point on are checked (from the last index entry below it, or its segment's first byte), indexes made
 * anew from there, and what follows the last whole batch is cut; all that is kept is on the disk when this returns.
 *
 * An invalid byte below the recovery point was once on the disk as it should be: that is rot, not a torn write, and cutting there would lose
 * records that were acknowledged. Then, and when the log ends before its recovery point, this throws MR_LOG_CORRUPT and leaves all
 * bytes as they are.
 */
export function loadLog(log: LogState, known: KnownOfLog): LoadReport {
  const loader = new LogLoader(log, known)
  try {
    return loader.load()
  } catch (error) {
    for (const segment of log.segments) segment.release()
    throw error
  }
}

/** Makes durable what the next start wants to find beside the segments: the ends of the indexes, the producers' state. */
export function finishLog(log: LogState): void {
  for (const segment of log.segments) {
    if (segment.sidesSynced) continue
    segment.writeFinalIndexes()
    for (const suffix of ['.index', '.timeindex'] as const) syncPath(log, segment.path(suffix))
  }
  log.indexed = log.end
  writeProducerSnapshot(log, log.end, true)
  log.world.files.syncDirectory(log.directory)
}

class LogLoader {
  private readonly log: LogState
  private readonly known: KnownOfLog
  private readonly buffer = new Uint8Array(1 << 20)
  private scannedBytes = 0
  private cutBytes = 0
  /** As the file has them. */
  private filedEpochs: readonly EpochEntry[] = []
  /** The scan takes the batches that it checks into the producers' state: no second look at them is needed. */
  private replaysProducers = false

  constructor(log: LogState, known: KnownOfLog) {
    this.log = log
    this.known = known
  }

  load(): LoadReport {
    const { log, known } = this
    this.findSegments()
    this.dropBelowStart()
    if (log.segments.length > 0) {
      if (known.clean) this.openLast()
      else this.recover()
    }
    log.start = Math.max(known.startOffset, log.segments[0]?.baseOffset ?? 0)
    if (log.segments.length === 0 || log.active.endOffset < log.start) this.startAnew()
    log.end = Math.max(log.start, log.active.endOffset)
    log.flushed = log.synced = log.indexed = log.end
    log.watermark = Math.min(Math.max(known.highWatermark, log.start), log.end)
    log.sizeBytes = log.segments.reduce((sum, segment) => sum + segment.sizeBytes, 0)
    this.fitEpochs()
    if (!this.replaysProducers) recoverProducers(log, log.end)
    if (!known.clean) this.keep()
    this.tidySnapshots()
    return { scannedBytes: this.scannedBytes, cutBytes: this.cutBytes }
  }

  /** Finishes or undoes what was under way, and lists the segments with their sizes. */
  private findSegments(): void {
    const { log } = this
    const { files, clock, random, logger } = log.world
    const swapEnd = (baseOffset: number): number | undefined => this.endOfSwap(`${log.directory}/${segmentFileName(baseOffset, '.log')}.swap`, baseOffset)
    const plan = planDirectory(files.list(log.directory), swapEnd)
    for (const name of plan.foreign) logger.warn('a file that is not of this log is left alone', { path: `${log.directory}/${name}` })
    for (const name of plan.remove) files.remove(`${log.directory}/${name}`)
    for (const [from, to] of plan.rename) files.rename(`${log.directory}/${from}`, `${log.directory}/${to}`)
    log.segments = plan.segments.map((baseOffset, index) => {
      const segment = new Segment(log.world, log.directory, baseOffset, {
        sizeBytes: files.stat(`${log.directory}/${segmentFileName(baseOffset, '.log')}`)!.bytes,
        endOffset: plan.segments[index + 1] ?? baseOffset,
        createdMs: clock.wallMs(),
        jitterMs: drawJitterMs(log.settings, random.fraction()),
        intervalBytes: log.settings.indexIntervalBytes,
      })
      segment.markSynced()
      segment.sidesSynced = true
      return segment
    })
  }

  /** The log start was durable before these were deleted, or were about to be: some of them may be gone, and none is wanted. */
  private dropBelowStart(): void {
    const { log, known } = this
    const below = log.segments.filter((_, index) => (log.segments[index + 1]?.baseOffset ?? Infinity) <= known.startOffset).length
    if (below === 0) return
    keepProducersBelow(log, log.segments[below]!.baseOffset)
    for (const segment of log.segments.splice(0, below)) this.discard(segment)
  }

  private discard(segment: Segment): void {
    segment.release()
    for (const path of hideSegment(this.log.world.files, segment)) this.log.world.files.remove(path)
  }

  /** Undefined when it is not batches to its last byte. */
  private endOfSwap(path: string, baseOffset: number): number | undefined {
    const file = this.log.world.files.open(path, 'read')
    try {
      const scan = new BatchScan(file, 0, file.size())
      let end = baseOffset
      while (scan.next()) {
        if (!scan.load() || problemOf(scan, end, baseOffset) !== undefined) return undefined
        end = lastOffsetOf(scan.bytes, scan.at) + 1
      }
      return scan.problem === undefined && end > baseOffset ? end : undefined
    } finally {
      file.close()
    }
  }

  /** Index of the segment that holds the recovery point. */
  private firstToCheck(): number {
    let first = 0
    for (const [index, segment] of this.log.segments.entries()) if (segment.baseOffset <= (this.known.recoveryPoint ?? 0)) first = index
    return first
  }

  /** The epochs of the part below `scanFrom` come from their file, or from all headers of that part when it cannot be read. */
  private loadEpochs(scanFrom: number): void {
    const { log } = this
    try {
      log.loadEpochs()
      this.filedEpochs = [...log.epochs.all]
      log.epochs.truncateEnd(scanFrom)
    } catch (error) {
      if (!(error instanceof CheckpointTextError)) throw error
      log.world.logger.warn('leader epochs were made anew from the batches', { path: log.epochFile.path, reason: error.message })
      for (const segment of log.segments) {
        if (segment.baseOffset >= scanFrom) break
        segment.withFile(file => {
          const scan = new BatchScan(file, 0, segment.sizeBytes, this.buffer)
          while (scan.next() && baseOffsetOf(scan.bytes, scan.at) < scanFrom) {
            log.epochs.append(leaderEpochOf(scan.bytes, scan.at), baseOffsetOf(scan.bytes, scan.at))
          }
        })
      }
    }
  }

  /** What a truncation to the same end leaves: see `EpochHistory.fit`. The scan has seen no batch of a log of which nothing is left. */
  private fitEpochs(): void {
    const { epochs, start, end } = this.log
    epochs.fit(start, end)
    if (start < end || epochs.lastEpoch >= 0) return
    for (const { epoch, startOffset } of this.filedEpochs) epochs.append(epoch, startOffset)
    epochs.fit(start, end)
  }

  /** After a clean stop: the end of the log is the end of the last segment's last batch. */
  private openLast(): void {
    const { log } = this
    this.loadEpochs(Infinity)
    const last = log.active
    const { baseOffset, sizeBytes, stem } = last
    const loaded = last.withFile(file => loadIndexes(log.world.files, { baseOffset, sizeBytes, stem, file }, last.intervalBytes))
    if (loaded.rebuilt !== undefined) {
      log.world.logger.warn('an index was made anew from its segment', { segment: last.path('.log'), reason: loaded.rebuilt })
    }
    if (loaded.problem !== undefined) throw log.corrupt(loaded.endOffset, last.path('.log'), `${loaded.problem}, though the last stop was clean`)
    last.endOffset = loaded.endOffset
    last.open(loaded.indexes, loaded.rebuilt === undefined)
    last.markSynced()
    this.checkEnd(loaded.endOffset)
  }

  private recover(): void {
    const { log, known } = this
    const first = this.firstToCheck()
    const begin = log.segments[first]!
    const { baseOffset, sizeBytes, stem } = begin
    const resume = begin.withFile(file => resumeBelow(log.world.files, { baseOffset, sizeBytes, stem, file }, known.recoveryPoint ?? 0))
    const from = resume?.offset ?? baseOffset
    this.loadEpochs(from)
    // A snapshot of behind there, if it turns out to be below the end, leaves fewer batches to replay.
    this.replaysProducers = !snapshotOffsets(log).some(covered => covered > from)
    if (this.replaysProducers) recoverProducers(log, from, resume === undefined ? undefined : { segment: begin, indexes: resume.indexes })
    let end = baseOffset
    for (let index = first; index < log.segments.length; index++) {
      const segment = log.segments[index]!
      if (index > first && this.isHole(end, segment)) {
        this.dropFrom(index, `the segment before it ends at ${end}`)
        break
      }
      end = this.scanSegment(segment, index === log.segments.length - 1, index === first ? resume : undefined)
      if (this.cutBytes > 0) {
        this.dropFrom(index + 1, 'it lies behind the cut')
        break
      }
    }
    this.checkEnd(end)
  }

  /** Above the recovery point one segment begins where the one before ends; below it compaction may have taken what was between. */
  private isHole(end: number, segment: Segment): boolean {
    const { recoveryPoint } = this.known
    return end !== segment.baseOffset && recoveryPoint !== undefined && segment.baseOffset > recoveryPoint
  }

  /** Checks every batch, from where it may begin, and makes the indexes; cuts what is no batch. Gives the offset behind the last one. */
  private scanSegment(segment: Segment, isLast: boolean, resume: ResumePoint | undefined): number {
    const { log } = this
    const indexes = resume?.indexes ?? SegmentIndexes.empty(segment.baseOffset)
    let end = resume?.offset ?? segment.baseOffset
    const problem = segment.withFile(file => {
      const scan = new BatchScan(file, resume?.position ?? 0, segment.sizeBytes, this.buffer)
      while (scan.next()) {
        const wrong = scan.load() ? problemOf(scan, end, segment.baseOffset) : 'it is cut off'
        if (wrong !== undefined) return { position: scan.position, reason: wrong }
        indexes.count(scan.bytes, scan.at, scan.sizeBytes, scan.position, segment.intervalBytes)
        log.epochs.append(leaderEpochOf(scan.bytes, scan.at), baseOffsetOf(scan.bytes, scan.at))
        if (this.replaysProducers) log.producers.apply(scan.bytes, scan.at)
        end = lastOffsetOf(scan.bytes, scan.at) + 1
        this.scannedBytes += scan.sizeBytes
      }
      return scan.problem === undefined ? undefined : { position: scan.position, reason: scan.problem }
    })
    segment.endOffset = end
    segment.open(indexes, false)
    if (problem !== undefined) this.cut(segment, problem, end, isLast)
    segment.sidesSynced = false
    return end
  }

  private cut(segment: Segment, problem: { readonly position: number, readonly reason: string }, end: number, isLast: boolean): void {
    const { log, known } = this
    // Without a recovery point only what ends the log can be a torn write: behind anything else there are whole segments.
    const rot = known.recoveryPoint === undefined ? !isLast : end < known.recoveryPoint
    if (rot) throw log.corrupt(end, segment.path('.log'), `at byte ${problem.position}: ${problem.reason}`)
    this.cutBytes += segment.sizeBytes - problem.position
    log.world.logger.warn('the end of a log was cut: it was not written completely', {
      segment: segment.path('.log'), position: problem.position, bytes: this.cutBytes, reason: problem.reason,
    })
    segment.cutTo(problem.position)
  }

  private dropFrom(index: number, reason: string): void {
    const { log } = this
    for (const segment of log.segments.splice(index)) {
      this.cutBytes += segment.sizeBytes
      log.world.logger.warn('a segment was dropped', { segment: segment.path('.log'), bytes: segment.sizeBytes, reason })
      this.discard(segment)
    }
  }

  private checkEnd(end: number): void {
    const { log, known } = this
    if (known.recoveryPoint === undefined || end >= Math.max(known.recoveryPoint, 0) || end < known.startOffset) return
    throw log.corrupt(end, log.active.path('.log'), `the log ends there, and was synced up to ${known.recoveryPoint}`)
  }

  /** Nothing of the log is left at or above its start: it goes on there. */
  private startAnew(): void {
    const { log } = this
    for (const segment of log.segments.splice(0)) this.discard(segment)
    log.segments = [log.createSegment(log.start)]
    log.active.markSynced()
  }

  /** Snapshots that no start would ever use: those that are not of a segment's beginning, nor of the last stop. */
  private tidySnapshots(): void {
    const { log } = this
    const bases = new Set(log.segments.map(segment => segment.baseOffset))
    const offsets = snapshotOffsets(log)
    for (const offset of offsets) {
      const ofStop = offset === offsets.at(-1) && offset > log.active.baseOffset
      if (!bases.has(offset) && !ofStop) log.world.files.remove(snapshotPath(log, offset))
    }
  }

  /** Everything that was kept goes to the disk, with the index files of what was scanned. */
  private keep(): void {
    const { log } = this
    for (const segment of log.segments) {
      if (segment.sidesSynced) continue
      segment.handle.opened.syncNow()
      if (segment === log.active) segment.writeIndexes()
      else segment.close()
      for (const suffix of ['.index', '.timeindex'] as const) syncPath(log, segment.path(suffix))
      segment.markSynced()
      segment.sidesSynced = segment !== log.active
    }
    writeProducerSnapshot(log, log.end, true)
    log.world.files.syncDirectory(log.directory)
    log.writeEpochs()
  }
}

/** What is wrong with a batch that lies whole before us; `end` is the offset behind the one before it. */
function problemOf(scan: BatchScan, end: number, segmentBase: number): string | undefined {
  const { bytes, at } = scan
  const baseOffset = baseOffsetOf(bytes, at)
  const lastOffset = lastOffsetOf(bytes, at)
  if (baseOffset < end) return `the base offset ${baseOffset} is below ${end}, the end of what is before it`
  if (lastOffset < baseOffset || lastOffset - segmentBase > relativeOffsetMax) return `the last offset ${lastOffset} does not fit the segment`
  return crcValid(bytes, at) ? undefined : 'the CRC does not match'
}

function syncPath(log: LogState, path: string): void {
  if (log.world.files.stat(path) === undefined) return
  const file = log.world.files.open(path, 'update')
  try {
    file.syncNow()
  } finally {
    file.close()
  }
}
