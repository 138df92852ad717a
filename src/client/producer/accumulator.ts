import { assert } from '../../base/assert.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { BatchBuilder } from '../../kernel/record/batch-builder.ts'
import { type RecordHeader } from '../../kernel/record/log-record.ts'
import { kindOf } from '../arguments.ts'
import { TextBytes } from '../bytes-of.ts'
import { type ClientWorld } from '../client-world.ts'
import { partitionOfKey } from './partitioner.ts'
import { ProducerBatch, type PartitionBatches } from './producer-batch.ts'
import { type ProducerRecord } from './producer-record.ts'
import { type ProducerSettings } from './producer-settings.ts'
import { checkNames, headerList, invalid, notBytes, notTimestamp } from './record-check.ts'
import { type TopicQueue } from './topic-queue.ts'

const noHeaders: readonly RecordHeader[] = []
/** Builders kept for the next batch; their buffers have grown to the size of one. */
const sparesMax = 64
/** The wall clock is asked once for so many records of one turn: a question costs as much as a fifth of a record. */
const recordsPerLook = 64
const firstBytes = 4096

/** Puts records into batches, in the order of the calls. Knows nothing of brokers. */
export class Accumulator {
  private readonly world: ClientWorld
  private readonly settings: ProducerSettings
  private readonly keyText = new TextBytes()
  private readonly valueText = new TextBytes()
  private readonly spares: BatchBuilder[] = []
  private wallMs = 0
  private looksLeft = 0
  /** Partitions with a batch that is not settled. */
  readonly active = new Set<PartitionBatches>()
  /** All batches that are not settled, oldest first. */
  readonly unsettled = new Set<ProducerBatch>()
  bufferedBytes = 0

  constructor(world: ClientWorld, settings: ProducerSettings) {
    this.world = world
    this.settings = settings
  }

  get hasRoom(): boolean {
    return this.bufferedBytes < this.settings.bufferBytesMax
  }

  /** A turn has ended: the clock is asked again. */
  forgetTime(): void {
    this.looksLeft = 0
  }

  /**
   * Adds a record of a known topic and gives its batch. Throws MR_CLIENT_RECORD_INVALID, MR_CLIENT_RECORD_TOO_LARGE and
   * MR_CLIENT_PARTITION_UNKNOWN; then nothing was added.
   */
  append(topic: TopicQueue, record: ProducerRecord): ProducerBatch {
    checkNames(record)
    const { key: givenKey, value: givenValue } = record
    const key = typeof givenKey === 'string' ? this.keyText.of(givenKey) : givenKey ?? null
    const value = typeof givenValue === 'string' ? this.valueText.of(givenValue) : givenValue
    if ((key !== null && !(key instanceof Uint8Array)) || (value !== null && !(value instanceof Uint8Array))) {
      throw notBytes(topic.name, record)
    }
    const headers = record.headers === undefined ? noHeaders : headerList(topic.name, record.headers)
    const timestamp = record.timestamp ?? this.now()
    if (!Number.isSafeInteger(timestamp) || timestamp < 0) throw notTimestamp(topic.name, timestamp)
    const recordBytes = (key?.length ?? 0) + (value?.length ?? 0)
    const partition = this.choose(topic, record, key, recordBytes)
    let batch = partition.open
    if (batch !== undefined && batch.builder.sizeWith(key, value, headers) > this.settings.batchBytesMax) {
      partition.close()
      batch = undefined
    }
    batch ??= this.begin(partition, key, value, headers)
    const { builder } = batch
    const before = builder.sizeBytes
    builder.append(timestamp, key, value, headers)
    batch.receipt.add(timestamp)
    this.bufferedBytes += builder.sizeBytes - before
    if (builder.sizeBytes >= this.settings.batchBytesMax) partition.close()
    return batch
  }

  /** Lets go of a settled batch. Its memory is used again if nobody can still be reading it. */
  release(batch: ProducerBatch, reusable: boolean): void {
    if (!this.unsettled.delete(batch)) return
    this.bufferedBytes -= batch.bufferedBytes
    if (batch.partition.isIdle) this.active.delete(batch.partition)
    if (!reusable || this.spares.length >= sparesMax) return
    batch.builder.reset()
    this.spares.push(batch.builder)
  }

  /** Takes a batch into the books that was not made by `append`: half of one that was too large. */
  adopt(batch: ProducerBatch): void {
    this.unsettled.add(batch)
    this.bufferedBytes += batch.bufferedBytes
    this.active.add(batch.partition)
  }

  private begin(
    partition: PartitionBatches, key: Uint8Array | null, value: Uint8Array | null, headers: readonly RecordHeader[],
  ): ProducerBatch {
    const builder = this.spares.pop() ?? new BatchBuilder(this.world.compression, firstBytes)
    const size = builder.sizeWith(key, value, headers)
    if (size > this.settings.requestBytesMax) {
      this.spares.push(builder)
      throw new MillraceError('MR_CLIENT_RECORD_TOO_LARGE', { topic: partition.topic.name, size, limit: this.settings.requestBytesMax })
    }
    const nowMs = this.world.clock.monotonicMs()
    const batch = new ProducerBatch({
      partition, builder, order: partition.nextOrder++, createdMs: nowMs, deadlineMs: nowMs + this.settings.deliveryTimeoutMs,
    })
    partition.open = batch
    this.unsettled.add(batch)
    this.active.add(partition)
    this.bufferedBytes += builder.sizeBytes
    return batch
  }

  private choose(topic: TopicQueue, record: ProducerRecord, key: Uint8Array | null, recordBytes: number): PartitionBatches {
    assert(topic.info !== undefined, 'records are put into batches when their topic is known')
    const count = topic.info.partitions.length
    const index = record.partition ?? this.settings.partitioner?.(record, count) ?? (key === null ? -1 : partitionOfKey(key, count))
    if (index === -1 && record.partition === undefined) {
      return topic.stickyPartition(partition => {
        const { open } = partition
        return open === undefined || open.builder.sizeBytes + recordBytes > this.settings.batchBytesMax
      }, () => this.world.random.fraction())
    }
    if (typeof index !== 'number') throw invalid(topic.name, `partition is ${kindOf(index)}; it is a whole number`)
    if (!Number.isInteger(index) || index < 0 || index >= count) {
      throw new MillraceError('MR_CLIENT_PARTITION_UNKNOWN', { topic: topic.name, partition: index, count })
    }
    return topic.partitions[index]!
  }

  private now(): number {
    if (this.looksLeft-- > 0) return this.wallMs
    this.looksLeft = recordsPerLook - 1
    this.wallMs = this.world.clock.wallMs()
    return this.wallMs
  }
}
