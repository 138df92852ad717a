import { crc32c } from '../../../base/crc32c.ts'
import { relativeOffsetMax } from '../../../kernel/log/roll-policy.ts'
import { type File, type FileSystem } from '../../../kernel/ports/file-system.ts'
import { baseOffsetOf, lastOffsetOf, magicOf, maxTimestampOf, newestTimestampOf } from '../../../kernel/record/batch-header.ts'
import { OffsetIndex, offsetEntryBytes } from '../core/offset-index.ts'
import { SegmentIndexes } from '../core/segment-indexes.ts'
import { TimeIndex, timeEntryBytes } from '../core/time-index.ts'
import { type SegmentSeal } from '../core/batch-sums.ts'
import { BatchScan, type HeaderCheck } from './batch-scan.ts'

/** A segment whose indexes are wanted. */
export interface IndexedFile {
  readonly baseOffset: number
  /** The path of its files without their suffix. */
  readonly stem: string
  readonly file: File
  readonly sizeBytes: number
  readonly check: HeaderCheck
  /** Of its checksums, if there is one. */
  readonly seal: SegmentSeal | undefined
}

/**
 * An index that misses its end is found by the bytes behind its last entry. No less than this is allowed: the interval may have been
 * larger when the segment was written, and a search through so few bytes costs nothing.
 */
const tailBytesAllowed = 65_536

export interface LoadedIndexes {
  readonly indexes: SegmentIndexes
  /** Behind the last batch; the base offset without batches. */
  readonly endOffset: number
  /** Why the files were not believed and the indexes were made from the batches; undefined when they were. */
  readonly rebuilt: string | undefined
  /** What follows the last batch, if anything does. */
  readonly problem: string | undefined
  /** They are what the seal says, or were made from the batches. */
  readonly sure: boolean
}

/**
 * The indexes of a segment as its files have them, if they agree with each other and with the batches that they name, or else from its
 * batches. The seal of the checksums says what the files of a closed segment are; where there is none, an entry that leads nowhere is found here
 * or by the read that uses it, a file that lost its end by the bytes behind its last entry.
 */
export function loadIndexes(files: FileSystem, segment: IndexedFile, intervalBytes: number): LoadedIndexes {
  const offsetBytes = readWhole(files, `${segment.stem}.index`)
  const timeBytes = readWhole(files, `${segment.stem}.timeindex`)
  if (offsetBytes === undefined || timeBytes === undefined) return rebuild(segment, intervalBytes, 'it is missing')
  const { seal } = segment
  if (seal !== undefined && (crc32c(offsetBytes) !== seal.indexCrc || crc32c(timeBytes) !== seal.timeIndexCrc)) {
    return rebuild(segment, intervalBytes, 'it is not what it was when the segment was closed')
  }
  const offsets = OffsetIndex.decode(segment.baseOffset, offsetBytes, segment.sizeBytes)
  if (offsets === undefined) return rebuild(segment, intervalBytes, 'the offset index is not in order')
  const tail = scanTail(segment, offsets, Math.max(intervalBytes, tailBytesAllowed))
  if (typeof tail === 'string') return rebuild(segment, intervalBytes, tail)
  const times = TimeIndex.decode(segment.baseOffset, timeBytes, tail.endOffset)
  if (times === undefined) return rebuild(segment, intervalBytes, 'the time index is not in order')
  const indexes = new SegmentIndexes(offsets, times)
  const problem = tail.largestTimestamp > times.lastTimestamp ? 'the time index lacks its end' : lastTimeProblem(segment, indexes)
  if (problem !== undefined) return rebuild(segment, intervalBytes, problem)
  indexes.bytesSinceEntry = tail.bytes
  return { indexes, endOffset: tail.endOffset, rebuilt: undefined, problem: undefined, sure: seal !== undefined }
}

/** Whether the checksums of a segment say that it was closed as it is, with the indexes that its files have. */
export function isSealed(files: FileSystem, { stem, sizeBytes, sums: { seal } }: Pick<IndexedFile, 'stem' | 'sizeBytes'> & { readonly sums: Pick<IndexedFile, 'seal'> }): boolean {
  if (seal?.kind !== 'closed' || seal.sizeBytes !== sizeBytes) return false
  const [offsetBytes, timeBytes] = [readWhole(files, `${stem}.index`), readWhole(files, `${stem}.timeindex`)]
  return offsetBytes !== undefined && timeBytes !== undefined && crc32c(offsetBytes) === seal.indexCrc && crc32c(timeBytes) === seal.timeIndexCrc
}

/** Where a check of a segment may begin, and its indexes up to there. */
export interface ResumePoint {
  readonly indexes: SegmentIndexes
  /** Of a batch, and its base offset. */
  readonly position: number
  readonly offset: number
}

/**
 * The last batch below `offset` that the index files know, if they are in order and their last entries up to there are of batches. Whoever
 * checks a segment whose records below `offset` need no check begins there. Undefined: from the first byte.
 */
export function resumeBelow(files: FileSystem, segment: IndexedFile, offset: number): ResumePoint | undefined {
  const offsetBytes = readWhole(files, `${segment.stem}.index`)
  const timeBytes = readWhole(files, `${segment.stem}.timeindex`)
  if (offsetBytes === undefined || timeBytes === undefined) return undefined
  const offsets = OffsetIndex.decode(segment.baseOffset, offsetBytes, segment.sizeBytes)
  const times = TimeIndex.decode(segment.baseOffset, timeBytes, Infinity)
  if (offsets === undefined || times === undefined) return undefined
  const last = offsets.floor(offset - 1)
  if (last < 0) return undefined
  const [position, lastOffset] = [offsets.positionAt(last), offsets.offsetAt(last)]
  const scan = new BatchScan(segment.file, position, segment.sizeBytes, undefined, segment.check)
  if (!scan.next() || !entryHolds(scan.bytes, scan.at, lastOffset)) return undefined
  offsets.truncate(position + 1)
  times.truncate(lastOffset + 1)
  const indexes = new SegmentIndexes(offsets, times)
  if (lastTimeProblem(segment, indexes) !== undefined) return undefined
  return { indexes, position, offset: baseOffsetOf(scan.bytes, scan.at) }
}

/** The indexes of a segment from the headers of its batches. */
export function rebuild(segment: IndexedFile, intervalBytes: number, reason: string): LoadedIndexes {
  const indexes = SegmentIndexes.empty(segment.baseOffset)
  const scan = new BatchScan(segment.file, 0, segment.sizeBytes, new Uint8Array(Math.min(1 << 20, segment.sizeBytes)), segment.check)
  let endOffset = segment.baseOffset
  let problem: string | undefined
  while (scan.next()) {
    problem = offsetProblem(scan, endOffset, segment.baseOffset)
    if (problem !== undefined) break
    indexes.count(scan.bytes, scan.at, scan.sizeBytes, scan.position, intervalBytes)
    endOffset = lastOffsetOf(scan.bytes, scan.at) + 1
  }
  problem ??= scan.problem
  indexes.close()
  return { indexes, endOffset, rebuilt: reason, problem: problem === undefined ? undefined : `at byte ${scan.position}: ${problem}`, sure: true }
}

/** What is wrong with the offsets of a batch behind one that ends at `end`: no CRC covers the base offset. */
export function offsetProblem({ bytes, at }: Pick<BatchScan, 'bytes' | 'at'>, end: number, segmentBase: number): string | undefined {
  const baseOffset = baseOffsetOf(bytes, at)
  const lastOffset = lastOffsetOf(bytes, at)
  if (baseOffset < end) return `the base offset ${baseOffset} is below ${end}, the end of what is before it`
  return lastOffset < baseOffset || lastOffset - segmentBase > relativeOffsetMax ? `the last offset ${lastOffset} does not fit the segment` : undefined
}

/** The batch that an entry names, if it is there: whether the header at its position has its last offset. */
export function entryHolds(bytes: Uint8Array, at: number, lastOffset: number): boolean {
  return magicOf(bytes, at) === 2 && lastOffsetOf(bytes, at) === lastOffset
}

interface Tail {
  readonly endOffset: number
  readonly largestTimestamp: number
  readonly bytes: number
}

/** From the last entry on, or from the first batch: text says what does not fit. */
function scanTail(segment: IndexedFile, offsets: OffsetIndex, bytesAllowed: number): Tail | string {
  const last = offsets.count - 1
  const start = last < 0 ? 0 : offsets.positionAt(last)
  const scan = new BatchScan(segment.file, start, segment.sizeBytes, undefined, segment.check)
  let [endOffset, largestTimestamp, counted] = [segment.baseOffset, -1, 0]
  while (scan.next()) {
    if (scan.position === start && last >= 0 && !entryHolds(scan.bytes, scan.at, offsets.offsetAt(last))) return 'its last entry leads to no batch'
    if (counted > bytesAllowed) return 'it lacks entries at its end'
    counted += scan.sizeBytes
    endOffset = lastOffsetOf(scan.bytes, scan.at) + 1
    largestTimestamp = Math.max(largestTimestamp, newestTimestampOf(scan.bytes, scan.at))
  }
  return scan.problem === undefined ? { endOffset, largestTimestamp, bytes: counted }
    : `behind its last entry, at byte ${scan.position}: ${scan.problem}`
}

/** The last time entry is what retention and look-ups go by: the batch that it names must have its timestamp. */
function lastTimeProblem(segment: IndexedFile, { offsets, times }: SegmentIndexes): string | undefined {
  if (times.count === 0) return undefined
  const entry = offsets.floor(times.lastOffset)
  const scan = new BatchScan(segment.file, entry < 0 ? 0 : offsets.positionAt(entry), segment.sizeBytes, undefined, segment.check)
  while (scan.next()) {
    const lastOffset = lastOffsetOf(scan.bytes, scan.at)
    if (lastOffset < times.lastOffset) continue
    return lastOffset === times.lastOffset && maxTimestampOf(scan.bytes, scan.at) === times.lastTimestamp ? undefined
      : 'the last entry of the time index is of no batch'
  }
  return 'the last entry of the time index is behind the last batch'
}

/** Appends to the index files what they do not have yet, and cuts what they should not have. */
export class IndexFiles {
  private readonly files: FileSystem
  private readonly stem: string
  private offsetsWritten: number
  private timesWritten: number
  /** The files may hold entries beyond what was written of what there is. */
  private tooLong = false
  /** CRCs of the first entries of each, as far as they were made. */
  private offsetsCrc = { count: 0, crc: 0 }
  private timesCrc = { count: 0, crc: 0 }
  /** Something was written that was not synced since. */
  private unsynced = true
  private namesSynced = false

  /** `written` says that the files hold the indexes as they were loaded. */
  constructor(files: FileSystem, stem: string, written?: SegmentIndexes) {
    this.files = files
    this.stem = stem
    this.offsetsWritten = written?.offsets.count ?? -1
    this.timesWritten = written?.times.count ?? -1
  }

  /** Whether the files have just these entries: a full disk may have kept some from being written. */
  hold({ offsets, times }: SegmentIndexes): boolean { return this.offsetsWritten === offsets.count && this.timesWritten === times.count && !this.tooLong }

  write({ offsets, times }: SegmentIndexes): void {
    if (this.offsetsWritten !== offsets.count || this.tooLong) {
      const first = Math.max(0, this.offsetsWritten)
      const bytes = offsets.encode(first)
      this.append('.index', bytes, first * offsetEntryBytes)
      this.offsetsWritten = offsets.count
      if (this.offsetsCrc.count === first) this.offsetsCrc = { count: offsets.count, crc: crc32c(bytes, 0, bytes.length, this.offsetsCrc.crc) }
    }
    if (this.timesWritten !== times.count || this.tooLong) {
      const first = Math.max(0, this.timesWritten)
      const bytes = times.encode(first)
      this.append('.timeindex', bytes, first * timeEntryBytes)
      this.timesWritten = times.count
      if (this.timesCrc.count === first) this.timesCrc = { count: times.count, crc: crc32c(bytes, 0, bytes.length, this.timesCrc.crc) }
    }
    this.tooLong = false
  }

  /** Of all entries. Those that were written one after another are not looked at again. */
  crcs({ offsets, times }: SegmentIndexes): { readonly indexCrc: number, readonly timeIndexCrc: number } {
    return {
      indexCrc: this.offsetsCrc.count === offsets.count ? this.offsetsCrc.crc : crc32c(offsets.encode()),
      timeIndexCrc: this.timesCrc.count === times.count ? this.timesCrc.crc : crc32c(times.encode()),
    }
  }

  /**
   * Makes what was written durable, off the event loop; at once where nothing is to be done. A power cut may take the end of one of the two
   * files and leave the other's, which nobody could see of the files alone.
   */
  sync(done: (error: unknown) => void): void {
    if (!this.unsynced) return done(undefined)
    this.unsynced = false
    this.syncFile('.index', error => {
      if (error !== undefined) return done(error)
      this.syncFile('.timeindex', failure => { done(failure ?? this.syncNames()) })
    })
  }

  /** Gives what went wrong. */
  private syncNames(): unknown {
    if (this.namesSynced) return undefined
    try {
      const directory = this.stem.slice(0, this.stem.lastIndexOf('/'))
      // Of a log that was deleted meanwhile.
      if (this.files.stat(directory) !== undefined) this.files.syncDirectory(directory)
      this.namesSynced = true
      return undefined
    } catch (error) {
      return error
    }
  }

  private syncFile(suffix: string, done: (error: unknown) => void): void {
    const path = `${this.stem}${suffix}`
    try {
      // Of a log that was deleted meanwhile, or not written yet.
      if (this.files.stat(path) === undefined) return done(undefined)
      const file = this.files.open(path, 'update')
      file.sync(error => {
        file.close()
        done(error)
      })
    } catch (error) {
      done(error)
    }
  }

  /**
   * Entries were dropped from the indexes: what the files hold beyond them goes with the next write, also when nothing is added. What they keep is not touched: a recovery
   * relies on both files having it, and a crash between a cut and a write would leave it in one alone.
   */
  truncated({ offsets, times }: SegmentIndexes): void {
    this.offsetsWritten = Math.min(this.offsetsWritten, offsets.count)
    this.timesWritten = Math.min(this.timesWritten, times.count)
    this.tooLong = true
    this.offsetsCrc = this.timesCrc = { count: -1, crc: 0 }
  }

  private append(suffix: string, bytes: Uint8Array, position: number): void {
    this.unsynced = true
    const file = this.files.open(`${this.stem}${suffix}`, 'ensure')
    try {
      if (file.size() > position) file.truncate(position)
      if (bytes.length > 0) file.write([bytes], position)
    } finally {
      file.close()
    }
  }
}

/** All bytes of a small file, or its last ones; undefined when there is none. */
export function readWhole(files: FileSystem, path: string, lastBytes = Infinity): Uint8Array | undefined {
  if (files.stat(path)?.kind !== 'file') return undefined
  const file = files.open(path, 'read')
  try {
    const size = file.size()
    const bytes = new Uint8Array(Math.min(size, lastBytes))
    return bytes.subarray(0, file.read(bytes, 0, bytes.length, size - bytes.length))
  } finally {
    file.close()
  }
}
