import { putCrc, putInt16, putInt32, putInt64 } from '../../kernel/record/batch-header.ts'
import { type BatchBuilder } from '../../kernel/record/batch-builder.ts'
import { type CompressionCodec } from '../../kernel/record/compression-codec.ts'
import { type PartitionQueue, type QueuedBatch } from './partition-queue.ts'
import { type RecordMetadata } from './producer-record.ts'

/** Tells whoever sent a record how it went. To settle it with a rejected promise is to fail it. */
export type Settle = (outcome: RecordMetadata | Promise<never>) => void

export type PartitionBatches = PartitionQueue<ProducerBatch>

/** A flush under way: how many batches, and records without a batch, it still waits for. */
export interface FlushTicket {
  missing: number
  readonly done: () => void
}

/** Records for one partition that travel together. */
export class ProducerBatch implements QueuedBatch {
  readonly partition: PartitionBatches
  readonly builder: BatchBuilder
  /** When it was begun, on the monotonic clock. */
  readonly createdMs: number
  readonly deadlineMs: number
  /** Its place among the batches of the partition. */
  readonly order: number
  readonly settles: Settle[] = []
  readonly timestamps: number[] = []
  /** What is sent, once it is closed. */
  bytes: Uint8Array | undefined
  attempts = 0
  /** How often it was split, itself and what it came from. */
  halvings = 0
  /** Why it is sent again. */
  lastProblem: string | undefined
  producerId = -1
  producerEpoch = -1
  /** -1 until it is first sent by an idempotent producer. */
  baseSequence = -1
  /** An attempt may have been stored though it was not acknowledged. */
  maybeStored = false
  /** Flushes that wait until its records are settled. */
  flushes: FlushTicket[] | undefined

  constructor(partition: PartitionBatches, builder: BatchBuilder, order: number, createdMs: number, deadlineMs: number) {
    this.partition = partition
    this.builder = builder
    this.order = order
    this.createdMs = createdMs
    this.deadlineMs = deadlineMs
  }

  get recordsCount(): number {
    return this.settles.length
  }

  /** Bytes it takes of the producer's buffer: uncompressed. */
  get bufferedBytes(): number {
    return this.builder.sizeBytes
  }

  /**
   * Fixes the bytes, with producer and sequence as they are now; for a sealed batch, writes those anew. No record is added afterwards. May throw what
   * compression throws.
   */
  seal(codec: CompressionCodec, compressionLevel: number | undefined): void {
    const { bytes, producerId, producerEpoch, baseSequence } = this
    if (bytes === undefined) {
      const fields = { codec, compressionLevel, producerId, producerEpoch, baseSequence }
      this.bytes = codec === 0 ? this.builder.finishInPlace(fields) : this.builder.finish(fields)
      return
    }
    putInt64(bytes, 43, producerId)
    putInt16(bytes, 51, producerEpoch)
    putInt32(bytes, 53, baseSequence)
    putCrc(bytes, 0)
  }

  /** Forgets the sequence: it will be sent as if for the first time. */
  unassign(): void {
    this.producerId = -1
    this.producerEpoch = -1
    this.baseSequence = -1
  }

  succeed(baseOffset: number, appendTimeMs: number): void {
    const { settles, timestamps } = this
    const { topic, index: partition } = this.partition
    for (let index = 0; index < settles.length; index++) {
      settles[index]!({
        topic: topic.name, partition, offset: baseOffset < 0 ? -1 : baseOffset + index,
        timestamp: appendTimeMs >= 0 ? appendTimeMs : timestamps[index]!,
      })
    }
    this.tellSettled()
  }

  fail(error: Error): void {
    const rejected = Promise.reject<never>(error)
    // Each record's promise takes it over; this one is nobody's.
    rejected.catch(() => undefined)
    for (const settle of this.settles) settle(rejected)
    this.tellSettled()
  }

  private tellSettled(): void {
    for (const ticket of this.flushes ?? []) {
      if (--ticket.missing === 0) ticket.done()
    }
  }
}
