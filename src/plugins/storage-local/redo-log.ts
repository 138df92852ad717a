import { MillraceError, isMillraceError } from '../../kernel/errors/index.ts'
import { type Clock, type Timers } from '../../kernel/ports/clock.ts'
import { type File, type FileSystem } from '../../kernel/ports/file-system.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { entryHeaderBytes, paddedBytes, redoBlockBytes, RedoGroupBuilder, type AppendedBatch } from './core/redo-group.ts'
import { memberKey } from './core/redo-history.ts'
import { SyncPace, type SyncMode } from './core/sync-pace.ts'
import { RedoFiles, type RedoFile } from './io/redo-files.ts'

const settleAgainAfterMs = 1000
const nobody: readonly RedoMember[] = []

/** A log, as the redo log knows it. */
export interface RedoMember {
  /** 16 bytes. */
  readonly topicIdBytes: Uint8Array
  readonly partition: number
  /** Where what it has in the group at hand begins and ends; -1 when it has nothing there. The redo log's own. */
  groupStart: number
  groupEnd: number
  /** Where what it has in the group under way begins and ends; -1 when it has nothing there, and after a truncation. */
  underwayStart: number
  underwayEnd: number
  /** Everything below is on the disk without the redo log: see `LogState.recoveryPoint`. */
  recoveryPoint(): number
  /** What it appended from `start` to `end` is on the disk. */
  redone(start: number, end: number): void
  /** There was no room for what it has in the group at hand: it has to be synced in its segments. */
  refused(): void
}

export interface RedoLogOptions {
  readonly directoryId: Uint8Array
  /** See `RedoGroup.run`. */
  readonly run: number
  readonly fileBytes: number
  readonly bytesMax: number
  readonly groupBytesMax: number
  readonly syncMode: SyncMode
  /** The disk failed: no sync starts any more. */
  readonly failed: (error: unknown) => void
  /** Brings the logs so far that recovery needs nothing of them below what they have now. `done` without an error says so. */
  readonly settle: (logs: readonly RedoMember[], done: (error: unknown) => void) => void
}

export interface RedoWorld {
  readonly files: FileSystem
  readonly timers: Timers
  readonly clock: Clock
  readonly logger: Logger
  /** Gives what counts for the redo log of the directory `path`; without it nothing but `RedoLog.counts` does. */
  readonly redoCounter?: (path: string) => (what: keyof RedoCounts, amount: number) => void
}

/** What has happened since the start. */
export interface RedoCounts {
  groups: number
  batches: number
  bytes: number
  inlineSyncs: number
  /** Batches that had no room and were synced in their segments. */
  refused: number
  /** Files that were freed to be used again. */
  reclaimed: number
}

/**
 * One log for what many logs append: written and synced once for all of them, and read only at recovery. A batch is first written to its
 * segment, then added here; one group is under way at a time, and what comes meanwhile is the next. See docs/decisions/0005.
 */
export class RedoLog {
  readonly counts: RedoCounts = { groups: 0, batches: 0, bytes: 0, inlineSyncs: 0, refused: 0, reclaimed: 0 }
  readonly ring: RedoFiles<RedoMember>
  private readonly world: RedoWorld
  private readonly directory: string
  private readonly options: RedoLogOptions
  private readonly pace: SyncPace
  private readonly counted: ((what: keyof RedoCounts, amount: number) => void) | undefined
  private readonly group: RedoGroupBuilder
  /** Barriers that are to go with the next group, by their logs. */
  private readonly barriers = new Map<RedoMember, number>()
  private members: RedoMember[] = []
  private underway: RedoMember[] = []
  /** On the disk with a group behind the one under way: answered after it. */
  private late: { readonly member: RedoMember, readonly start: number, readonly end: number }[] = []
  /** Where the group under way lies. */
  private underwayFile: File | undefined
  private startsSoon = false
  private settling = false
  /** The oldest file is not settled before. */
  private settleAgainMs = -Infinity
  private stopped = false

  constructor(world: RedoWorld, directory: string, options: RedoLogOptions) {
    this.world = world
    this.directory = directory
    this.options = options
    this.pace = new SyncPace(options.syncMode)
    this.counted = options.bytesMax > 0 ? world.redoCounter?.(directory) : undefined
    this.group = new RedoGroupBuilder(options.directoryId, options.groupBytesMax)
    this.ring = new RedoFiles(world.files, world.timers, directory, {
      fileBytes: options.fileBytes, bytesMax: options.bytesMax, run: options.run,
      warn: (message, error) => world.logger.warn(message, { directory, reason: String(error) }),
      failed: error => this.fail(error),
    })
  }

  /** Adds a batch that was written to its segment. False when it has to be synced there. */
  append(log: RedoMember, batch: AppendedBatch, end: number): boolean {
    if (this.stopped || !this.ring.hasRoom(this.group.sizeBytes + paddedBytes(entryHeaderBytes + batch.length)) || !this.group.addBatch(log.topicIdBytes, log.partition, batch)) {
      this.count('refused')
      this.settleWhenFull()
      return false
    }
    if (log.groupStart < 0) this.members.push(log)
    // What it has in the group before a gap is on the disk in its segments, or the batch would not have come here.
    if (log.groupStart < 0 || log.groupEnd !== batch.logEnd) log.groupStart = batch.logEnd
    log.groupEnd = end
    this.count('batches')
    if (!this.startsSoon && !this.isUnderway) {
      this.startsSoon = true
      this.world.timers.soon(this.commitSoon)
    }
    return true
  }

  /** The segments of the log are on the disk below `offset`: told with the next group. */
  barrier(log: RedoMember, offset: number): void {
    if (this.ring.holds(log)) this.barriers.set(log, offset)
  }

  /** Durably: what was appended at or above `offset` is void. Before the segments are cut. */
  reset(log: RedoMember, offset: number): void {
    // Even where nothing is to be written: behind what is appended next it would say that this is on the disk.
    this.barriers.delete(log)
    if (!this.knows(log)) return
    this.letGo(log)
    this.mark(log, 'reset', offset)
    this.ring.cut(log, offset)
  }

  /** Durably: the log is removed. Before its directory is renamed. */
  removed(log: RedoMember): void {
    this.barriers.delete(log)
    if (!this.knows(log)) return
    this.letGo(log)
    try {
      this.mark(log, 'removed', 0)
    } catch (error) {
      // Without it a crash brings back, apart from all logs, what was here of this one: no reason to keep a topic from being deleted.
      if (!isMillraceError(error, 'MR_FILE_NO_SPACE')) throw error
    }
    this.ring.forget(log, memberKey(log))
  }

  /** Durably: nothing of one that was removed is of the log that is made now under its id. Before its directory has its name. */
  anew(log: Pick<RedoMember, 'topicIdBytes' | 'partition'>): void {
    if (!this.stopped && this.ring.hasGone(memberKey(log))) this.mark(log, 'reset', 0)
  }

  /** Nothing is written any more. What is under way is answered no more. */
  close(): void {
    if (this.stopped) return
    this.stopped = true
    this.ring.close()
  }

  /** What the log has in groups that are not on the disk yet is answered no more. */
  private letGo(log: RedoMember): void {
    log.underwayStart = log.groupStart = -1
    this.members = this.members.filter(member => member !== log)
    this.late = this.late.filter(({ member }) => member !== log)
  }

  private get isUnderway(): boolean { return this.underwayFile !== undefined }

  private knows(log: RedoMember): boolean {
    return !this.stopped && (log.groupStart >= 0 || log.underwayStart >= 0 || this.ring.names(log))
  }

  /** Writes the group at hand with a last entry, and waits for it. */
  private mark(log: Pick<RedoMember, 'topicIdBytes' | 'partition'>, kind: 'reset' | 'removed', offset: number): void {
    if (!this.group.isEmpty && !this.ring.hasRoom(this.group.sizeBytes + redoBlockBytes)) this.refuseAll()
    if (!this.group.addMark(kind, log.topicIdBytes, log.partition, offset)) {
      this.writeAndWait()
      this.group.addMark(kind, log.topicIdBytes, log.partition, offset)
    }
    this.writeAndWait()
  }

  private writeAndWait(): void {
    const { ring, group } = this
    if (!ring.hasRoom(group.sizeBytes, 'mark')) {
      group.clear()
      throw new MillraceError('MR_FILE_NO_SPACE', { operation: 'add to the redo log in', path: this.directory })
    }
    const members = this.members
    this.members = []
    let sequence: number
    try {
      sequence = this.write(members)
    } catch (error) {
      this.notWritten(members, error)
      throw error
    }
    const { file } = ring.current!
    try {
      // What is behind a torn group counts no more: one that is under way in another file has to be there first.
      if (this.underwayFile !== undefined && this.underwayFile !== file) this.underwayFile.syncNow()
      file.syncNow()
    } catch (error) {
      this.fail(error)
      throw error
    }
    // A group that is under way hears of its own sync.
    if (!this.isUnderway) ring.synced(sequence)
    for (const member of members) {
      this.late.push({ member, start: member.groupStart, end: member.groupEnd })
      member.groupStart = -1
    }
    if (!this.isUnderway) this.answerLate()
  }

  /** A disk that is full, though the file was written before, copies on write: the segments may find room. */
  private notWritten(members: RedoMember[], error: unknown): void {
    if (!isMillraceError(error, 'MR_FILE_NO_SPACE')) return this.fail(error)
    for (const member of members.splice(0)) {
      member.groupStart = member.underwayStart = -1
      this.count('refused')
      member.refused()
    }
  }

  private answerLate(): void {
    for (const { member, start, end } of this.late.splice(0)) member.redone(start, end)
  }

  private readonly commitSoon = (): void => {
    this.startsSoon = false
    this.commit()
  }

  private commit(): void {
    if (this.stopped || this.isUnderway || this.group.isEmpty) return
    const told = this.addBarriers()
    if (!this.ring.hasRoom(this.group.sizeBytes)) return this.refuseAll()
    const members = this.members
    this.members = this.underway
    this.underway = members
    for (const member of members) {
      member.underwayStart = member.groupStart
      member.underwayEnd = member.groupEnd
    }
    let sequence: number
    try {
      sequence = this.write(members, told)
    } catch (error) {
      return this.notWritten(members, error)
    }
    for (const member of members) member.groupStart = -1
    this.underwayFile = this.ring.current!.file
    this.sync(this.underwayFile, sequence)
  }

  /** Gives the logs of those that found room in the group at hand. */
  private addBarriers(): readonly RedoMember[] {
    if (this.barriers.size === 0) return nobody
    const told: RedoMember[] = []
    for (const [log, offset] of this.barriers) {
      if (!this.group.addMark('barrier', log.topicIdBytes, log.partition, offset)) break
      this.barriers.delete(log)
      told.push(log)
    }
    return told
  }

  private write(members: readonly RedoMember[], told = nobody): number {
    this.count('groups')
    this.count('bytes', this.group.sizeBytes)
    const sequence = this.ring.write(this.group)
    const { logs, barriers } = this.ring.current!
    for (const member of members) logs.set(member, member.groupEnd)
    for (const member of told) barriers.add(member)
    return sequence
  }

  private sync(file: File, sequence: number): void {
    const { clock } = this.world
    const { inline } = this.pace
    const beganMs = clock.monotonicMs()
    if (inline) {
      try {
        file.syncNow()
      } catch (error) {
        return this.fail(error)
      }
      this.count('inlineSyncs')
      this.pace.took(true, clock.monotonicMs() - beganMs)
      return this.finished(sequence)
    }
    file.sync(error => {
      if (this.stopped) return
      if (error !== undefined) return this.fail(error)
      this.pace.took(false, clock.monotonicMs() - beganMs)
      this.finished(sequence)
    })
  }

  private finished(sequence: number): void {
    this.underwayFile = undefined
    this.ring.synced(sequence)
    const members = this.underway
    for (const member of members) {
      const start = member.underwayStart
      member.underwayStart = -1
      if (start >= 0) member.redone(start, member.underwayEnd)
    }
    members.length = 0
    this.answerLate()
    this.settleOldest()
    this.commit()
    this.sayFreed()
  }

  /** All of the group at hand goes the other way. */
  private refuseAll(): void {
    this.group.clear()
    const members = this.members
    this.members = []
    this.count('refused', members.length)
    for (const member of members) {
      member.groupStart = -1
      member.refused()
    }
  }

  /** At half of what there may be, what the full files hold is brought to the disk where it belongs, so that they are free before they are needed. */
  private settleOldest(): void {
    const { ring } = this
    if (this.stopped || this.settling || ring.full.length === 0 || ring.bytesInUse * 2 < this.options.bytesMax) return
    if (this.world.clock.monotonicMs() < this.settleAgainMs) return
    this.settling = true
    const files = [...ring.full]
    const logs = new Set<RedoMember>()
    for (const file of files) for (const [log, end] of file.logs) if (log.recoveryPoint() < end) logs.add(log)
    this.options.settle([...logs], error => this.settled(files, error))
  }

  private settled(files: readonly RedoFile<RedoMember>[], error: unknown): void {
    this.settling = false
    if (this.stopped) return
    if (error !== undefined) {
      return isMillraceError(error, 'MR_FILE_NO_SPACE') ? this.freedNothing() : this.fail(error)
    }
    // None behind one that is needed: recovery takes a group that is missing between others for lost.
    const needed = files.findIndex(({ logs }) => [...logs].some(([log, end]) => log.recoveryPoint() < end))
    const free = needed < 0 ? files : files.slice(0, needed)
    if (free.length === 0) return this.freedNothing()
    this.count('reclaimed', free.length)
    this.ring.reclaim(free)
    this.sayFreed()
  }

  /** Something keeps the oldest file needed, such as a disk without space: that is not tried again with each group. */
  private freedNothing(): void {
    this.settleAgainMs = this.world.clock.monotonicMs() + settleAgainAfterMs
  }

  /** Once all files are full no group ends any more, after which files are freed. */
  private settleWhenFull(): void {
    if (this.stopped || this.isUnderway || this.settling || this.world.clock.monotonicMs() < this.settleAgainMs) return
    this.sayFreed()
    this.settleOldest()
  }

  /** What was reclaimed is free with the next group. Where there is no room for any, that is one without entries, at the end of the last file. */
  private sayFreed(): void {
    const { ring, group } = this
    if (this.isUnderway || !group.isEmpty || !ring.awaitsGroup || !ring.hasRoom(group.sizeBytes, 'empty')) return
    let sequence: number
    try {
      sequence = this.write([])
    } catch (error) {
      return this.notWritten([], error)
    }
    this.underwayFile = ring.current!.file
    this.sync(this.underwayFile, sequence)
  }

  private count(what: keyof RedoCounts, amount = 1): void {
    this.counts[what] += amount
    this.counted?.(what, amount)
  }

  private fail(error: unknown): void {
    if (this.stopped) return
    this.close()
    this.options.failed(error)
  }
}
