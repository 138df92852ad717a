import { uuidBytes } from '../../base/uuid.ts'
import { isMillraceError } from '../../kernel/errors/index.ts'
import { type AppendedBatch } from './core/redo-group.ts'
import { type Flusher, type FlushTarget } from './io/flusher.ts'
import { type Segment } from './io/segment.ts'
import { syncSegment, syncSides } from './io/segment-sync.ts'
import { type LogState } from './log-state.ts'
import { type RedoLog, type RedoMember } from './redo-log.ts'

/** What a log appends in one group beyond this goes to the disk once, in its segment, and not twice. */
const redoShareBytesMax = 128 * 1024

/** A restart checks what lies above the recovery point: that is moved on when so many bytes of a log have reached the disk since. */
const advanceBytes = 16 * 1024 * 1024

interface FlushRequest {
  readonly offset: number
  readonly done: (error: unknown) => void
}

/**
 * Moves the flushed offset of a log: its side of the flusher and of the redo log. What is appended with durability `fsync` goes to the
 * redo log while it is little; else, and until all of it is on the disk, the segments themselves are synced.
 */
export class LogSync implements FlushTarget, RedoMember {
  queued = false
  readonly topicIdBytes: Uint8Array
  groupStart = -1
  groupEnd = -1
  underwayStart = -1
  underwayEnd = -1
  private readonly log: LogState
  private readonly flusher: Flusher
  private readonly redo: RedoLog | undefined
  private readonly requests: FlushRequest[] = []
  private sinceAdvance = 0
  /** What was appended is to be synced in its segments, until nothing is left. */
  private inPlace = false
  /** The last range without a gap that went to the redo log, and how far it is on the disk there. */
  private redoStart = -1
  private redoEnd = -1
  private redoDone = -1
  private groupBytes = 0

  constructor(log: LogState, flusher: Flusher, redo: RedoLog | undefined) {
    this.log = log
    this.flusher = flusher
    this.redo = redo
    this.topicIdBytes = Uint8Array.from(uuidBytes(log.id.topicId))
    log.onFailure.push(error => this.answer(error))
  }

  get partition(): number { return this.log.id.partition }
  recoveryPoint(): number { return this.log.recoveryPoint() }

  /** A batch was written to its segment, and is in the log. */
  appended(batch: AppendedBatch): void {
    const { log } = this
    if (log.settings.durability !== 'fsync') log.flushed = log.end
    else if (this.inPlace || !this.toRedo(batch)) this.syncInPlace()
  }

  private toRedo(batch: AppendedBatch): boolean {
    const { log, redo } = this
    if (redo === undefined) return false
    this.groupBytes = this.groupStart < 0 ? batch.length : this.groupBytes + batch.length
    if (this.groupBytes > redoShareBytesMax || !redo.append(this, batch, log.end)) return false
    if (this.redoEnd !== batch.logEnd) this.redoStart = this.redoDone = batch.logEnd
    this.redoEnd = log.end
    return true
  }

  private syncInPlace(): void {
    this.inPlace = true
    this.flusher.appended(this)
  }

  redone(start: number, end: number): void {
    // Of a range before the last gap nothing is to be said: its segments are being synced.
    if (start < this.redoStart || start > this.redoDone || this.log.failure !== undefined) return
    this.redoDone = Math.max(this.redoDone, end)
    this.advance()
  }

  refused(): void {
    this.redoStart = this.redoEnd = this.redoDone = -1
    this.syncInPlace()
  }

  /** Before everything at and above `offset` is dropped, where a batch begins or the log ends. Durable when it returns; refused, it leaves the log as it was. */
  truncating(offset: number): void {
    this.orInPlace(() => this.redo?.reset(this, offset))
    this.redoStart = this.redoEnd = this.redoDone = -1
  }

  /** All that is left is on the disk; before, the flushed offset was at `flushed`. */
  truncated(flushed: number): void {
    const { log } = this
    this.inPlace = false
    if (log.flushed > flushed) log.watcher?.flushed()
    this.answer(undefined, Infinity)
  }

  /** Before the log is taken out of its directory. Durable when it returns. */
  removing(): void {
    this.orInPlace(() => this.redo?.removed(this))
  }

  /** Runs what may fail and leave the log as it was, but for what the redo log knew of it. */
  orInPlace(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.refused()
      throw error
    }
  }

  /** A segment was closed: it is synced whatever the durability, so that the recovery point can move on. */
  rolled(closed: Segment, endOffset: number): void {
    this.flusher.appended(this)
    this.flusher.appended(new SideSync(this.log, this, closed, endOffset))
  }

  /** Files beside segments that a full disk kept from being written are tried again. */
  retrySides(): void {
    for (const segment of this.log.segments) {
      if (!segment.isActive && !segment.sidesSynced) this.flusher.appended(new SideSync(this.log, this, segment, segment.endOffset))
    }
  }

  /** The topic's durability may have changed. */
  configured(): void {
    const { log } = this
    if (log.settings.durability === 'fsync' && log.synced < log.end) this.syncInPlace()
    else this.flusher.appended(this)
    if (log.settings.durability === 'fsync' || log.flushed === log.end) return
    log.flushed = log.end
    log.watcher?.flushed()
  }

  /** Calls `done` when everything appended so far is on the disk, or cannot get there. */
  flush(done: (error: unknown) => void): void {
    const { log } = this
    if (log.failure !== undefined || log.oldestUnsynced() === undefined) return done(log.failure)
    this.requests.push({ offset: log.end, done })
    this.flusher.appended(this)
  }

  get needsSync(): boolean {
    const { log } = this
    if (log.failure !== undefined) return false
    const oldest = log.oldestUnsynced()
    if (oldest === undefined) return false
    return !oldest.isActive || this.inPlace || this.requests.length > 0
  }

  sync(done: (error: unknown) => void): void {
    const segment = this.log.oldestUnsynced()!
    const before = segment.syncedBytes
    syncSegment(this.log.world.files, segment, error => {
      if (error === undefined && this.log.failure === undefined) this.synced(segment)
      done(error)
      if (error === undefined) this.progress(segment.syncedBytes - before)
    })
  }

  /** So many bytes more are on the disk, or the files beside them are. */
  progress(bytes: number): void {
    this.sinceAdvance += Math.max(0, bytes)
    if (this.sinceAdvance < advanceBytes || this.log.failure !== undefined) return
    this.sinceAdvance = 0
    this.log.home.advance(this.log.id)
  }

  private synced(segment: Segment): void {
    const { log } = this
    // The segments before it are on the disk already; one that was truncated or deleted meanwhile says nothing new.
    if (segment.syncedOffset <= log.synced || !log.segments.includes(segment)) return
    log.synced = segment.syncedOffset
    this.redo?.barrier(this, log.synced)
    this.moved()
  }

  /** The log begins at `offset` now: what was below is deleted, durably, its names too. */
  dropped(offset: number): void {
    this.log.synced = Math.max(this.log.synced, offset)
    this.moved()
  }

  private moved(): void {
    if (this.log.synced >= this.log.end) this.inPlace = false
    this.advance()
    this.answer(undefined)
  }

  /** What is on the disk, here or there, without a gap. */
  private advance(): void {
    const { log } = this
    const durable = this.redoStart >= 0 && this.redoStart <= log.synced ? Math.max(log.synced, this.redoDone) : log.synced
    if (durable <= log.flushed) return
    log.flushed = durable
    log.watcher?.flushed()
  }

  /** Those for what lies below `offset`; all of them where there is an error. */
  private answer(error: Error | undefined, offset = this.log.synced): void {
    const { requests } = this
    const answered = error === undefined ? requests.filter(request => request.offset <= offset) : [...requests]
    for (const request of answered) {
      requests.splice(requests.indexOf(request), 1)
      request.done(error)
    }
  }
}

/** Calls back once, when everything appended so far to those of the logs that serve is on the disk, or cannot get there. Nothing is left to do for one that is closed meanwhile. */
export function flushAll(logs: Iterable<{ readonly sync: LogSync, readonly state: LogState }>, done: (error: unknown) => void): void {
  const serving = [...logs].filter(log => log.state.failure === undefined)
  let waiting = serving.length + 1
  let failure: unknown
  const one = (error: unknown): void => {
    if (!isMillraceError(error, 'MR_LOG_CLOSED')) failure ??= error
    if (--waiting === 0) done(failure)
  }
  for (const log of serving) log.sync.flush(one)
  one(undefined)
}

/** The files beside a closed segment, synced once, and the epochs: with them on the disk the recovery point may pass the segment. */
class SideSync implements FlushTarget {
  queued = false
  private readonly log: LogState
  private readonly logSync: LogSync
  private readonly segment: Segment
  private readonly endOffset: number
  private readonly truncations: number
  /** There was no room: recovery makes the files anew if a crash comes before the next try. */
  private leftOut = false

  constructor(log: LogState, logSync: LogSync, segment: Segment, endOffset: number) {
    this.log = log
    this.logSync = logSync
    this.segment = segment
    this.truncations = segment.truncations
    this.endOffset = endOffset
  }

  get needsSync(): boolean {
    return !this.leftOut && this.log.failure === undefined && !this.segment.sidesSynced && this.segment.truncations === this.truncations && this.log.segments.includes(this.segment)
  }

  sync(done: (error: unknown) => void): void {
    const finished = (error: unknown): void => {
      this.leftOut = isMillraceError(error, 'MR_FILE_NO_SPACE')
      done(this.leftOut ? undefined : error)
      if (error === undefined) this.logSync.progress(this.segment.sizeBytes)
    }
    try {
      this.log.writeEpochs()
    } catch (error) {
      return finished(error)
    }
    syncSides(this.log.world.files, this.segment, this.endOffset, finished)
  }
}
