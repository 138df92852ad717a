import { assert } from '../../base/assert.ts'
import { deferred, type Deferred } from '../../base/deferred.ts'
import { randomUuid, type Uuid } from '../../base/uuid.ts'
import { emptyLog, nextEntry, type LogEntry, type LogPosition } from '../../kernel/consensus-log/log-entry.ts'
import { MillraceError } from '../../kernel/errors/millrace-error.ts'
import { type Clock, type Random } from '../../kernel/ports/clock.ts'
import { type Consensus, type ConsensusStatus, type ReplicatedMachine } from '../../kernel/ports/consensus.ts'
import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { type KeyValueEngine } from '../../kernel/ports/key-value-store.ts'
import { type FatalErrors, type Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { type Logger, type Metrics } from '../../kernel/ports/telemetry.ts'
import { SpaceReserve } from './io/space-reserve.ts'
import { VoterStore, type StoredLog } from './io/voter-store.ts'
import { VoterMetrics } from './metrics.ts'

export interface SingleVoterOptions {
  readonly nodeId: number
  readonly clusterId: Uuid
  readonly path: string
  /** The directory of a partition that needs the metadata: then an empty log has been lost, and is no new one. */
  readonly foundPartition?: string | undefined
  /** A snapshot is made when so many commands, or so many bytes of them, were applied since the last. */
  readonly snapshotEntries: number
  readonly snapshotBytes: number
  /** See SpaceReserve. */
  readonly reserveBytes: number
}

/** At most so much goes into one write, but for an append that is larger by itself. */
const writeEntriesMax = 1000
const writeBytesMax = 1_048_576

interface PendingAppend {
  readonly entries: readonly LogEntry[]
  readonly sinceMs: number
  readonly done: Deferred<number>
}

/** What a voter takes from its world. */
export interface VoterWorld {
  readonly engine: KeyValueEngine
  readonly files: FileSystem
  readonly fatal: FatalErrors
  readonly clock: Clock
  readonly random: Random
  readonly metrics: Metrics
  readonly log: Logger
}

type Phase = 'new' | 'started' | 'leading' | 'failed' | 'stopping' | 'stopped'

/**
 * The consensus of one: what is durable here is agreed. It leads as soon as it is open, in a term of its own for each start. Appends that
 * come while a write is under way go into the next one together.
 *
 * A write that fails ends the broker: nobody can say what reached the disk, and only a restart reads it.
 */
export class SingleVoter implements Consensus, Lifecycle {
  private readonly options: SingleVoterOptions
  private readonly world: VoterWorld
  private readonly metrics: VoterMetrics
  private readonly reserve: SpaceReserve
  /** Something was refused for want of space, and nothing was taken since. */
  private full = false
  /** Of the reserve, by the start. */
  private released = 0
  private phase: Phase = 'new'
  /** The start or the opening that is under way, for a stop to wait for. Never rejects. */
  private beginning: Promise<unknown> = Promise.resolve()
  private stopping: Promise<void> | undefined
  private store: VoterStore | undefined
  private stored: StoredLog | undefined
  private machine: ReplicatedMachine | undefined
  private term = 0
  /** Appended, though perhaps not written. */
  private last: LogPosition = emptyLog
  private applied: LogPosition = emptyLog
  private entriesSinceSnapshot = 0
  private bytesSinceSnapshot = 0
  private pending: PendingAppend[] = []
  private writing: Promise<void> | undefined
  /** Settles with the append made last. */
  private newest: Promise<unknown> = Promise.resolve()

  constructor(options: SingleVoterOptions, world: VoterWorld) {
    this.options = options
    this.world = world
    this.metrics = new VoterMetrics(world.metrics, () => this.status(), () => this.store?.snapshotIndex ?? 0, () => this.reserve.freeBytes)
    this.reserve = new SpaceReserve(world.files, { directory: options.path, bytes: world.engine.takesSpace ? options.reserveBytes : 0 })
  }

  /** Locks the directory and checks all that is in it. */
  start(): Promise<void> {
    const starting = this.load()
    this.beginning = starting.catch(() => {})
    return starting
  }

  /** A start or an opening that is under way ends first: the directory is free when this resolves. */
  stop(): Promise<void> {
    this.stopping ??= this.finish()
    return this.stopping
  }

  private async finish(): Promise<void> {
    this.phase = 'stopping'
    await this.beginning
    await this.writing
    await this.store?.close()
    this.store = undefined
    this.phase = 'stopped'
  }

  open(machine: ReplicatedMachine): Promise<void> {
    const opening = this.restore(machine)
    this.beginning = opening.catch(() => {})
    return opening
  }

  private async load(): Promise<void> {
    this.refuseStopped()
    // A store is opened by writing what it finds anew. The reserve is taken again when the term is on the disk.
    this.reserve.find()
    this.released = this.reserve.release()
    const { random } = this.world
    const { store, stored } = await VoterStore.open(this.world, { ...this.options, drawDirectoryId: () => randomUuid(() => Math.floor(random.fraction() * 0x1_0000_0000)) })
    this.store = store
    this.stored = stored
    this.refuseStopped()
    this.phase = 'started'
  }

  private async restore(machine: ReplicatedMachine): Promise<void> {
    this.refuseStopped()
    assert(this.phase === 'started' && this.machine === undefined, 'a voter is opened once, after its start')
    const stored = this.stored!
    this.stored = undefined
    this.machine = machine
    this.term = stored.term + 1
    // Durable before anything is done in the term, so that no later start takes it again.
    await this.store!.lead(this.term)
    this.reserve.restore(this.released)
    this.refuseStopped()
    machine.restore(stored.snapshot?.index ?? 0, stored.snapshot?.bytes)
    for (const entry of stored.entries) machine.apply(entry.index, entry.term, entry.command)
    this.last = this.applied = stored.last
    this.entriesSinceSnapshot = stored.entries.length
    this.bytesSinceSnapshot = stored.entryBytes
    this.phase = 'leading'
    this.world.log.info('metadata log opened', {
      path: this.options.path, term: this.term, snapshotIndex: stored.snapshot?.index ?? 0, lastIndex: stored.last.index,
    })
    machine.led(this.term)
  }

  append(commands: readonly Uint8Array[]): Promise<number> {
    assert(commands.length > 0, 'an append has a command')
    if (this.phase !== 'leading') return Promise.reject(this.refusal())
    const entries: LogEntry[] = []
    for (const command of commands) {
      const entry = nextEntry(this.last, this.term, command)
      entries.push(entry)
      this.last = entry
    }
    const done = deferred<number>()
    this.pending.push({ entries, sinceMs: this.world.clock.monotonicMs(), done })
    this.newest = done.promise
    this.writing ??= this.writeAll()
    return done.promise
  }

  checkSpace(): void {
    const { freeBytes, bytes } = this.reserve
    if (freeBytes < bytes) {
      const error = new MillraceError('MR_CLUSTER_NO_SPACE', { path: this.options.path, freeBytes, floorBytes: bytes })
      if (!this.full) this.world.log.error('nothing is added to the metadata until its disk has space', { error })
      this.full = true
      throw error
    }
    if (this.full) this.world.log.info('the disk of the metadata has space again', { path: this.options.path, freeBytes })
    this.full = false
  }

  async barrier(): Promise<void> {
    if (this.phase !== 'leading') throw this.refusal()
    await this.newest
  }

  status(): ConsensusStatus {
    const leading = this.phase === 'leading'
    return {
      nodeId: this.options.nodeId,
      leaderId: leading ? this.options.nodeId : undefined,
      term: this.term,
      lastIndex: this.last.index,
      commitIndex: this.applied.index,
      appliedIndex: this.applied.index,
      voters: [this.options.nodeId],
    }
  }

  /** Writes what is pending until nothing is. Never rejects. */
  private async writeAll(): Promise<void> {
    while (this.pending.length > 0) {
      const batch = this.takeBatch()
      try {
        const released = this.reserve.release()
        await this.store!.append(batch.flatMap((append) => append.entries))
        this.checkPresent()
        this.reserve.restore(released)
        for (const append of batch) this.apply(append)
        await this.snapshotIfDue()
      } catch (error) {
        this.fail(error, batch)
      }
    }
    this.writing = undefined
  }

  /** The system writes on into files that were removed. What went there is gone with the process. */
  private checkPresent(): void {
    const { engine, files } = this.world
    const path = `${this.options.path}/log`
    if (engine.takesSpace && files.stat(path)?.kind !== 'directory') throw new MillraceError('MR_FILE_NOT_FOUND', { operation: 'write to the metadata in', path })
  }

  private takeBatch(): PendingAppend[] {
    let entries = 0
    let bytes = 0
    let count = 0
    while (count < this.pending.length) {
      const append = this.pending[count]!
      entries += append.entries.length
      for (const entry of append.entries) bytes += entry.command.length
      if (count > 0 && (entries > writeEntriesMax || bytes > writeBytesMax)) break
      count++
    }
    return this.pending.splice(0, count)
  }

  private apply(append: PendingAppend): void {
    for (const entry of append.entries) {
      this.machine!.apply(entry.index, entry.term, entry.command)
      this.applied = entry
      this.entriesSinceSnapshot++
      this.bytesSinceSnapshot += entry.command.length
    }
    this.metrics.commitSeconds.observe((this.world.clock.monotonicMs() - append.sinceMs) / 1000)
    append.done.resolve(this.applied.index)
  }

  private async snapshotIfDue(): Promise<void> {
    if (this.entriesSinceSnapshot < this.options.snapshotEntries && this.bytesSinceSnapshot < this.options.snapshotBytes) return
    // A longer log does no harm; a snapshot is a copy of all before it frees anything.
    if (this.reserve.isLow) return
    const bytes = this.machine!.snapshot()
    await this.store!.saveSnapshot(this.applied, bytes)
    this.world.log.info('metadata snapshot written', { index: this.applied.index, bytes: bytes.length })
    this.entriesSinceSnapshot = 0
    this.bytesSinceSnapshot = 0
  }

  private fail(error: unknown, batch: readonly PendingAppend[]): void {
    const stopping = this.phase === 'stopping'
    if (!stopping) this.phase = 'failed'
    for (const append of [...batch, ...this.pending]) append.done.reject(error)
    this.pending = []
    if (!stopping) this.machine!.lost()
    this.world.fatal.fatal(error, 'coordination-single')
  }

  /** A stop that came before the start had finished ends it: what it has opened is closed by the stop. */
  private refuseStopped(): void {
    if (this.isStopped) throw this.refusal()
  }

  private get isStopped(): boolean {
    return this.phase === 'stopping' || this.phase === 'stopped'
  }

  private refusal(): MillraceError {
    if (this.isStopped) return new MillraceError('MR_CLUSTER_STOPPED')
    return new MillraceError('MR_CLUSTER_NOT_CONTROLLER', { nodeId: this.options.nodeId, leaderId: 'again later' })
  }
}
