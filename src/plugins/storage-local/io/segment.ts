import { type LruCache } from '../../../base/lru-cache.ts'
import { type AgingSegment } from '../../../kernel/log/retention-policy.ts'
import { type ActiveSegment } from '../../../kernel/log/roll-policy.ts'
import { isMillraceError } from '../../../kernel/errors/index.ts'
import { type File, type FileSystem } from '../../../kernel/ports/file-system.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { baseOffsetOf, batchHeaderBytes, lastOffsetOf, maxTimestampOf, readInt64 } from '../../../kernel/record/batch-header.ts'
import { type SegmentIndexes } from '../core/segment-indexes.ts'
import { segmentFileName, type SegmentSuffix } from '../core/segment-name.ts'
import { timeEntryBytes } from '../core/time-index.ts'
import { BatchScan } from './batch-scan.ts'
import { IndexFiles, loadIndexes, readWhole } from './index-file.ts'
import { type OpenFiles, type SegmentHandle } from './open-files.ts'

/** What all segments of a store share. */
export interface SegmentWorld {
  readonly files: FileSystem
  readonly openFiles: OpenFiles
  /** Indexes of closed segments that were used last, weighed by their memory. */
  readonly indexCache: LruCache<Segment, SegmentIndexes>
  readonly logger: Logger
}

export interface SegmentFacts {
  readonly sizeBytes: number
  readonly endOffset: number
  readonly createdMs: number
  readonly jitterMs: number
  readonly intervalBytes: number
}

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
  /** The index files and the snapshot at the end of a closed segment are known to be on the disk. */
  sidesSynced = false
  indexFull = false
  /** Its log is out of service, or it was deleted: its files may be gone from where they were. */
  released = false
  /** `index.interval.bytes` of the topic. */
  intervalBytes: number
  private readonly world: SegmentWorld
  private indexFiles: IndexFiles
  /** Of the active segment. */
  private ownIndexes: SegmentIndexes | undefined
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
  }

  get stem(): string { return `${this.directory}/${segmentFileName(this.baseOffset, '.log').slice(0, -4)}` }
  get isActive(): boolean { return this.ownIndexes !== undefined }
  path(suffix: SegmentSuffix): string { return `${this.directory}/${segmentFileName(this.baseOffset, suffix)}` }

  /** Makes it the segment that is appended to. `indexes` are those of its batches; `written` says that the index files have them too. */
  open(indexes: SegmentIndexes, written: boolean): void {
    if (!this.isActive) this.handle.use()
    this.ownIndexes = indexes
    this.indexFiles = new IndexFiles(this.world.files, this.stem, written ? indexes : undefined)
    this.world.indexCache.delete(this)
    this.sidesSynced = false
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

  /** It is appended to no longer. The index files get their last entries; until `sidesSynced` they may be lost. */
  close(): void {
    const indexes = this.ownIndexes!
    indexes.close()
    this.knownLargestTimestamp = indexes.largestTimestamp
    this.ownIndexes = undefined
    this.world.indexCache.set(this, indexes)
    this.handle.done()
    this.indexFiles.write(indexes)
  }

  /** Writes the entries that the files do not have yet. Of a closed segment it does so only while its indexes are at hand. */
  writeIndexes(): void {
    const indexes = this.ownIndexes ?? this.world.indexCache.peek(this)
    if (indexes !== undefined) this.indexFiles.write(indexes)
  }

  /** Makes the index files durable as they are now. */
  syncIndexes(done: (error: unknown) => void): void {
    this.indexFiles.sync(done)
  }

  /** Adds the last time entry as `close` does, and writes; the segment stays active. */
  writeFinalIndexes(): void {
    this.ownIndexes?.close()
    this.writeIndexes()
  }

  /** Both indexes, in memory: loaded and checked, or made anew from the batches when the files are not what they should be. */
  indexes(): SegmentIndexes {
    const known = this.ownIndexes ?? this.world.indexCache.get(this)
    if (known !== undefined) return known
    const { baseOffset, sizeBytes, stem } = this
    const { indexes, rebuilt } = this.withFile(file => loadIndexes(this.world.files, { baseOffset, sizeBytes, stem, file }, this.intervalBytes))
    this.indexFiles = new IndexFiles(this.world.files, stem, rebuilt === undefined ? indexes : undefined)
    if (rebuilt !== undefined) {
      this.world.logger.warn('an index was made anew from its segment', { segment: this.path('.log'), reason: rebuilt })
      this.writeRebuilt(indexes)
    }
    this.knownLargestTimestamp = indexes.largestTimestamp
    this.world.indexCache.set(this, indexes)
    return indexes
  }

  /** A full disk must not keep anybody from reading: then they are made anew next time too. */
  private writeRebuilt(indexes: SegmentIndexes): void {
    try {
      this.indexFiles.write(indexes)
    } catch (error) {
      if (!isMillraceError(error, 'MR_FILE_NO_SPACE')) throw error
    }
  }

  /** An entry led to no batch: forgets the indexes, so that they are made anew from the batches. */
  distrustIndexes(): void {
    this.world.indexCache.delete(this)
    this.world.files.remove(this.path('.index'))
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

  /** -1 when its records have none. Of a closed segment its time index is believed: see `indexes` for a checked one. */
  largestRecordTimestamp(): number {
    if (this.ownIndexes !== undefined) return this.ownIndexes.largestTimestamp
    this.knownLargestTimestamp ??= this.lastTimeEntry() ?? this.indexes().largestTimestamp
    return this.knownLargestTimestamp
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
    const last = indexes.offsets.count - 1
    const scan = new BatchScan(this.handle.opened, last < 0 ? 0 : indexes.offsets.positionAt(last), position)
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
  }

  /** Where the first batch begins that reaches `offset`, and its base offset; the end of the segment if none does. */
  find(offset: number): { readonly position: number, readonly baseOffset: number } {
    const { offsets } = this.indexes()
    const entry = offsets.floor(offset)
    return this.withFile(file => {
      const scan = new BatchScan(file, entry < 0 ? 0 : offsets.positionAt(entry), this.sizeBytes)
      while (scan.next()) {
        if (lastOffsetOf(scan.bytes, scan.at) >= offset) return { position: scan.position, baseOffset: baseOffsetOf(scan.bytes, scan.at) }
      }
      return { position: this.sizeBytes, baseOffset: this.endOffset }
    })
  }

  /** Reads into the beginning of `target`, at once. */
  read(target: Uint8Array, length: number, position: number): number {
    const file = this.handle.use()
    try {
      return file.read(target, 0, length, position)
    } finally {
      this.handle.done()
    }
  }

  withFile<T>(use: (file: File) => T): T {
    const file = this.handle.use()
    try {
      return use(file)
    } finally {
      this.handle.done()
    }
  }

  private lastTimeEntry(): number | undefined {
    const bytes = readWhole(this.world.files, this.path('.timeindex'), timeEntryBytes)
    return bytes?.length === timeEntryBytes ? readInt64(bytes, 0) : undefined
  }
}
