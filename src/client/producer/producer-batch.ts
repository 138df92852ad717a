import {
  attributesOf, maxTimestampOf, putBaseOffset, putCrc, putInt16, putInt32, putInt64, putLeaderEpoch, putMaxTimestamp,
} from '../../kernel/record/batch-header.ts'
import { type BatchBuilder } from '../../kernel/record/batch-builder.ts'
import { type CompressionCodec } from '../../kernel/record/compression-codec.ts'
import { BatchReceipt } from './batch-receipt.ts'
import { type PartitionQueue, type QueuedBatch } from './partition-queue.ts'

export type PartitionBatches = PartitionQueue<ProducerBatch>

export interface BatchStart {
  readonly partition: PartitionBatches
  readonly builder: BatchBuilder
  /** Its place among the batches of the partition. */
  readonly order: number
  /** When it was begun, on the monotonic clock. */
  readonly createdMs: number
  readonly deadlineMs: number
}

/** Records for one partition that travel together. */
export class ProducerBatch implements QueuedBatch {
  readonly partition: PartitionBatches
  readonly builder: BatchBuilder
  readonly order: number
  readonly createdMs: number
  readonly deadlineMs: number
  /** For the senders of its records; that of the whole, for a part of a batch that was split. */
  readonly receipt: BatchReceipt
  /** Which record of the receipt its first one is. */
  readonly receiptIndex: number
  /** How often it was split, itself and what it came from. */
  readonly halvings: number
  /** What is sent, once it is closed. */
  bytes: Uint8Array | undefined
  private sealedAttributes = 0
  private sealedMaxTimestamp = -1
  attempts = 0
  /** Why it is sent again. */
  lastProblem: string | undefined
  producerId = -1
  producerEpoch = -1
  baseSequence = -1
  maybeStored = false

  constructor(start: BatchStart, partOf?: { readonly receipt: BatchReceipt, readonly receiptIndex: number, readonly halvings: number }) {
    this.partition = start.partition
    this.builder = start.builder
    this.order = start.order
    this.createdMs = start.createdMs
    this.deadlineMs = start.deadlineMs
    this.receipt = partOf?.receipt ?? new BatchReceipt(start.partition.topic.name, start.partition.index)
    this.receiptIndex = partOf?.receiptIndex ?? 0
    this.halvings = partOf?.halvings ?? 0
  }

  get recordsCount(): number {
    return this.builder.recordsCount
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
      this.sealedAttributes = attributesOf(this.bytes, 0)
      this.sealedMaxTimestamp = maxTimestampOf(this.bytes, 0)
      return
    }
    // A broker in this process was given these very bytes, and has written its offset, epoch and time into them.
    putBaseOffset(bytes, 0, 0)
    putLeaderEpoch(bytes, 0, -1)
    putInt16(bytes, 21, this.sealedAttributes)
    putMaxTimestamp(bytes, 0, this.sealedMaxTimestamp)
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

  /** Its records are stored. `count` is given where the builder has been emptied already. */
  succeed(baseOffset: number, appendTimeMs: number, count: number): void {
    this.receipt.settle({ from: this.receiptIndex, count, baseOffset, appendTimeMs, error: undefined })
  }

  fail(error: Error, count: number): void {
    this.receipt.settle({ from: this.receiptIndex, count, baseOffset: -1, appendTimeMs: -1, error })
  }
}
