import { type AgingSegment } from '../../../kernel/log/retention-policy.ts'
import { type ActiveSegment } from '../../../kernel/log/roll-policy.ts'
import { isMillraceError } from '../../../kernel/errors/index.ts'
import { type File } from '../../../kernel/ports/file-system.ts'
import { baseOffsetOf, batchBytesOf, batchHeaderBytes, lastOffsetOf, maxTimestampOf } from '../../../kernel/record/batch-header.ts'
import { ByteRanges } from '../core/byte-ranges.ts'
import { type SegmentIndexes } from '../core/segment-indexes.ts'
import { segmentFileName, type SegmentSuffix } from '../core/segment-name.ts'
import { BatchScan, type HeaderCheck } from './batch-scan.ts'
import { IndexFiles, entryHolds, loadIndexes, rebuild, type IndexedFile, type LoadedIndexes } from './index-file.ts'
import { type SegmentHandle } from './open-files.ts'
import { type SegmentFacts, type SegmentWorld } from './segment-facts.ts'
import { SegmentSums } from './segment-sums.ts'

const pieces: [Uint8Array] = [new Uint8Array(0)]
const header = new Uint8Array(batchHeaderBytes)

/**
 * One segment of a log: its `.log` file and what is known of its indexes. The active one is held open and keeps its indexes in memory;
 * those of a closed one are loaded when they are asked for.
 */
export class Segment implements ActiveSegment, AgingSegment {
  readonly baseOffset: number
  readonly directory: string
  readonly createdMs: number
  readonly jitterMs: number
  readonly handle: SegmentHandle
  /** The checksums of its batches. */
  readonly sums: SegmentSums
  /** Bytes from here on were written or checked by this process. */
  trustedFrom: number
  /** The batch there begins at this offset; Infinity for none. */
  trustedOffset: number
  /** It ends where it did: known of one that is or was active in this process. */
  endSure = false
  /** A part of it could not be read, so that its indexes do not say how new its records are. */
  isObscure = false
  /** What is wrong with the header of a batch that was read at a position, as far as anything is known of it. */
  readonly check: HeaderCheck
  /** Bytes before it were there when this process began: they may have to come from the disk. */
  readonly residentFrom: number
  sizeBytes: number
  /** Behind the last record; of a closed segment at most the base offset of the next. */
  endOffset: number
  /** The bytes before are known to be on the disk. */
  syncedBytes = 0
  /** The records below are in those bytes. */
  syncedOffset: number
  truncations = 0
  /** The name of the `.log` file is known to be on the disk. */
  nameSynced = false
  /** Its index files are on the disk as far as batches below this offset go. */
  indexedTo = 0
  /** The index files and the snapshot at the end of a closed segment are known to be on the disk. */
  sidesSynced = false
  indexFull = false
  /** Its log is out of service, or it was deleted: its files may be gone from where they were. */
  released = false
  /** `index.interval.bytes` of the topic. */
  intervalBytes: number
  private readonly world: SegmentWorld
  private readonly damaged: SegmentFacts['damaged']
  /** Before `trustedFrom`, batches that were found to be as they were written. */
  private readonly proven = new ByteRanges()
  private indexFiles: IndexFiles
  /** Its indexes have been checked against the batches, or against what they were when the segment was closed. */
  private indexesSure = false
  /** Of the active segment. */
  private ownIndexes: SegmentIndexes | undefined
  /** Base offset of the next segment, once this process has closed this one. */
  private closedAt = -1
  private knownFirstTimestamp: number | undefined
  private knownLargestTimestamp: number | undefined

  constructor(world: SegmentWorld, directory: string, baseOffset: number, facts: SegmentFacts) {
    this.world = world
    this.directory = directory
    this.baseOffset = baseOffset
    this.handle = world.openFiles.handle(this.path('.log'))
    this.sizeBytes = facts.sizeBytes
    this.residentFrom = facts.sizeBytes
    this.endOffset = facts.endOffset
    this.syncedOffset = baseOffset
    this.createdMs = facts.createdMs
    this.jitterMs = facts.jitterMs
    this.intervalBytes = facts.intervalBytes
    this.indexFiles = new IndexFiles(world.files, this.stem)
    this.sums = new SegmentSums(world, this.path('.sum'), facts.sumHeader, baseOffset)
    this.trustedFrom = facts.sizeBytes
    this.trustedOffset = Infinity
    this.damaged = facts.damaged
    this.check = (bytes, at, position) => this.isProven(position, position + batchHeaderBytes) ? undefined : this.sums.headerProblem(bytes, at, position)
  }

  get stem(): string { return `${this.directory}/${segmentFileName(this.baseOffset, '.log').slice(0, -4)}` }
  get isActive(): boolean { return this.ownIndexes !== undefined }
  path(suffix: SegmentSuffix): string { return `${this.directory}/${segmentFileName(this.baseOffset, suffix)}` }

  /**
   * Makes it the segment that is appended to. `indexes` are those of its batches; `written` says that the index files have them too, `sure` that they
   * were made from the batches or are what they were. Its checksums have to be those of its batches.
   */
  open(indexes: SegmentIndexes, written: boolean, sure: boolean): void {
    if (!this.isActive) this.handle.use()
    this.ownIndexes = indexes
    this.indexesSure = sure
    this.endSure = true
    this.indexFiles = new IndexFiles(this.world.files, this.stem, written ? indexes : undefined)
    this.world.indexCache.delete(this)
    this.sidesSynced = false
  }

  /** Makes it the segment that is appended to again, with the indexes that it has. */
  reopen(): void {
    const indexes = this.indexes()
    this.open(indexes, this.indexFiles.hold(indexes), this.indexesSure)
    this.resumeSums()
  }

  /** Goes on with the checksums that the file has, if they reach the end of the segment. */
  resumeSums(): void {
    const { sums } = this
    if (!sums.isKept) return
    if (sums.seal?.sizeBytes === this.sizeBytes) return sums.reopen()
    const last = sums.lastPosition()
    const there = last >= 0 && this.withFile(file => file.read(header, 0, batchHeaderBytes, last)) === batchHeaderBytes
    const end = last < 0 ? 0 : there ? last + batchBytesOf(header, 0) : -1
    if (end === this.sizeBytes) sums.reopen()
    else sums.giveUp(`they are of ${end < 0 ? 'other bytes' : `${end} bytes`}, and the segment has ${this.sizeBytes}`)
  }

  /** Whether the bytes of the range are known to be as they were written. */
  isProven(start: number, end: number): boolean {
    return start >= this.trustedFrom || this.proven.covers(start, Math.min(end, this.trustedFrom))
  }

  /** What lies at `position`, where a batch begins with `offset`, and behind was written or checked by this process, or will be. */
  trustFrom(position: number, offset: number): void {
    this.trustedFrom = position
    this.trustedOffset = offset
  }

  /** All bytes of the range were found to be as they were written. */
  prove(start: number, end: number): void {
    this.proven.add(start, end)
    if (!this.proven.covers(0, this.trustedFrom)) return
    this.trustFrom(0, this.baseOffset)
    this.proven.cut(0)
    this.sums.forgetWindow()
  }

  /** Steps through its batches from one on, by their headers, each checked as far as anything is known of it. */
  scan(file: File, position: number, buffer?: Uint8Array<ArrayBuffer>): BatchScan {
    return new BatchScan(file, position, this.sizeBytes, buffer, this.check)
  }

  /** Appends a batch, which has its offsets. A failed write leaves the file longer than `sizeBytes`; see `restoreSize`. */
  append(bytes: Uint8Array, at: number, length: number, indexBytesMax: number): void {
    const indexes = this.ownIndexes!
    pieces[0] = at === 0 && length === bytes.length ? bytes : bytes.subarray(at, at + length)
    this.handle.opened.write(pieces, this.sizeBytes)
    if (this.sizeBytes === 0) this.knownFirstTimestamp = maxTimestampOf(bytes, at)
    const entries = indexes.offsets.count
    indexes.count(bytes, at, length, this.sizeBytes, this.intervalBytes)
    if (indexes.offsets.count !== entries) this.indexFull = indexes.isFull(indexBytesMax)
    this.sums.append(bytes, at, this.sizeBytes)
    this.sizeBytes += length
    this.endOffset = lastOffsetOf(bytes, at) + 1
  }

  /** Cuts what a failed write may have left behind the last batch. */
  restoreSize(): void {
    this.handle.opened.truncate(this.sizeBytes)
  }

  /** Its log is out of service: the file is closed as soon as nobody uses it. */
  release(): void {
    this.released = true
    if (this.ownIndexes !== undefined) {
      this.ownIndexes = undefined
      this.handle.done()
    }
    this.handle.drop()
  }

  /**
   * It is appended to no longer; the next one begins at `nextBase`. The index files get their last entries, the checksums their seal; until
   * `sidesSynced` they may be lost.
   */
  close(nextBase: number): void {
    const indexes = this.ownIndexes!
    indexes.close()
    this.knownLargestTimestamp = indexes.largestTimestamp
    this.ownIndexes = undefined
    this.world.indexCache.set(this, indexes)
    this.handle.done()
    this.closedAt = nextBase
    this.writeSides()
  }

  /** Writes what the files beside the segment do not have yet. Of the indexes of a closed one it does so while they are at hand, or it lacks a seal: a full disk may have kept it from both. */
  writeSides(): void {
    const { sums } = this
    const lacksSeal = !this.isActive && this.closedAt >= 0 && sums.isKept && sums.seal === undefined
    const indexes = this.ownIndexes ?? (lacksSeal ? this.indexes() : this.world.indexCache.peek(this))
    if (indexes !== undefined) this.indexFiles.write(indexes)
    if (lacksSeal) this.sealSums('closed', this.closedAt, indexes!)
    else sums.write()
  }

  /** Makes the index files and the checksums durable as they are now. */
  syncSides(done: (error: unknown) => void): void {
    this.indexFiles.sync(error => {
      if (error !== undefined) return done(error)
      this.sums.sync(done)
    })
  }

  /** The last words of this process: the last time entry as `close` adds it, and a seal of the checksums; the segment stays active. */
  writeFinalSides(): void {
    this.ownIndexes?.close()
    this.writeSides()
    if (this.ownIndexes !== undefined && this.sizeBytes > 0) this.sealSums('stopped', this.endOffset, this.ownIndexes)
  }

  /** Indexes and checksums were made anew from all of its batches; the next segment begins at `nextBase`. */
  takeMade(indexes: SegmentIndexes, nextBase: number): void {
    indexes.close()
    this.indexFiles = new IndexFiles(this.world.files, this.stem)
    this.indexesSure = true
    this.isObscure = false
    this.knownLargestTimestamp = indexes.largestTimestamp
    this.world.indexCache.set(this, indexes)
    this.closedAt = nextBase
    this.writeSides()
  }

  private sealSums(kind: 'closed' | 'stopped', endOffset: number, indexes: SegmentIndexes): void {
    this.sums.close({ kind, sizeBytes: this.sizeBytes, endOffset, ...this.indexFiles.crcs(indexes) })
  }

  /** Both indexes, in memory: loaded and checked, or made anew from the batches when the files are not what they should be. */
  indexes(): SegmentIndexes {
    const known = this.ownIndexes ?? this.world.indexCache.get(this)
    if (known !== undefined) return known
    const loaded = this.loadIndexes()
    this.indexFiles = new IndexFiles(this.world.files, this.stem, loaded.rebuilt === undefined ? loaded.indexes : undefined)
    if (loaded.rebuilt !== undefined) this.takeRebuilt(loaded)
    this.isObscure ||= loaded.problem !== undefined
    this.knownLargestTimestamp = loaded.indexes.largestTimestamp
    this.indexesSure = loaded.sure
    this.world.indexCache.set(this, loaded.indexes)
    return loaded.indexes
  }

  /** As the files have them, or from the batches. */
  loadIndexes(): LoadedIndexes {
    return this.withFile(file => loadIndexes(this.world.files, this.indexed(file), this.intervalBytes))
  }

  /**
   * Makes sure of what an entry of the time index says, once it is used: that a batch ends at its offset and has its timestamp. If not, both
   * indexes are made anew, and false is returned.
   */
  trustTimes(entry: number): boolean {
    if (this.indexesSure || entry < 0) return true
    const { times } = this.indexes()
    const named = this.find(times.offsetAt(entry)).position
    const holds = this.holdsEntry(named, times.offsetAt(entry)) && maxTimestampOf(header, 0) === times.timestampAt(entry)
    if (!holds) this.distrustIndexes()
    return holds
  }

  indexed(file: File): IndexedFile {
    const { baseOffset, sizeBytes, stem, check, sums } = this
    return { baseOffset, sizeBytes, stem, file, check, seal: sums.seal }
  }

  private takeRebuilt({ indexes, rebuilt, problem }: LoadedIndexes): void {
    this.world.logger.warn('an index was made anew from its segment', { segment: this.path('.log'), reason: rebuilt, ...problem === undefined ? {} : { problem } })
    if (problem !== undefined) return
    try {
      this.indexFiles.write(indexes)
    } catch (error) {
      // A full disk must not keep anybody from reading: then they are made anew next time too.
      if (!isMillraceError(error, 'MR_FILE_NO_SPACE')) throw error
    }
    const { indexCrc, timeIndexCrc } = this.indexFiles.crcs(indexes)
    if (!this.isActive) this.sums.reseal(indexCrc, timeIndexCrc)
  }

  /** An entry led to no batch: forgets the indexes, so that they are made anew from the batches. */
  distrustIndexes(): void {
    this.world.files.remove(this.path('.index'))
    if (this.ownIndexes === undefined) return void this.world.indexCache.delete(this)
    const rebuilt = this.withFile(file => rebuild(this.indexed(file), this.intervalBytes, 'an entry led to no batch'))
    this.indexFiles = new IndexFiles(this.world.files, this.stem)
    this.ownIndexes = rebuilt.indexes
    this.indexesSure = true
    this.isObscure ||= rebuilt.problem !== undefined
    // What is appended now must be found without a step through what could not be read.
    if (rebuilt.problem !== undefined) rebuilt.indexes.bytesSinceEntry = Infinity
    this.takeRebuilt(rebuilt)
  }

  /** Largest timestamp of its first batch; -1 without one. */
  get firstTimestamp(): number {
    if (this.knownFirstTimestamp === undefined) {
      const there = this.sizeBytes > 0 && this.withFile(file => file.read(header, 0, batchHeaderBytes, 0)) === batchHeaderBytes
      this.knownFirstTimestamp = there ? maxTimestampOf(header, 0) : -1
    }
    return this.knownFirstTimestamp
  }

  /** By its records, or when the file was last written if they have no timestamps. */
  largestTimestamp(): number {
    const timestamp = this.largestRecordTimestamp()
    return timestamp >= 0 ? timestamp : this.world.files.stat(this.path('.log'))?.modifiedMs ?? this.createdMs
  }

  /** -1 when its records have none. Infinity when nobody knows. */
  largestRecordTimestamp(): number {
    if (this.ownIndexes === undefined && this.knownLargestTimestamp === undefined) this.indexes()
    if (this.isObscure) return Infinity
    return this.ownIndexes?.largestTimestamp ?? this.knownLargestTimestamp!
  }

  /** Drops the batches from `position` on, which have offsets from `offset` on. The segment is active. */
  truncate(position: number, offset: number): void {
    const indexes = this.ownIndexes!
    this.handle.opened.truncate(position)
    this.truncations++
    this.sizeBytes = position
    this.syncedBytes = Math.min(this.syncedBytes, position)
    this.endOffset = this.baseOffset
    this.indexFull = false
    if (position === 0) this.knownFirstTimestamp = undefined
    indexes.truncate(position, offset)
    this.sums.truncate(position)
    if (position <= this.trustedFrom) this.trustFrom(position, offset)
    this.proven.cut(position)
    const last = indexes.offsets.count - 1
    const scan = this.scan(this.handle.opened, last < 0 ? 0 : indexes.offsets.positionAt(last))
    while (scan.next()) {
      indexes.count(scan.bytes, scan.at, scan.sizeBytes, scan.position, Infinity)
      this.endOffset = lastOffsetOf(scan.bytes, scan.at) + 1
    }
    this.syncedOffset = Math.min(this.syncedOffset, this.endOffset)
    this.indexFiles.truncated(indexes)
  }

  /** All of it is on the disk. */
  markSynced(): void {
    this.syncedBytes = this.sizeBytes
    this.syncedOffset = this.endOffset
    this.nameSynced = true
  }

  /** Recovery found that no batch begins at `position`. The indexes know only of batches before. */
  cutTo(position: number): void {
    this.handle.opened.truncate(position)
    this.sizeBytes = position
    if (position < this.trustedFrom) this.trustFrom(position, this.endOffset)
  }

  /** Where the first batch begins that reaches `offset`, and its base offset; the end of the segment if none does. */
  find(offset: number): { readonly position: number, readonly baseOffset: number } {
    const from = this.positionBelow(offset)
    return this.withFile(file => {
      const scan = this.scan(file, from)
      while (scan.next()) {
        if (lastOffsetOf(scan.bytes, scan.at) >= offset) return { position: scan.position, baseOffset: baseOffsetOf(scan.bytes, scan.at) }
      }
      if (scan.problem !== undefined) throw this.damaged(scan.position, scan.problem)
      return { position: this.sizeBytes, baseOffset: this.endOffset }
    })
  }

  /** Where a batch begins at or before the first one that reaches `offset`, as its index says. */
  positionBelow(offset: number): number {
    const { offsets } = this.indexes()
    const entry = offsets.floor(offset)
    if (entry < 0) return 0
    const position = offsets.positionAt(entry)
    if (this.indexesSure || this.holdsEntry(position, offsets.offsetAt(entry))) return position
    this.distrustIndexes()
    return this.positionBelow(offset)
  }

  /** Whether a batch at `position` has this last offset. */
  holdsEntry(position: number, lastOffset: number): boolean {
    return this.read(header, batchHeaderBytes, position) === batchHeaderBytes && entryHolds(header, 0, lastOffset)
  }

  /** Reads into the beginning of `target`, at once. */
  read(target: Uint8Array, length: number, position: number): number { return this.handle.read(target, length, position) }
  withFile<T>(use: (file: File) => T): T { return this.handle.while(use) }
}
