import { randomUuid } from '../../base/uuid.ts'
import { partitionName } from '../../kernel/log/checkpoint-text.ts'
import { type PartitionId, type Uuid } from '../../kernel/model/ids.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type Clock, type Random, type Timers } from '../../kernel/ports/clock.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { type CompactionReport, type LogCompaction } from '../../kernel/ports/log-compaction.ts'
import { type DirectoryStatus, type LogStore, type SweepReport } from '../../kernel/ports/log-store.ts'
import { MemoryCompaction } from './memory-compaction.ts'
import { MemoryLog, type MemoryLogWorld } from './memory-log.ts'

/** All partition logs of a broker in its memory: nothing survives a stop. */
export class MemoryLogStore implements LogStore, LogCompaction, Lifecycle {
  private readonly byName = new Map<string, MemoryLog>()
  private readonly world: MemoryLogWorld
  private readonly directoryId: Uuid
  private readonly compaction: MemoryCompaction

  constructor(clock: Clock, timers: Timers, random: Random, compression: Compression, settings: BrokerSettings) {
    this.world = { clock, random, compression, producerExpirationMs: settings.integer('producer.id.expiration.ms') }
    this.compaction = new MemoryCompaction({ clock, timers, random, logs: () => this.byName.values() }, settings)
    this.directoryId = randomUuid(() => Math.floor(random.fraction() * 0x1_0000_0000))
  }

  start(): Promise<void> {
    this.compaction.start()
    return Promise.resolve()
  }

  async stop(): Promise<void> {
    for (const log of this.byName.values()) log.close()
    await this.compaction.stop()
    this.byName.clear()
  }

  logs(): Iterable<MemoryLog> {
    return this.byName.values()
  }

  find(topicId: Uuid, partition: number): MemoryLog | undefined {
    return this.byName.get(key(topicId, partition))
  }

  create(id: PartitionId, settings: TopicSettings): MemoryLog {
    const name = key(id.topicId, id.partition)
    let log = this.byName.get(name)
    if (log === undefined) {
      log = new MemoryLog(id, settings, this.world)
      this.byName.set(name, log)
    }
    return log
  }

  remove(topicId: Uuid, partition: number): void {
    this.find(topicId, partition)?.close()
    this.byName.delete(key(topicId, partition))
  }

  /** Nobody could look at it in memory, and nothing is left after a stop: the same as `remove`. */
  setAside(topicId: Uuid, partition: number): void {
    this.remove(topicId, partition)
  }

  sweep(): SweepReport {
    const nowMs = this.world.clock.wallMs()
    let [segmentsDeleted, bytesDeleted, segmentsRolled] = [0, 0, 0]
    for (const log of this.byName.values()) {
      const report = log.sweep(nowMs)
      segmentsDeleted += report.segmentsDeleted
      bytesDeleted += report.bytesDeleted
      segmentsRolled += report.segmentsRolled
    }
    return { segmentsDeleted, bytesDeleted, segmentsRolled, left: 0 }
  }

  compact(): Promise<CompactionReport> {
    return this.compaction.compact()
  }

  flush(): Promise<void> {
    return Promise.resolve()
  }

  directories(): readonly DirectoryStatus[] {
    let usedBytes = 0
    for (const log of this.byName.values()) usedBytes += log.sizeBytes
    return [{ path: '', id: this.directoryId, offline: undefined, partitions: this.byName.size, usedBytes, logs: () => this.byName.values() }]
  }
}

const key = (topicId: Uuid, partition: number): string => partitionName({ topic: topicId, partition })
