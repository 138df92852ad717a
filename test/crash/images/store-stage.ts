import { Prng } from '../../../src/base/prng.ts'
import { randomUuid } from '../../../src/base/uuid.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { type TopicSettings } from '../../../src/kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../../src/kernel/ports/partition-log.ts'
import { putBaseOffset, putLeaderEpoch } from '../../../src/kernel/record/batch-header.ts'
import { keyedBatch } from '../../../src/testkit/conformance/log-store-compaction.ts'
import { append, makeBatch } from '../../../src/testkit/conformance/log-store-subject.ts'
import { SeededRandom, type FileFault, type KeepUnsynced } from '../../../src/testkit/index.ts'
import { topicSettings } from '../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem, type MemoryFileSystemOptions } from '../../../src/testkit/world/memory-file-system.ts'
import { makeStore, type TestStore } from '../../unit/plugins/storage-local/store-subjects.ts'
import { Ledger } from './log-promise.ts'
import { SentBatches } from './sent-batches.ts'
import { SlowDisk } from './slow-disk.ts'

/** How the stores of a protocol are made: those that play it and those that recover. */
export interface StageOptions {
  readonly config?: Record<string, unknown>
  readonly disk?: Pick<MemoryFileSystemOptions, 'names' | 'garbage' | 'blockBytes' | 'capacityBytes'>
  /** Data directories. Default 1. */
  readonly directories?: number
  /** What waits for the disk ends by chance, and not before the next steps. */
  readonly isSlow?: boolean
  /** Calls may fail: what is refused with an error of the disk is no fault. */
  readonly isTroubled?: boolean
}

/** Their paths, all on the one simulated disk. */
export const directoriesOf = ({ directories = 1 }: StageOptions): string[] => Array.from({ length: directories }, (_, index) => index === 0 ? '/data' : `/data${index + 1}`)

export const stageConfig = { residentBytes: 1 << 30, reserveBytes: 4096 }

export interface BatchOptions {
  readonly records?: number
  /** Of each value. */
  readonly bytes?: number
  readonly timestamp?: number
  /** Of an idempotent producer; its sequences follow each other. */
  readonly producerId?: number
  readonly newEpoch?: boolean
  /** Out of so many keys, and by chance a tombstone. Default: 5 where the topic is compacted, else records without keys. */
  readonly keys?: number
}

const turnsMax = 100_000

/** Does something to a disk before anything is on it, and to what a power cut leaves of it. */
export type SpoilDisk = (files: MemoryFileSystem) => void

/** A store on a simulated disk, and the account of what it promised. */
export class StoreStage {
  readonly prng: Prng
  readonly ledger = new Ledger()
  timers = new ManualTimers()
  files: MemoryFileSystem
  private readonly options: StageOptions
  private life: TestStore | undefined
  private lives = 0
  private readonly sent = new SentBatches()
  /** Topics with durability `fsync`. */
  private readonly synced = new Set<string>()
  private readonly slow: SlowDisk | undefined
  private readonly spoil: SpoilDisk
  /** What a disk that fails has refused. */
  refused = 0
  private momentsAreTaken = false

  constructor(seed: number, options: StageOptions, spoil: SpoilDisk = () => {}) {
    this.prng = new Prng(seed)
    this.options = options
    this.slow = options.isSlow === true ? new SlowDisk() : undefined
    this.spoil = spoil
    this.files = new MemoryFileSystem({ clock: this.timers.clock, ...(this.slow === undefined ? {} : { timers: this.slow }), ...options.disk })
    spoil(this.files)
  }

  get store() { return this.life!.store }

  async start(): Promise<void> {
    this.life = makeStore({ files: this.files, timers: this.timers, seed: ++this.lives, directories: directoriesOf(this.options), config: { ...stageConfig, ...this.options.config } })
    await this.settle(this.life.store.start())
    for (const log of this.life.store.logs()) this.found(log)
  }

  async stop(): Promise<void> {
    await this.settle(this.store.stop())
  }

  /** From here on, and until the end, the moments of this disk are taken, and of no other one. */
  beginMoments(): void {
    this.momentsAreTaken = true
  }

  /** From here on no call fails that has not yet, and what waits for the disk does not wait for long: the images of the moments are found by processes of their own. */
  end(): void {
    this.momentsAreTaken = false
    this.files.faults.clear()
    this.slow?.goOn()
  }

  /** The power is cut, and comes back. What is promised stays. */
  cutPower(keepUnsynced: KeepUnsynced): void {
    if (this.momentsAreTaken) throw new Error('what is done to the disk that a power cut or a kill leaves would not be crashed: moments are taken of the one before; do this in `prepare`')
    // The process is dead: what its timers and promises still do says nothing.
    for (const log of this.store.logs()) {
      if (log.state.failure === undefined) log.watcher = undefined
    }
    this.slow?.forget()
    this.timers = new ManualTimers(this.timers.clock)
    this.files = this.files.afterCrash({ keepUnsynced })
    this.spoil(this.files)
  }

  /** The process ends in one of the ways in which one may, and another one begins. Logs are to be opened again. While moments are taken none but an orderly stop. */
  async restart(how: 'stop' | 'kill' | 'power cut'): Promise<void> {
    if (how === 'stop') await this.stop()
    else this.cutPower(how === 'kill' ? 'all' : new SeededRandom(this.prng.uint32()))
    await this.start()
  }

  /** Until the function that this returns is called. */
  fail(fault: FileFault): () => void {
    return this.files.faults.add(fault)
  }

  create(topic: string, settings: Partial<TopicSettings> = {}, partition = 0): PartitionLog {
    const topicId = randomUuid(() => this.prng.uint32())
    this.ledger.begin(topic, topicId, partition)
    const log = this.store.create({ topic, topicId, partition }, topicSettings(settings))
    this.ledger.change(topicId, partition, { state: 'there' })
    this.configured(log, settings)
    this.watch(log)
    return log
  }

  /** Undefined where a disk that fails has refused it. */
  tryCreate(topic: string, settings: Partial<TopicSettings> = {}): PartitionLog | undefined {
    let made: PartitionLog | undefined
    this.attempt(() => { made = this.create(topic, settings) })
    return made
  }

  /** After a restart. */
  reopen(log: PartitionLog, settings: Partial<TopicSettings> = {}): PartitionLog {
    const found = this.store.find(log.id.topicId, log.id.partition)!
    found.configure(topicSettings(settings))
    this.configured(found, settings)
    this.noteFlushed(found)
    return found
  }

  put(log: PartitionLog, { records = 1, bytes = 8, timestamp = 1000 + this.prng.below(1000), producerId = -1, newEpoch = false, keys = this.isCompacted(log) ? 5 : 0 }: BatchOptions = {}): void {
    const { topicId, partition } = log.id
    const values = Array.from({ length: records }, () => ({ timestamp, value: String.fromCharCode(97 + this.prng.below(26)).repeat(bytes) + this.prng.below(1e6) }))
    const baseSequence = producerId < 0 ? 0 : this.sent.next(log, producerId)
    const fields = producerId < 0 ? {} : { producerId, producerEpoch: 0, baseSequence }
    const keyed = keys === 0 ? [] : values.map(({ timestamp: at, value }) => ({ timestamp: at, key: `key ${this.prng.below(keys)}`, value: this.prng.chance(0.2) ? null : value }))
    const sent = keys === 0 ? makeBatch(values, fields) : keyedBatch(keyed, fields)
    const { endOffset: baseOffset } = log
    const leaderEpoch = Math.max(0, log.lastEpoch + (newEpoch ? 1 : 0))
    const written = sent.slice()
    putBaseOffset(written, 0, baseOffset)
    putLeaderEpoch(written, 0, leaderEpoch)
    const endOffset = baseOffset + records
    const produced = producerId < 0 ? undefined : { producerId, bytes: sent.slice(), baseOffset, endOffset }
    // Before the call: an append that a crash interrupts may have been written all the same.
    this.ledger.appended(topicId, partition, baseOffset, { bytes: written, endOffset }, produced)
    if (!this.attempt(() => append(log, sent, leaderEpoch))) return this.ledger.refused(topicId, partition, produced)
    if (producerId >= 0) this.sent.add(log, producerId, { baseOffset, endOffset, nextSequence: baseSequence + records })
    this.noteFlushed(log)
  }

  truncate(log: PartitionLog, wanted: number): void {
    const { topicId, partition } = log.id
    if (wanted >= log.endOffset) return
    const before = this.ledger.of(topicId, partition)
    // The batch that holds the offset goes wholly.
    let offset = wanted
    for (const [baseOffset, batches] of before.appended) {
      if (baseOffset < wanted && batches.some(({ endOffset }) => endOffset > wanted)) offset = Math.min(offset, baseOffset)
    }
    // What compaction has taken before it does not come back: the log ends behind what is left.
    if (before.compaction !== 'no' && wanted > log.startOffset) offset = this.store.find(topicId, partition)!.state.cutPoint(wanted).endOffset
    this.ledger.truncating(topicId, partition, offset)
    // Nothing is left that says what producers had sent below.
    if (offset < this.store.find(topicId, partition)!.state.segments[0]!.baseOffset) this.ledger.change(topicId, partition, { produced: new Map(), pending: [] })
    if (!this.attempt(() => { log.truncateTo(wanted) })) {
      // What a full disk refuses has changed nothing; how far one has come that the disk's failure ended is known to the next start.
      if (this.store.find(topicId, partition)?.state.failure === undefined) this.ledger.change(topicId, partition, before)
      return
    }
    this.ledger.change(topicId, partition, { endAtMost: log.endOffset, flushed: log.endOffset, start: log.startOffset, startAtMost: log.startOffset })
    this.sent.endsAt(log, log.endOffset)
  }

  /** Records below an offset by chance, up to the high watermark. */
  deletePrefix(log: PartitionLog): void {
    const { topicId, partition } = log.id
    this.raise(log)
    const offset = this.prng.between(log.startOffset, Math.max(log.startOffset, log.highWatermark))
    this.ledger.change(topicId, partition, { startAtMost: Math.max(offset, this.ledger.of(topicId, partition).startAtMost) })
    if (this.attempt(() => { log.deleteTo(offset) })) this.noteStart(log)
  }

  sweep(): void {
    for (const log of this.store.logs()) {
      this.raise(log)
      this.ledger.change(log.id.topicId, log.id.partition, { startAtMost: log.highWatermark })
    }
    this.store.sweep()
    // A disk that fails may have kept the start of a log from being made durable; nobody is told that it was.
    if (this.options.isTroubled !== true) for (const log of this.store.logs()) this.noteStart(log)
  }

  /** One step of a round of retention. Gives whether some are left: anything may be done before the next one. */
  sweepStep(): boolean {
    const { clock } = this.timers
    const monotonicMs = clock.monotonicMs.bind(clock)
    // Whoever looks finds that time has passed, so that a slice is one step.
    Object.assign(clock, { monotonicMs: () => {
      clock.advance(4)
      return monotonicMs()
    } })
    for (const log of this.store.logs()) {
      this.raise(log)
      this.ledger.change(log.id.topicId, log.id.partition, { startAtMost: log.highWatermark })
    }
    const { left } = this.store.sweep()
    Reflect.deleteProperty(clock, 'monotonicMs')
    // What a log says of its start is durable, between two steps too.
    if (this.options.isTroubled !== true) for (const log of this.store.logs()) this.noteStart(log)
    return left > 0
  }

  remove({ id: { topicId, partition } }: PartitionLog): void {
    // A full disk may have no room for the mark that the log is gone; what the redo log has of it is put aside by the next start then, as decided: no topic is kept from being deleted.
    this.ledger.change(topicId, partition, { state: 'going', keptAside: this.options.isTroubled === true })
    if (this.attempt(() => { this.store.remove(topicId, partition) })) this.ledger.change(topicId, partition, { state: 'gone' })
  }

  setAside({ id: { topicId, partition } }: PartitionLog): void {
    this.ledger.change(topicId, partition, { state: 'going', keptAside: true })
    if (this.attempt(() => { this.store.setAside(topicId, partition) })) this.ledger.change(topicId, partition, { state: 'gone' })
  }

  /** Begins a round over all logs that are due: what is flushed counts as replicated. */
  compact(): Promise<unknown> {
    for (const log of this.store.logs()) this.raise(log)
    return this.settle(this.store.compact())
  }

  /** All of it reaches the disk, whatever the durability. */
  async flush(): Promise<void> {
    const ends = [...this.store.logs()].map(log => [log, log.endOffset] as const)
    const isFlushed = await this.settle(this.store.flush()).then(() => true, this.refusal)
    if (isFlushed) for (const [log, end] of ends) this.ledger.flushed(log.id.topicId, log.id.partition, end)
  }

  advance(ms: number): void {
    this.timers.advance(ms)
  }

  /** Lets what is under way go on for some turns; a few, by chance, if it is not said how many. */
  async turns(count = this.prng.below(12)): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      if (this.slow !== undefined && this.prng.chance(0.3)) this.slow.endOne(this.prng)
      await Promise.resolve()
    }
  }

  /** Lets everything go on until this has come to its end. */
  private async settle<T>(promise: Promise<T>): Promise<T> {
    let isUnderWay = true
    const ended = (): void => { isUnderWay = false }
    promise.then(ended, ended)
    for (let turn = 0; this.slow !== undefined && isUnderWay; turn++) {
      if (turn === turnsMax) throw new Error('what was asked for does not end, though the disk answers')
      await this.turns(1)
    }
    return promise
  }

  /** Whether it was done: a disk that fails may refuse it. */
  private attempt(run: () => void): boolean {
    try {
      run()
      return true
    } catch (error) {
      return this.refusal(error)
    }
  }

  private readonly refusal = (error: unknown): false => {
    if (this.options.isTroubled !== true || !isMillraceError(error) || !/^MR_(FILE|LOG)_/.test(error.code) || error.row.kind !== 'operational') throw error
    this.refused++
    return false
  }

  private isCompacted({ id: { topicId, partition } }: PartitionLog): boolean {
    return this.ledger.of(topicId, partition).compaction !== 'no'
  }

  private raise(log: PartitionLog): void {
    this.attempt(() => { log.raiseHighWatermark(log.flushedOffset) })
  }

  /** After a start: what was not flushed may be lost, and others take its place. */
  private found(log: PartitionLog): void {
    const { topicId, partition } = log.id
    this.ledger.foundUpTo(topicId, partition, log.endOffset)
    this.sent.endsAt(log, log.endOffset)
    this.watch(log)
  }

  private configured({ id: { topicId, partition } }: PartitionLog, { durability = 'fsync', compact = false }: Partial<TopicSettings>): void {
    const { compaction } = this.ledger.of(topicId, partition)
    if (compact && compaction === 'no') this.ledger.change(topicId, partition, { compaction: 'keeps the last' })
    if (durability === 'fsync') this.synced.add(topicId)
    else this.synced.delete(topicId)
  }

  private watch(log: PartitionLog): void {
    log.watcher = { flushed: () => this.noteFlushed(log), failed: () => {} }
  }

  /** With durability `os` a flushed offset promises nothing for a power cut. */
  private noteFlushed(log: PartitionLog): void {
    const { topicId, partition } = log.id
    if (this.synced.has(topicId) && this.ledger.of(topicId, partition).flushed !== log.flushedOffset) this.ledger.flushed(topicId, partition, log.flushedOffset)
  }

  private noteStart(log: PartitionLog): void {
    this.ledger.change(log.id.topicId, log.id.partition, { start: log.startOffset, startAtMost: log.startOffset })
  }
}
