import { LruCache } from '../../base/lru-cache.ts'
import { MillraceError, isMillraceError } from '../../kernel/errors/index.ts'
import { type PartitionId, type Uuid } from '../../kernel/model/ids.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type Clock, type Random, type Timer, type Timers } from '../../kernel/ports/clock.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { type PageCache } from '../../kernel/ports/page-cache.ts'
import { type KeyValueEngine } from '../../kernel/ports/key-value-store.ts'
import { type FatalErrors, type Health, type HealthCheck, type Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { type CompactionReport, type LogCompaction } from '../../kernel/ports/log-compaction.ts'
import { type DirectoryStatus, type LogStore, type SweepReport } from '../../kernel/ports/log-store.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { type Threads } from '../../kernel/ports/threads.ts'
import { type StorageLocalConfig } from './config.ts'
import { Cleaner } from './cleaner.ts'
import { cleanerSettings } from './cleaner-settings.ts'
import { BufferPool } from './core/buffer-pool.ts'
import { IntegrityLedger } from './core/integrity-ledger.ts'
import { directoryHealth } from './core/directory-health.ts'
import { DataDirectory } from './io/data-directory.ts'
import { DelayedRemovals } from './io/delayed-removals.ts'
import { OpenFiles } from './io/open-files.ts'
import { LogDirectory } from './log-directory.ts'
import { type LogWorld } from './log-world.ts'
import { type RedoFigures } from './metrics.ts'
import { RetentionSweep } from './retention-sweep.ts'
import { Scrubber } from './scrubber.ts'
import { type SegmentedLog } from './segmented-log.ts'
import { StoreLoader, directoryPaths, openDirectories } from './store-loader.ts'

/** The ports that the store needs. */
export interface StoreWorld extends Pick<LogWorld, 'redoCounter'> {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly files: FileSystem
  readonly pageCache: PageCache
  readonly engine: KeyValueEngine
  readonly compression: Compression
  readonly settings: BrokerSettings
  readonly identity: BrokerIdentity
  readonly logger: Logger
  readonly fatal: FatalErrors
  /** Compaction is done on the event loop, in slices, where there are none. */
  readonly threads?: Threads | undefined
}

interface Placed {
  readonly log: SegmentedLog
  readonly home: LogDirectory
}

/** Partition logs in segment files under one or more data directories. */
export class SegmentedLogStore implements LogStore, LogCompaction, Lifecycle, HealthCheck {
  readonly name = 'data directories'
  private readonly world: StoreWorld
  private readonly logWorld: LogWorld
  private readonly homes: readonly LogDirectory[]
  private readonly lostDirectories: readonly Uuid[]
  readonly cleaner: Cleaner
  private readonly scrubber: Scrubber
  private readonly retention: RetentionSweep
  private readonly byTopic = new Map<string, Placed>()
  private readonly timers = new Set<Timer>()
  private started = false
  private starting: Promise<void> | undefined
  private stopping: Promise<void> | undefined

  constructor(world: StoreWorld, config: StorageLocalConfig) {
    this.world = world
    const { files, settings } = world
    this.logWorld = {
      ...world,
      openFiles: new OpenFiles(files, config.idleFilesMax),
      indexCache: new LruCache({ weightMax: config.indexCacheBytes, weigh: indexes => indexes.memoryBytes + 256 }),
      buffers: new BufferPool(config.readBufferBytes),
      removals: new DelayedRemovals(files, world.clock, world.timers),
      compactionOf: ({ topicId, partition }) => {
        const log = this.find(topicId, partition)
        return log === undefined ? undefined : this.cleaner.stateOf(log.state)
      },
      integrity: new IntegrityLedger(damage => {
        world.logger.error('a log is damaged: these records are not served, all others are', {
          ...damage, remedy: `restore the segment from a copy while the broker is stopped, or give these offsets up: delete the records below ${damage.last + 1}, or seek past them`,
        })
      }),
      producerExpirationMs: settings.integer('producer.id.expiration.ms'),
      residentBytes: config.residentBytes,
    }
    this.scrubber = new Scrubber(this.logWorld, {
      bytesPerSecond: config.scrubBytesPerSecond, intervalMs: config.scrubIntervalMs, logs: () => Array.from(this.logs(), log => log.state),
    })
    this.retention = new RetentionSweep({ clock: world.clock, logger: world.logger, serving: () => this.serving(), attempt: (home, run) => this.attempt(home, run) })
    this.cleaner = new Cleaner(this.logWorld, { ...cleanerSettings(settings), logs: () => Array.from(this.logs(), log => log.state), threads: world.threads })
    this.lostDirectories = config.lostDirectories
    const defaults = settings.topicSettings(new Map())
    this.homes = directoryPaths(settings).map(path => new LogDirectory(new DataDirectory(path, world), this.logWorld, {
      syncsMax: config.syncsInFlightMax, reserveBytes: config.reserveBytes, redoBytesMax: config.redoBytesMax, redoSync: config.redoSync, defaults, failed: error => this.directoryFailed(error),
    }))
  }

  start(): Promise<void> {
    this.starting = this.startAll()
    return this.starting
  }

  /** A start that is under way ends first, at the next log that it would load: the directories are free when this resolves. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll()
    return this.stopping
  }

  private async startAll(): Promise<void> {
    const { clock, logger, settings } = this.world
    const beganMs = clock.monotonicMs()
    const goOn = (): void => {
      if (this.stopping !== undefined) throw new MillraceError('MR_LOG_STORE_STOPPED')
    }
    await openDirectories(this.homes, { files: this.world.files, logger, lost: this.lostDirectories }, goOn)
    const loader = new StoreLoader(this.logWorld, goOn)
    for (const home of this.serving()) await this.load(home, loader)
    logger.info('logs are loaded', { logs: this.byTopic.size, ms: Math.round(clock.monotonicMs() - beganMs), ...loader.found })
    this.started = true
    this.scrubber.start()
    this.cleaner.start()
    this.every(settings.integer('log.flush.offset.checkpoint.interval.ms'), () => this.each(home => home.checkpointRecovery()))
    this.every(settings.integer('replica.high.watermark.checkpoint.interval.ms'), () => this.each(home => home.checkpointWatermarks()))
  }

  /** A directory whose disk fails only now is left out of service too, if another one serves. */
  private async load(home: LogDirectory, loader: StoreLoader): Promise<void> {
    try {
      await loader.load(home)
      home.opened()
    } catch (error) {
      const others = this.serving().filter(other => other !== home)
      if (!isMillraceError(error) || error.row.kind !== 'operational' || this.stopping !== undefined || others.length === 0) throw error
      home.fail(error)
      return
    }
    for (const log of home.logs.values()) this.byTopic.set(key(log.id.topicId, log.id.partition), { log, home })
  }

  *logs(): IterableIterator<SegmentedLog> {
    for (const { log } of this.byTopic.values()) yield log
  }

  find(topicId: Uuid, partition: number): SegmentedLog | undefined {
    return this.byTopic.get(key(topicId, partition))?.log
  }

  create(id: PartitionId, settings: TopicSettings): SegmentedLog {
    const there = this.find(id.topicId, id.partition)
    if (there !== undefined) return there
    for (const other of this.homes) other.checkNew(id)
    const home = this.emptiest()
    const log = home.create(id, settings)
    this.byTopic.set(key(id.topicId, id.partition), { log, home })
    return log
  }

  remove(topicId: Uuid, partition: number): void {
    const retired = this.retire(topicId, partition, 'delete')
    if (retired === undefined) return
    this.logWorld.removals.remove([retired.path], retired.freeAfterMs, error => {
      if (error === undefined) this.each(home => home.freed())
      else this.world.logger.warn('a deleted log could not be freed; the next start tries again', { path: retired.path, error })
    })
  }

  setAside(topicId: Uuid, partition: number): void {
    const retired = this.retire(topicId, partition, 'stray')
    if (retired !== undefined) this.world.logger.warn('a log was set aside: its topic is not known', { path: retired.path })
  }

  sweep(): SweepReport {
    return this.retention.slice()
  }

  compact(): Promise<CompactionReport> {
    return this.cleaner.compact()
  }

  async flush(): Promise<void> {
    await Promise.all(this.homes.map(home => new Promise<void>((resolve, reject) => {
      home.flush(error => {
        if (error === undefined) resolve()
        else reject(error as Error)
      })
    })))
  }

  directories(): readonly DirectoryStatus[] {
    return this.homes.map(home => home.status())
  }

  /** Of the directories that have a redo log. */
  redoFigures(): readonly RedoFigures[] {
    return this.homes.flatMap(home => home.redoFigures())
  }

  /** What is known of the bytes of the logs: see `IntegrityLedger`. */
  get integrity(): IntegrityLedger { return this.logWorld.integrity }

  check(): Health {
    const uncleanable = this.cleaner.uncleanable().map(({ log, reason }) => ({ ...log.id, reason }))
    const startsLost = this.homes.flatMap(home => home.lostStarts.names(home.logs))
    return directoryHealth(this.directories(), this.homes.filter(home => home.full).map(home => home.path), this.integrity.damages, uncleanable, this.integrity.lostTails, startsLost)
  }

  private async stopAll(): Promise<void> {
    // Whoever asked for the start is told how it ended.
    await this.starting?.catch(() => {})
    await this.cleaner.stop()
    this.logWorld.removals.end()
    this.scrubber.stop()
    for (const timer of this.timers) timer.cancel()
    this.timers.clear()
    for (const home of this.homes) await (this.started ? home.stop() : home.abandon())
    this.byTopic.clear()
  }

  private retire(topicId: Uuid, partition: number, state: 'delete' | 'stray'): { readonly path: string, readonly freeAfterMs: number } | undefined {
    const placed = this.byTopic.get(key(topicId, partition))
    if (placed === undefined) return undefined
    const { log, home } = placed
    try {
      const path = home.retire(log, state)
      this.byTopic.delete(key(topicId, partition))
      this.integrity.forgetLog(log.id)
      return { path, freeAfterMs: log.state.settings.fileDeleteDelayMs }
    } catch (error) {
      throw home.fault(error)
    }
  }

  /** Where a new log goes: the directory in service with the fewest. */
  private emptiest(): LogDirectory {
    let best: LogDirectory | undefined
    for (const home of this.serving()) if (best === undefined || home.logs.size < best.logs.size) best = home
    if (best === undefined) throw this.homes[0]!.offline!
    return best
  }

  private serving(): LogDirectory[] {
    return this.homes.filter(home => home.offline === undefined)
  }

  /** Runs background work on each directory that serves; what fails in one has taken it out of service, or is tried again next time. */
  private each(run: (home: LogDirectory) => void): void {
    for (const home of this.serving()) this.attempt(home, () => { run(home) })
  }

  private attempt(home: LogDirectory, run: () => void): void {
    try {
      run()
    } catch (error) {
      if (!isMillraceError(home.fault(error))) throw error
      this.world.logger.warn('background work on a data directory failed', { path: home.path, reason: String(error) })
    }
  }

  private every(intervalMs: number, run: () => unknown): void {
    const timer = this.world.timers.after(intervalMs, () => {
      this.timers.delete(timer)
      run()
      this.every(intervalMs, run)
    })
    this.timers.add(timer)
  }

  /** A broker without a disk to write to has no use. */
  private directoryFailed(error: Error): void {
    if (this.started && this.stopping === undefined && this.serving().length === 0) this.world.fatal.fatal(error, 'storage-local')
  }
}

const key = (topicId: Uuid, partition: number): string => `${topicId}-${partition}`
