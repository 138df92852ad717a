import { isMillraceError } from '../../kernel/errors/index.ts'
import { type Flusher, type FlushTarget } from './io/flusher.ts'
import { type Segment } from './io/segment.ts'
import { syncSegment, syncSides } from './io/segment-sync.ts'
import { type LogState } from './log-state.ts'

/** A restart checks what lies above the recovery point: that is moved on when so many bytes of a log have reached the disk since. */
const advanceBytes = 16 * 1024 * 1024

interface FlushRequest {
  readonly offset: number
  readonly done: (error: unknown) => void
}

/** Moves the flushed offset of a log: its side of the flusher. */
export class LogSync implements FlushTarget {
  queued = false
  private readonly log: LogState
  private readonly flusher: Flusher
  private readonly requests: FlushRequest[] = []
  private sinceAdvance = 0

  constructor(log: LogState, flusher: Flusher) {
    this.log = log
    this.flusher = flusher
    log.onFailure.push(error => this.answer(error))
  }

  /** A batch was appended. */
  appended(): void {
    const { log } = this
    if (log.settings.durability === 'fsync') this.flusher.appended(this)
    else log.flushed = log.end
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
    this.flusher.appended(this)
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
    return !oldest.isActive || log.settings.durability === 'fsync' || this.requests.length > 0
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
    if (log.synced > log.flushed) {
      log.flushed = log.synced
      log.watcher?.flushed()
    }
    this.answer(undefined)
  }

  private answer(error: Error | undefined): void {
    const { log, requests } = this
    const answered = error === undefined ? requests.filter(request => request.offset <= log.synced) : [...requests]
    for (const request of answered) {
      requests.splice(requests.indexOf(request), 1)
      request.done(error)
    }
  }
}

/** The files beside a closed segment, synced once, and the epochs: with them on the disk the recovery point may pass the segment. */
class SideSync implements FlushTarget {
  queued = false
  private readonly log: LogState
  private readonly logSync: LogSync
  private readonly segment: Segment
  private readonly endOffset: number
  /** There was no room: recovery makes the files anew if a crash comes before the next try. */
  private leftOut = false

  constructor(log: LogState, logSync: LogSync, segment: Segment, endOffset: number) {
    this.log = log
    this.logSync = logSync
    this.segment = segment
    this.endOffset = endOffset
  }

  get needsSync(): boolean {
    return !this.leftOut && this.log.failure === undefined && !this.segment.sidesSynced && this.log.segments.includes(this.segment)
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
