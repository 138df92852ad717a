import { baseOffsetOf, isControl, lastOffsetOf, leaderEpochOf } from '../../kernel/record/batch-header.ts'
import { SegmentIndexes } from './core/segment-indexes.ts'
import { segmentFileName } from './core/segment-name.ts'
import { BatchScan, scanChunkBytes } from './io/batch-scan.ts'
import { offsetProblem, type ResumePoint } from './io/index-file.ts'
import { holdsIntactBatch } from './io/intact-batch.ts'
import { type Segment } from './io/segment.ts'
import { hideSegment } from './io/segment-removal.ts'
import { setAsideFile, setAsideTail } from './io/set-aside.ts'
import { type KnownOfLog } from './log-known.ts'
import { type LogState } from './log-state.ts'
import { tellMisread } from './second-look.ts'

/** Where the scan of a segment ended before its last byte, and why. */
interface Problem {
  readonly position: number
  readonly reason: string
}

/** One log is loaded at a time, without a pause: they share what they read into. */
export const scanBuffer = new Uint8Array(scanChunkBytes)
/** Where only headers are looked at, what is read with them is read in vain, if batches are large. */
const headersBuffer = scanBuffer.subarray(0, 65_536)

/**
 * Checks the batches of a log from its recovery point on, and makes the log end where what is sound ends.
 *
 * An invalid byte below the recovery point was once on the disk as it should be: that is rot, and ends the recovery with MR_LOG_CORRUPT. Above
 * it the bytes of a write that a crash cut off are expected, and cut. But what has an intact batch behind it may as well be rot, and that
 * batch may have been acknowledged: then nothing is destroyed. In this order, so that a crash between any two steps leaves a log of
 * which the next recovery finds the same: the rest of the segment is copied; the segments behind it get other names, the newest first; the
 * rest is cut.
 */
export class LogRecovery {
  scannedBytes = 0
  cutBytes = 0
  private readonly log: LogState
  private readonly recoveryPoint: number | undefined
  private readonly startOffset: number
  private readonly epochsFiledTo: number
  /** What lies below may have gaps: the recovery point is above it, but for one that somebody, or a disk, has made lower. */
  private readonly cleanedTo: number
  /** Everything below was on the disk, in the segments or in the redo log: what is wrong there is rot. */
  private readonly durableTo: number
  private readonly replaysProducers: boolean
  private readonly believes: boolean
  private readonly looksTwice: boolean
  private wasMisread = false
  /** Of the batch before the current one; -1 where that is not known. */
  private epoch = -1

  /**
   * `believes`: what was written is there, so that checksums need not be made; see `run`. `looksTwice`: what is wrong is read once more before anything is made of
   * it.
   */
  constructor(
    log: LogState, known: Pick<KnownOfLog, 'recoveryPoint' | 'startOffset' | 'cleanedTo' | 'redo' | 'cache' | 'highWatermark'>,
    { replaysProducers, believes, looksTwice }: { readonly replaysProducers: boolean, readonly believes: boolean, readonly looksTwice: boolean },
  ) {
    this.log = log
    this.believes = believes
    this.looksTwice = looksTwice
    this.recoveryPoint = known.recoveryPoint
    this.startOffset = known.startOffset
    this.cleanedTo = known.cleanedTo
    this.epochsFiledTo = epochsFiledTo(known)
    this.durableTo = durableTo(known)
    this.replaysProducers = replaysProducers
  }

  /**
   * Checks from the segment `first` on, from within it where `resume` says so. Gives the end of the log; undefined, with all files as they
   * are, when it was to believe what it finds and found something that cannot be believed, or found something wrong that reads well when it is read once more: then
   * everything is to be checked again.
   */
  run(first: number, resume: ResumePoint | undefined): number | undefined {
    const { log } = this
    let end = log.segments[first]!.baseOffset
    this.epoch = log.epochs.epochOf((resume?.offset ?? end) - 1)
    for (let index = first; index < log.segments.length; index++) {
      const segment = log.segments[index]!
      if (index > first && !this.follows(segment.baseOffset, end)) {
        if (this.believes) return undefined
        this.dropFrom(index, end, `the segment before it ends at ${end}`)
        break
      }
      const next = log.segments[index + 1]
      // An empty one may be what a roll left that failed: the log went on in this one.
      const problem = this.scan(segment, next !== undefined && next.sizeBytes > 0 ? next.baseOffset : Infinity, index === first ? resume : undefined)
      end = segment.endOffset
      segment.sidesSynced = false
      if (problem === undefined) continue
      if (this.believes || this.wasMisread) return undefined
      this.cut(index, problem)
      break
    }
    return end
  }

  /**
   * Above the recovery point a batch begins where the one before ends, and a segment too; below it compaction may have taken what was between.
   * A log that was cut back below its start goes on at its start.
   */
  private follows(baseOffset: number, end: number): boolean {
    return baseOffset === end || this.recoveryPoint === undefined || end < Math.max(this.recoveryPoint, this.cleanedTo) || (baseOffset > end && baseOffset <= this.startOffset)
  }

  /** Checks every batch, from where it may begin, and makes the indexes; the checksums go on where they end or are not what was written. */
  private scan(segment: Segment, nextBase: number, resume: ResumePoint | undefined): Problem | undefined {
    const { log } = this
    const { sums } = segment
    const indexes = resume?.indexes ?? SegmentIndexes.empty(segment.baseOffset)
    let end = resume?.offset ?? segment.baseOffset
    const from = resume?.position ?? 0
    let kept = sumsBefore(segment, from)
    let recalls = kept >= 0
    const problem = segment.withFile(file => {
      const scan = new BatchScan(file, from, segment.sizeBytes, this.believes ? headersBuffer : scanBuffer)
      while (scan.next()) {
        const wrong = this.problemOf(scan, end, segment, nextBase)
        if (wrong !== undefined) return { position: scan.position, reason: wrong }
        const recalled = recalls ? sums.recall(kept, scan.bytes, scan.at, scan.position) : 'nothing'
        if (recalled === 'differs') return { position: scan.position, reason: 'the header of the batch is not what was written' }
        if (recalled === 'agrees') kept++
        else if (recalls) sums.keepFirst(kept)
        recalls &&= recalled === 'agrees'
        if (!recalls) sums.append(scan.bytes, scan.at, scan.position)
        indexes.count(scan.bytes, scan.at, scan.sizeBytes, scan.position, segment.intervalBytes)
        this.takeEpoch(leaderEpochOf(scan.bytes, scan.at), baseOffsetOf(scan.bytes, scan.at))
        if (this.replaysProducers) log.producers.apply(scan.bytes, scan.at)
        end = lastOffsetOf(scan.bytes, scan.at) + 1
        this.scannedBytes += scan.sizeBytes
      }
      return scan.problem === undefined ? undefined : { position: scan.position, reason: scan.problem }
    })
    if (problem !== undefined && this.looksTwice && !this.believes) {
      this.wasMisread = this.readsWell(segment, problem, again => this.problemOf(again, end, segment, nextBase) === undefined && !(recalls && sums.recall(kept, again.bytes, again.at, again.position) === 'differs'))
    }
    // The scan that follows one which cannot believe what it found has to find the same.
    if (recalls && !(problem !== undefined && (this.believes || this.wasMisread))) sums.keepFirst(kept)
    segment.endOffset = end
    // What is believed is checked when it is first read.
    if (this.believes) segment.trustFrom(segment.sizeBytes, end)
    else segment.trustFrom(from, resume?.offset ?? segment.baseOffset)
    segment.open(indexes, false, resume === undefined)
    return problem
  }

  /** Those that began below `epochsFiledTo` are known, where their file could be read, and maybe before the first batch that compaction has left of them. */
  private takeEpoch(epoch: number, baseOffset: number): void {
    const { epochs } = this.log
    if (baseOffset >= this.epochsFiledTo || epoch > epochs.lastEpoch) epochs.append(epoch, baseOffset)
    this.epoch = Math.max(this.epoch, epochs.epochOf(baseOffset))
  }

  /** Whether a batch that was found wrong is there when it is read once more. */
  private readsWell(segment: Segment, { position, reason }: Problem, isRight: (scan: BatchScan) => boolean): boolean {
    const { integrity } = this.log.world
    segment.sums.forgetWindow()
    const isWell = segment.withFile(file => {
      const again = new BatchScan(file, position, segment.sizeBytes)
      return again.next() && isRight(again)
    })
    if (!isWell) return false
    integrity.failed('first')
    const { topic, partition } = this.log.id
    tellMisread(this.log.world, { topic, partition, path: segment.path('.log'), position, reason })
    return true
  }

  /**
   * What is wrong with the current batch; `end` is the offset behind the one before it. No CRC covers base offset and leader epoch: above the recovery point the one has to follow,
   * the other never goes back, and nowhere does a batch reach into the next segment. An epoch that is too high looks like that of a new leader: whoever knows which ones there were has to see to it.
   */
  private problemOf(scan: BatchScan, end: number, { baseOffset: segmentBase, sizeBytes }: Segment, nextBase: number): string | undefined {
    const baseOffset = baseOffsetOf(scan.bytes, scan.at)
    const wrong = offsetProblem(scan, end, segmentBase)
    if (wrong !== undefined) return wrong
    if (!this.follows(baseOffset, end)) {
      return `the base offset ${baseOffset} is not ${end}, the end of what is before it`
    }
    const epoch = leaderEpochOf(scan.bytes, scan.at)
    if (epoch < this.epoch && epoch !== -1 && baseOffset >= this.epochsFiledTo) return `the leader epoch ${epoch} is below ${this.epoch}, that of what is before it`
    const lastOffset = lastOffsetOf(scan.bytes, scan.at)
    if (lastOffset >= nextBase) return `the last offset ${lastOffset} reaches into the next segment, which begins at ${nextBase}`
    // The records of a marker say what it ends: they have to be at hand when it is taken into the producers' state.
    if (isControl(scan.bytes, scan.at) && !scan.load()) return 'it is cut off'
    if (this.believes && scan.position + scan.sizeBytes < sizeBytes) return undefined
    return scan.crcValid() ? undefined : 'the CRC does not match'
  }

  private cut(index: number, { position, reason }: Problem): void {
    const { log, recoveryPoint } = this
    const segment = log.segments[index]!
    const { endOffset, sizeBytes } = segment
    // Without a recovery point only what ends the log can be a torn write: behind anything else there are whole segments.
    const rot = endOffset < this.durableTo || (recoveryPoint === undefined && index < log.segments.length - 1)
    if (rot) throw log.corrupt(endOffset, segment.path('.log'), `at byte ${position}: ${reason}`)
    this.cutBytes += sizeBytes - position
    const behind = log.segments.slice(index + 1)
    if (segment.withFile(file => holdsIntactBatch(file, position, sizeBytes)) || behind.some(holdsIntact)) {
      const path = segment.withFile(file => setAsideTail(log.world.files, log.directory, segmentFileName(segment.baseOffset, '.log'), file, position, sizeBytes))
      this.say(segment, position, endOffset, reason, [path, ...this.setAside(index + 1)])
    } else {
      log.world.logger.warn('the end of a log was cut: it was not written completely', {
        segment: segment.path('.log'), position, bytes: this.cutBytes, reason,
      })
      this.drop(index + 1, 'it lies behind the cut')
    }
    segment.cutTo(position)
  }

  /** There is a hole before the segment. */
  private dropFrom(index: number, end: number, reason: string): void {
    const segment = this.log.segments[index]!
    if (end < this.durableTo) throw this.log.corrupt(end, segment.path('.log'), reason)
    if (this.log.segments.slice(index).some(holdsIntact)) this.say(segment, 0, end, reason, this.setAside(index))
    else this.drop(index, reason)
  }

  private drop(index: number, reason: string): void {
    const { log } = this
    while (log.segments.length > index) {
      const segment = log.segments.pop()!
      this.cutBytes += segment.sizeBytes
      log.world.logger.warn('a segment was dropped', { segment: segment.path('.log'), bytes: segment.sizeBytes, reason })
      discardSegment(log, segment)
      log.world.files.syncDirectory(log.directory)
    }
  }

  /** Takes the segments from `index` on out of the log and keeps them. Gives their paths, the oldest first. */
  private setAside(index: number): string[] {
    const { log } = this
    const { files } = log.world
    const paths: string[] = []
    while (log.segments.length > index) {
      const segment = log.segments.pop()!
      this.cutBytes += segment.sizeBytes
      segment.release()
      if (segment.sizeBytes > 0) paths.unshift(setAsideFile(files, log.directory, segmentFileName(segment.baseOffset, '.log')))
      // What is left of it, which for an empty segment is all of it, can be made anew from the batches.
      discardSegment(log, segment)
      files.syncDirectory(log.directory)
    }
    return paths
  }

  private say(segment: Segment, position: number, offset: number, reason: string, setAside: readonly string[]): void {
    const { id, world } = this.log
    // A power cut that took some of what was not synced and left what was written after it is the usual reason.
    world.logger.warn('the end of a log was not written completely, or is damaged: the log ends there now, and the intact batches behind were set aside', {
      topic: id.topic, partition: id.partition, segment: segment.path('.log'), position, offset, reason, setAside,
      remedy: 'look for records that were acknowledged in the files that were set aside, produce them again if they are missed, then remove the files; look at the disk',
    })
  }
}

/**
 * Up to where the log was on the disk, as far as is known. Where the system has not gone down that is the high watermark at least: none is above what was written.
 */
export function durableTo({ recoveryPoint, redo, cache, highWatermark }: Pick<KnownOfLog, 'recoveryPoint' | 'redo' | 'cache' | 'highWatermark'>): number {
  return Math.max(recoveryPoint ?? 0, cache === 'intact' ? highWatermark : 0, redo?.durableTo ?? 0)
}

/** Below it leader epochs are in their file: below the recovery point, and where that is lost or too low, below what was compacted, of which the batches may know less. */
export function epochsFiledTo({ recoveryPoint, cleanedTo }: Pick<KnownOfLog, 'recoveryPoint' | 'cleanedTo'>): number {
  return Math.max(recoveryPoint ?? 0, cleanedTo)
}

/** Removes the files of a segment that nobody reads. */
export function discardSegment(log: LogState, segment: Segment): void {
  segment.release()
  for (const path of hideSegment(log.world.files, segment)) log.world.files.remove(path)
}

function holdsIntact(segment: Segment): boolean {
  return segment.sizeBytes > 0 && segment.withFile(file => holdsIntactBatch(file, 0, segment.sizeBytes))
}

/** How many checksums there are of batches before `position`, where a batch begins; -1 where they do not reach it. What is behind is to be checked. */
function sumsBefore(segment: Segment, position: number): number {
  const { sums } = segment
  if (position === 0) {
    if (!sums.isKept) sums.reset()
    return 0
  }
  if (!sums.isKept) return -1
  const index = sums.indexAt(position)
  if (index < 0) sums.giveUp(`they do not reach byte ${position}, up to where the segment was on the disk`)
  return index
}
