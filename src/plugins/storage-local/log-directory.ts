import { MillraceError, isMillraceError } from '../../kernel/errors/index.ts'
import { partitionName } from '../../kernel/log/checkpoint-text.ts'
import { type PartitionId, type Uuid } from '../../kernel/model/ids.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type DirectoryStatus } from '../../kernel/ports/log-store.ts'
import { markedDirectory, parsePartitionDirectory, type DirectoryState } from './core/segment-name.ts'
import { DirectoryCheckpoints, type Fenced } from './directory-checkpoints.ts'
import { type SyncMode } from './core/sync-pace.ts'
import { DirectoryRedo, settleLogs } from './directory-redo.ts'
import { DirectorySpace, lacksFiles } from './directory-space.ts'
import { type DataDirectory } from './io/data-directory.ts'
import { Flusher } from './io/flusher.ts'
import { makePartitionDirectory, type Making } from './io/partition-directory.ts'
import { readTopicId } from './io/topic-id.ts'
import { sumsSyncedTo, type KnownOfLog } from './log-known.ts'
import { finishLog } from './log-finish.ts'
import { loadLog, nothingLoaded, type LoadReport } from './log-loader.ts'
import { LogState } from './log-state.ts'
import { flushAll } from './log-sync.ts'
import { checkpointKinds, type CheckpointKind, type LogHome, type LogWorld } from './log-world.ts'
import { syncAll } from './log-truncation.ts'
import { LostLogs } from './lost-logs.ts'
import { LostStarts } from './lost-starts.ts'
import { RecoveryPoints } from './recovery-points.ts'
import { isDamage, loadTwice } from './second-look.ts'
import { type RedoFigures } from './metrics.ts'
import { type RedoMember } from './redo-log.ts'
import { SegmentedLog } from './segmented-log.ts'
import { UnnamedPartitions } from './unnamed-partitions.ts'

/** A log under durability `os` is synced in the background when so much of it is not, so that a restart has no more than that to check. */
const unsyncedBytesMax = 64 * 1024 * 1024

/** Sub-directories that are nobody's partitions, and none of our business. */
const knownNames = /^(\.lock|__millrace_redo|__millrace_redo\.deleted|__millrace_metadata|remote-log-index-cache|__cluster_metadata-\d+|writable\.tmp)$/

export interface LogDirectoryOptions {
  readonly syncsMax: number
  readonly reserveBytes: number
  readonly redoBytesMax: number
  readonly redoSync: SyncMode
  /** Of a log that is not configured yet. */
  readonly defaults: TopicSettings
  /** The directory went out of service. */
  readonly failed: (error: Error) => void
}

/** The logs of one data directory: loading and making them, their checkpoints, and their end when the disk cannot be trusted any more. */
export class LogDirectory implements LogHome {
  readonly data: DataDirectory
  readonly flusher: Flusher
  /** By `<topic>-<partition>`. */
  readonly logs = new Map<string, SegmentedLog>()
  offline: MillraceError | undefined
  private readonly world: LogWorld
  private readonly options: LogDirectoryOptions
  private readonly space: DirectorySpace
  private readonly points: RecoveryPoints
  private readonly redo: DirectoryRedo
  private readonly fenced = new Map<string, Fenced>()
  private readonly lost: LostLogs
  readonly lostStarts = new LostStarts()
  private readonly unnamed: UnnamedPartitions
  private readonly checkpoints: DirectoryCheckpoints
  /** Names of logs that were removed, and may still stand in the checkpoint files. */
  private readonly staleNames = new Set<string>()
  private readonly halfMade = new Set<string>()
  private stopped = false
  /** A checkpoint found no space, and none has since been written. */
  private leftOut = false

  constructor(data: DataDirectory, world: LogWorld, options: LogDirectoryOptions) {
    this.data = data
    this.world = world
    this.options = options
    this.space = new DirectorySpace(world, this, options.reserveBytes)
    this.points = new RecoveryPoints(this)
    this.lost = new LostLogs(data.path, data.topicIds.path)
    this.unnamed = new UnnamedPartitions(world, data.path, this.lost)
    this.checkpoints = new DirectoryCheckpoints(data, { logs: this.logs, fenced: this.fenced, lost: this.lost })
    this.redo = new DirectoryRedo(world, data.path, {
      bytesMax: options.redoBytesMax, syncMode: options.redoSync,
      failed: error => void this.fail(error), settle: (logs, done) => this.settle(logs, done),
    })
    this.flusher = new Flusher(options.syncsMax, callback => world.timers.soon(callback), error => void this.fail(error))
  }

  get path(): string { return this.data.path }
  get ended(): boolean { return this.stopped || this.offline !== undefined }

  fail(error: unknown): Error {
    if (this.offline !== undefined) return this.offline
    const reason = error instanceof Error ? error.message : String(error)
    this.offline = new MillraceError('MR_LOG_DIRECTORY_OFFLINE', { path: this.path, reason }, error)
    this.world.logger.error('a data directory is out of service', { path: this.path, reason, logs: this.logs.size })
    this.redo.close()
    this.data.doubt()
    for (const log of this.logs.values()) log.state.fail(this.offline)
    this.options.failed(this.offline)
    return this.offline
  }

  fault(error: unknown): unknown {
    if (!isMillraceError(error) || !error.code.startsWith('MR_FILE_') || error.code === 'MR_FILE_NO_SPACE') return error
    return lacksFiles(error) ? error : this.fail(error)
  }

  /** Takes the directory into use: see `DataDirectory.open`. */
  async open(): Promise<void> {
    try {
      this.space.find()
      await this.data.open()
    } catch (error) {
      if (!isMillraceError(error, 'MR_FILE_NO_SPACE') || !this.filled()) throw this.space.startFailed(error)
      await this.data.close()
      await this.data.open().catch((failure: unknown) => { throw this.space.startFailed(failure) })
    }
    this.redo.open(this.data.id, this.data.clean, Math.floor(this.world.random.fraction() * 2 ** 31))
  }

  /** The logs are loaded: what the start has found goes to the checkpoints, the redo log of before counts no more, and the reserve is made whole. */
  opened(): void {
    this.space.starting(() => {
      this.spend(() => this.unnamed.settle(partition => this.redo.hasOrphansOf(partition), parsed => this.mark(parsed, 'stray')))
      this.writeCheckpoints()
      this.spend(() => this.redo.begin(() => this.drawHex(), partition => this.unnamed.isAwaited(partition)))
      this.spend(() => this.data.trust(this.isSound))
      this.freed()
    })
  }

  /** A log that is damaged has to be found so again, and one of which the topic is not known has not been checked: nothing is looked at after a clean stop. */
  private get isSound(): boolean { return this.fenced.size === 0 && !this.unnamed.areAwaited }
  get full(): boolean { return this.space.full }
  spend<T>(run: () => T): T { return this.space.spend(run) }
  starting<T>(run: () => T): T { return this.space.starting(() => this.spend(run)) }
  checkSpace(): void { this.space.check() }
  freed(): void { this.space.look() }
  filled(): boolean { return this.space.filled() }

  /** Names of the partition directories in service; removes those of deleted topics, and warns of what it does not know. */
  partitions(): string[] {
    const { files, logger } = this.world
    const names: string[] = []
    for (const name of files.list(this.path)) {
      const path = `${this.path}/${name}`
      if (knownNames.test(name) || files.stat(path)?.kind !== 'directory') continue
      const parsed = parsePartitionDirectory(name)
      if (parsed === undefined) logger.warn('a directory that is no partition is left alone', { path })
      else if (parsed.state === undefined) names.push(name)
      else if (parsed.state === 'delete') files.remove(path)
      else logger.warn(`a directory marked ${parsed.state} is left alone`, { path })
    }
    return names
  }

  /** Brings the log in one partition directory into service. A damaged one is listed, and fails every call. */
  load(name: string, known: KnownOfLog): LoadReport {
    try {
      return this.spend(() => this.loadOnce(name, known))
    } catch (error) {
      this.data.doubt()
      throw this.space.startFailed(error)
    }
  }

  private loadOnce(name: string, known: KnownOfLog): LoadReport {
    const parsed = parsePartitionDirectory(name)!
    const directory = `${this.path}/${name}`
    const { topicId, doubt } = readTopicId(this.world.files, directory, {
      partition: parsed.partition, sumsSyncedTo: sumsSyncedTo(known), named: known.named, isInRedo: id => this.redo.has(id, parsed.partition),
    })
    if (topicId === undefined) {
      this.unnamed.add({ name, parsed, known, doubt })
      return nothingLoaded
    }
    const redo = this.redo.take(topicId, parsed.partition, { recoveryPoint: known.recoveryPoint ?? known.cleanedTo, startOffset: known.startOffset })
    if (redo?.removed === true) {
      this.world.files.remove(this.mark(parsed, 'delete'))
      return { ...nothingLoaded, isGone: true }
    }
    try {
      return loadTwice(this.world, () => {
        const state = new LogState({ topic: parsed.topic, partition: parsed.partition, topicId }, directory, this.options.defaults, this.world, this)
        this.logs.set(name, new SegmentedLog(state, this.flusher, this.redo.log))
        return loadLog(state, { ...known, redo })
      })
    } catch (error) {
      if (!isDamage(error)) throw error
      this.fence(name, this.logs.get(name)!, known, error)
      return nothingLoaded
    }
  }

  /** A log that the checkpoints know is not in the directory: see `LostLogs`. */
  lose(name: string, known: KnownOfLog, topicId: Uuid): void {
    this.lost.add(name, known, topicId)
  }

  /** Throws MR_LOG_MISSING when the log was in this directory once, MR_LOG_DIRECTORY_OFFLINE when one may be there that could not be finished. */
  checkNew(id: PartitionId): void {
    if (this.halfMade.has(partitionName(id))) throw this.offline!
    if (this.lost.check(id)) this.staleNames.add(partitionName(id))
  }

  /** A new log. After a failure nothing of it is left, or this directory is offline: then it is made nowhere, see `checkNew`. */
  create(id: PartitionId, settings: TopicSettings): SegmentedLog {
    const making = { path: `${this.path}/${markedDirectory(id.topic, id.partition, this.drawHex(), 'delete')}` }
    try {
      if (this.full) this.checkSpace()
      return this.make(id, settings, making)
    } catch (error) {
      const told = this.fault(error)
      this.forget(id, making.path)
      throw told
    }
  }

  /** What an attempt left. Under the name of a deleted log the next start removes it; a partition that has its name must not be there twice. */
  private forget(id: PartitionId, path: string): void {
    const isNamed = path === `${this.path}/${partitionName(id)}`
    try {
      if (this.offline === undefined) this.world.files.remove(path)
      if (this.offline === undefined && isNamed) this.world.files.syncDirectory(this.path)
    } catch (error) {
      if (!isMillraceError(this.fault(error))) throw error
    }
    if (isNamed && this.offline !== undefined) this.halfMade.add(partitionName(id))
  }

  private make(id: PartitionId, settings: TopicSettings, making: Making): SegmentedLog {
    const { files } = this.world
    const name = partitionName(id)
    if (this.staleNames.has(name)) this.writeCheckpoints()
    const directory = `${this.path}/${name}`
    if (this.logs.has(name)) throw new MillraceError('MR_FILE_EXISTS', { operation: 'make partition', path: directory })
    // Left by an attempt that failed after the name was made.
    if (files.stat(directory) !== undefined) this.mark(id, 'stray')
    this.spend(() => this.redo.anew(id))
    makePartitionDirectory(files, this.path, making, directory, id.topicId)
    const state = new LogState(id, directory, settings, this.world, this)
    state.configured = true
    state.segments = [state.createSegment(0)]
    state.active.markSynced()
    const log = new SegmentedLog(state, this.flusher, this.redo.log)
    this.logs.set(name, log)
    this.checkpoints.changed()
    return log
  }

  /** Calls back when everything appended so far to the logs that serve is on the disk. */
  flush(done: (error: unknown) => void): void {
    flushAll(this.logs.values(), error => { done(this.offline ?? error) })
  }

  /** See `RedoLogOptions.settle`. */
  private settle(members: readonly RedoMember[], done: (error: unknown) => void): void {
    const wanted = new Set(members)
    const logs = [...this.logs.values()].filter(log => wanted.has(log.sync))
    settleLogs(logs, this.points, () => this.writeCheckpoint('recovery points'), done)
  }

  /** The end of a clean stop: all is synced, also what recovery would make anew, and the marker says so; none where something is not in order. */
  async stop(): Promise<void> {
    this.stopped = true
    try {
      const failure = this.offline ?? await new Promise<unknown>(resolve => this.flush(resolve))
      if (failure !== undefined) return
      for (const { state } of this.logs.values()) if (state.failure === undefined) this.spend(() => finishLog(state))
      this.writeCheckpoints()
      this.spend(() => this.redo.end())
      if (this.isSound) this.spend(() => this.data.markClean())
    } catch (error) {
      this.world.logger.warn('a data directory was not stopped cleanly', { path: this.path, reason: String(error) })
    } finally {
      await this.abandon()
    }
  }

  /** Leaves everything as it is, for the next start. */
  async abandon(): Promise<void> {
    this.redo.close()
    for (const log of this.logs.values()) log.close()
    await this.data.close()
  }

  /** Takes the log out of service and renames its directory: gone from the next start too when it returns. Gives the new path. Not where nothing can be made durable. */
  retire(log: SegmentedLog, state: DirectoryState): string {
    if (this.offline !== undefined) throw this.offline
    const name = partitionName(log.id)
    const serving = log.state.failure === undefined
    // What is kept must not need the redo log, and must not look removed before it has its new name.
    if (serving) this.spend(() => state === 'delete' ? log.sync.removing() : syncAll(log.state))
    log.close()
    const path = this.mark(log.id, state)
    if (serving && state === 'stray') this.spend(() => log.sync.removing())
    this.logs.delete(name)
    this.fenced.delete(name)
    this.staleNames.add(name)
    this.checkpoints.changed()
    return path
  }

  status(): DirectoryStatus {
    let usedBytes = 0
    for (const log of this.logs.values()) usedBytes += log.sizeBytes
    const offline = this.offline === undefined ? undefined : String(this.offline.details.reason)
    return { path: this.path, id: this.data.id, offline, partitions: this.logs.size, usedBytes, logs: () => this.logs.values(), space: () => this.space.figures() }
  }

  redoFigures(): readonly RedoFigures[] { return this.redo.figures() }
  writeCheckpoint(of: CheckpointKind): void { this.stageCheckpoint(of)() }
  stageCheckpoint(of: CheckpointKind): () => void { return this.spend(() => this.checkpoints.stage(of)) }

  /** All three, durably. */
  writeCheckpoints(): void {
    for (const log of this.logs.values()) if (log.state.failure === undefined) this.spend(() => log.state.writeEpochs())
    this.spend(() => this.checkpoints.writeTopicIds())
    for (const kind of checkpointKinds) this.writeCheckpoint(kind)
    this.staleNames.clear()
  }

  /** What the interval of the recovery points brings: index entries and epochs go to their files, and the recovery points move on. */
  checkpointRecovery(): void {
    if (this.offline !== undefined) return
    if (this.full) this.freed()
    this.tolerate(() => {
      for (const { state, sync } of this.logs.values()) {
        if (state.failure !== undefined) continue
        sync.retrySides()
        const unsynced = state.oldestUnsynced()
        if (unsynced !== undefined && unsynced.sizeBytes - unsynced.syncedBytes > unsyncedBytesMax) sync.flush(() => {})
      }
      this.writeLater('log starts')
    })
    this.points.advance(Array.from(this.logs.values(), log => log.state))
  }

  advance(id: PartitionId): void {
    const log = this.logs.get(partitionName(id))
    if (log !== undefined) this.points.advance([log.state])
  }

  checkpointWatermarks(): void { this.checkpoint('watermarks') }
  cleaned(): void { this.checkpoint('clean offsets', 'delete horizons') }

  private checkpoint(...kinds: CheckpointKind[]): void {
    for (const of of kinds) if (this.offline === undefined) this.tolerate(() => this.writeLater(of))
  }

  private writeLater(of: CheckpointKind): void {
    this.checkpoints.writeLater(of, error => {
      if (error === undefined) this.leftOut = false
      else this.pointsFailed(error)
    })
  }

  writePoints(done: (error: unknown) => void): void {
    this.checkpoints.writeLater('recovery points', done)
  }

  private tolerate(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.pointsFailed(error)
    }
  }

  /** One that finds the disk full, or no file to be had, is tried again at its next time. */
  pointsFailed(error: unknown): void {
    const full = isMillraceError(error, 'MR_FILE_NO_SPACE')
    if (!full && !lacksFiles(error)) return void this.fail(error)
    if (!this.leftOut && !this.full) this.world.logger.warn(`${full ? 'the disk is full' : 'no file can be opened'}: checkpoints are left out until there is space`, { path: this.path, error })
    this.leftOut = true
  }

  /** Keeps a damaged log from being served, now and at the next start: its recovery point is above the damage, so that it is seen as such again. */
  private fence(name: string, log: SegmentedLog, known: KnownOfLog, error: Error & { readonly details: Readonly<Record<string, unknown>> }): void {
    const damagedAt = Number(error.details.offset ?? 0)
    this.fenced.set(name, { ...known, recoveryPoint: Math.max(known.recoveryPoint ?? 0, damagedAt + 1) })
    this.redo.giveBack(log.id)
    log.state.fail(error)
    this.world.logger.error('a log is damaged and not served; its files are left as they are', {
      topic: log.id.topic, partition: log.id.partition, path: log.state.directory, reason: error.message,
      remedy: 'stop the broker and restore the directory from a copy; how to give up what lies behind the damage instead is in docs/damage.md',
    })
  }

  private mark(id: Pick<PartitionId, 'topic' | 'partition'>, state: DirectoryState): string {
    const { files } = this.world
    const path = `${this.path}/${markedDirectory(id.topic, id.partition, this.drawHex(), state)}`
    files.rename(`${this.path}/${partitionName(id)}`, path)
    files.syncDirectory(this.path)
    return path
  }

  private drawHex(): string { return Array.from(this.world.random.bytes(16), byte => byte.toString(16).padStart(2, '0')).join('') }
}
