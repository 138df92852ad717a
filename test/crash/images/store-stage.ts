import { Prng } from '../../../src/base/prng.ts'
import { randomUuid } from '../../../src/base/uuid.ts'
import { type TopicSettings } from '../../../src/kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../../src/kernel/ports/partition-log.ts'
import { putBaseOffset, putLeaderEpoch } from '../../../src/kernel/record/batch-header.ts'
import { keyedBatch } from '../../../src/testkit/conformance/log-store-compaction.ts'
import { append, makeBatch } from '../../../src/testkit/conformance/log-store-subject.ts'
import { type KeepUnsynced } from '../../../src/testkit/index.ts'
import { topicSettings } from '../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem, type MemoryFileSystemOptions } from '../../../src/testkit/world/memory-file-system.ts'
import { makeStore, type TestStore } from '../../unit/plugins/storage-local/store-subjects.ts'
import { Ledger } from './log-promise.ts'

/** How the stores of a protocol are made: those that play it and those that recover. */
export interface StageOptions {
  readonly config?: Record<string, unknown>
  readonly disk?: Pick<MemoryFileSystemOptions, 'names' | 'garbage' | 'blockBytes' | 'capacityBytes'>
}

export const stageConfig = { residentBytes: 1 << 30, reserveBytes: 4096 }

export interface BatchOptions {
  readonly records?: number
  /** Of each value. */
  readonly bytes?: number
  readonly timestamp?: number
  /** Of an idempotent producer; its sequences follow each other. */
  readonly producerId?: number
  readonly newEpoch?: boolean
  /** Of a topic that is compacted: out of so many keys, and by chance a tombstone. */
  readonly keys?: number
}

/** A store on a simulated disk, and the account of what it promised. */
export class StoreStage {
  readonly prng: Prng
  readonly ledger = new Ledger()
  readonly timers = new ManualTimers()
  files: MemoryFileSystem
  private readonly options: StageOptions
  private life: TestStore | undefined
  private lives = 0
  private readonly sequences = new Map<string, number>()
  /** Topics with durability `fsync`. */
  private readonly synced = new Set<string>()
  private truncations = 0

  constructor(seed: number, options: StageOptions) {
    this.prng = new Prng(seed)
    this.options = options
    this.files = new MemoryFileSystem({ clock: this.timers.clock, ...options.disk })
  }

  get store() { return this.life!.store }

  async start(): Promise<void> {
    this.life = makeStore({ files: this.files, timers: this.timers, seed: ++this.lives, config: { ...stageConfig, ...this.options.config } })
    await this.life.store.start()
    for (const log of this.life.store.logs()) this.watch(log)
  }

  stop(): Promise<void> {
    return this.store.stop()
  }

  /** The power is cut, and comes back. What is promised stays. */
  cutPower(keepUnsynced: KeepUnsynced): void {
    // The process is dead: what its timers and promises still do says nothing.
    for (const log of this.store.logs()) {
      const { topicId, partition } = log.id
      log.watcher = undefined
      // What was not flushed may be lost: others take its place, and other producers go on.
      this.ledger.change(topicId, partition, { pending: [] })
    }
    this.truncations++
    this.files = this.files.afterCrash({ keepUnsynced })
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

  /** After a restart. */
  reopen(log: PartitionLog, settings: Partial<TopicSettings> = {}): PartitionLog {
    const found = this.store.find(log.id.topicId, log.id.partition)!
    found.configure(topicSettings(settings))
    this.configured(found, settings)
    this.noteFlushed(found)
    return found
  }

  put(log: PartitionLog, { records = 1, bytes = 8, timestamp = 1000 + this.prng.below(1000), producerId = -1, newEpoch = false, keys = 0 }: BatchOptions = {}): void {
    const { topicId, partition } = log.id
    const values = Array.from({ length: records }, () => ({ timestamp, value: String.fromCharCode(97 + this.prng.below(26)).repeat(bytes) + this.prng.below(1e6) }))
    // What a truncation took of a producer, its next batches must not follow: another one goes on.
    const producer = producerId < 0 ? -1 : producerId + 100 * this.truncations
    const key = `${topicId} ${partition} ${producer}`
    const baseSequence = this.sequences.get(key) ?? 0
    const fields = producer < 0 ? {} : { producerId: producer, producerEpoch: 0, baseSequence }
    const keyed = keys === 0 ? [] : values.map(({ timestamp: at, value }) => ({ timestamp: at, key: `key ${this.prng.below(keys)}`, value: this.prng.chance(0.2) ? null : value }))
    const sent = keys === 0 ? makeBatch(values, fields) : keyedBatch(keyed, fields)
    const { endOffset: baseOffset } = log
    const leaderEpoch = Math.max(0, log.lastEpoch + (newEpoch ? 1 : 0))
    const written = sent.slice()
    putBaseOffset(written, 0, baseOffset)
    putLeaderEpoch(written, 0, leaderEpoch)
    const endOffset = baseOffset + records
    // Before the call: an append that a crash interrupts may have been written all the same.
    this.ledger.appended(topicId, partition, baseOffset, { bytes: written, endOffset }, producer < 0 ? undefined : { producerId: producer, bytes: sent.slice(), baseOffset, endOffset })
    append(log, sent, leaderEpoch)
    if (producer >= 0) this.sequences.set(key, baseSequence + records)
    this.noteFlushed(log)
  }

  truncate(log: PartitionLog, wanted: number): void {
    const { topicId, partition } = log.id
    if (wanted >= log.endOffset) return
    // The batch that holds the offset goes wholly.
    let offset = wanted
    for (const [baseOffset, batches] of this.ledger.of(topicId, partition).appended) {
      if (baseOffset < wanted && batches.some(({ endOffset }) => endOffset > wanted)) offset = Math.min(offset, baseOffset)
    }
    // What compaction has taken before it does not come back: the log ends behind what is left.
    if (this.ledger.of(topicId, partition).compaction !== 'no' && wanted > log.startOffset) offset = this.store.find(topicId, partition)!.state.endBelow(wanted)
    this.ledger.truncating(topicId, partition, offset)
    log.truncateTo(wanted)
    this.ledger.change(topicId, partition, { endAtMost: log.endOffset, flushed: log.endOffset })
    this.truncations++
  }

  /** Records below an offset by chance, up to the high watermark. */
  deletePrefix(log: PartitionLog): void {
    const { topicId, partition } = log.id
    log.raiseHighWatermark(log.flushedOffset)
    const offset = this.prng.between(log.startOffset, log.highWatermark)
    this.ledger.change(topicId, partition, { startAtMost: Math.max(offset, this.ledger.of(topicId, partition).startAtMost) })
    log.deleteTo(offset)
    this.noteStart(log)
  }

  sweep(): void {
    for (const log of this.store.logs()) {
      log.raiseHighWatermark(log.flushedOffset)
      this.ledger.change(log.id.topicId, log.id.partition, { startAtMost: log.highWatermark })
    }
    this.store.sweep()
    for (const log of this.store.logs()) this.noteStart(log)
  }

  remove({ id: { topicId, partition } }: PartitionLog): void {
    this.ledger.change(topicId, partition, { state: 'going' })
    this.store.remove(topicId, partition)
    this.ledger.change(topicId, partition, { state: 'gone' })
  }

  setAside({ id: { topicId, partition } }: PartitionLog): void {
    this.ledger.change(topicId, partition, { state: 'going', keptAside: true })
    this.store.setAside(topicId, partition)
    this.ledger.change(topicId, partition, { state: 'gone' })
  }

  /** Begins a round over all logs that are due: what is flushed counts as replicated. */
  compact(): Promise<unknown> {
    for (const log of this.store.logs()) log.raiseHighWatermark(log.flushedOffset)
    return this.store.compact()
  }

  /** All of it reaches the disk, whatever the durability. */
  async flush(): Promise<void> {
    const ends = [...this.store.logs()].map(log => [log, log.endOffset] as const)
    await this.store.flush()
    for (const [log, end] of ends) this.ledger.flushed(log.id.topicId, log.id.partition, end)
  }

  advance(ms: number): void {
    this.timers.advance(ms)
  }

  /** Lets what is under way go on for some turns; a few, by chance, if it is not said how many. */
  async turns(count = this.prng.below(12)): Promise<void> {
    for (let turn = 0; turn < count; turn++) await Promise.resolve()
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
