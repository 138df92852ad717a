import { type ReadRequest } from '../../../kernel/ports/partition-log.ts'
import { type Replica, type WatermarkWaiter } from '../../../kernel/ports/replicator.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type FetchRequest } from '../../../wire/messages/01-fetch.ts'
import { PartitionRead, type PartitionReadEnd } from './partition-read.ts'

type Topic = FetchRequest['topics'][number]
type Asked = Topic['partitions'][number]

export const noBytes = new Uint8Array(0)
export const noDivergence = { epoch: -1, endOffset: -1 }

/** What a partition tells its fetch. */
export interface FetchProgress {
  /** `error` is undefined when the read went well. May be called within `readFrom`. */
  readEnded(partition: FetchPartition, error: unknown): void
  /** Its watermark moved; or will not any more, then `partition.waitFailure` says why. */
  woken(partition: FetchPartition): void
}

/** One partition of a Fetch: the end of its read, and its place in the queue for its watermark. */
export class FetchPartition implements PartitionReadEnd {
  readonly topic: Topic
  readonly asked: Asked
  replica: Replica | undefined = undefined
  errorCode: number = kafkaErrors.NONE
  /** Why its watermark will not move any more; undefined while it may. */
  waitFailure: unknown = undefined
  divergingEpoch = noDivergence
  /** The log's, until `letGo`. */
  bytes: Uint8Array = noBytes
  release: (() => void) | undefined = undefined
  private readonly progress: FetchProgress
  private underway: PartitionRead | undefined = undefined
  private waiter: PartitionWaiter | undefined = undefined
  /** The watermark at the time of the read. */
  highWatermarkSeen = 0

  constructor(progress: FetchProgress, topic: Topic, asked: Asked) {
    this.progress = progress
    this.topic = topic
    this.asked = asked
  }

  /** Back to before the first look. */
  reset(): void {
    this.letGo()
    this.replica = undefined
    this.errorCode = kafkaErrors.NONE
    this.divergingEpoch = noDivergence
  }

  /** The bytes are the log's again. */
  letGo(): void {
    const { release } = this
    this.release = undefined
    this.bytes = noBytes
    release?.()
  }

  /** False when the read ends later. */
  readFrom(request: ReadRequest): boolean {
    const read = new PartitionRead(this.replica!.log, request, this)
    const isOver = read.start()
    this.underway = isOver ? undefined : read
    return isOver
  }

  readEnd(bytes: Uint8Array, release: () => void): void {
    this.bytes = bytes
    this.release = release
    this.progress.readEnded(this, undefined)
  }

  readFailed(error: unknown): void {
    this.progress.readEnded(this, error)
  }

  cancelRead(): void {
    this.underway?.cancel()
    this.underway = undefined
    this.letGo()
  }

  /** Waits for the watermark to move on from where it was at the read. Only where a replica was found. */
  wait(): void {
    this.waiter ??= new PartitionWaiter(this, this.progress)
    this.waitPast(this.highWatermarkSeen)
  }

  /** The move was too small: waits for the next one. */
  waitOn(): void {
    this.waitPast(this.replica!.highWatermark)
  }

  private waitPast(highWatermark: number): void {
    this.waiter!.offset = highWatermark + 1
    this.replica!.wait(this.waiter!)
  }

  cancelWait(): void {
    if (this.waiter !== undefined) this.replica!.cancel(this.waiter)
  }

  /**
   * About how many bytes a read up to `endOffset` would give, by the mean size of the log's records: reading to find out would cost more than
   * it saves. An estimate too low is made good by the deadline, one too high by the next wait.
   */
  estimate(endOffset: number): number {
    const { log } = this.replica!
    const records = endOffset - this.asked.fetchOffset
    if (records <= 0) return 0
    const mean = log.sizeBytes / Math.max(1, log.endOffset - log.startOffset)
    return Math.min(Math.max(1, records * mean), this.asked.partitionMaxBytes)
  }
}

class PartitionWaiter implements WatermarkWaiter {
  offset = 0
  private readonly partition: FetchPartition
  private readonly progress: FetchProgress

  constructor(partition: FetchPartition, progress: FetchProgress) {
    this.partition = partition
    this.progress = progress
  }

  reached(): void {
    this.progress.woken(this.partition)
  }

  failed(error: unknown): void {
    this.partition.waitFailure = error
    this.progress.woken(this.partition)
  }
}
