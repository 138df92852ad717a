import { sequenceAfter } from '../../kernel/record/batch-header.ts'
import { type TopicInfo } from '../cluster/topic-info.ts'

/** What a queue has to know of a batch. */
export interface QueuedBatch {
  /** Its place among the batches of the partition. */
  readonly order: number
  readonly recordsCount: number
  attempts: number
  /** An attempt may have been stored though it was not acknowledged. */
  maybeStored: boolean
  producerId: number
  producerEpoch: number
  /** -1 until it is first sent by an idempotent producer. */
  baseSequence: number
  unassign(): void
}

/** The topic of a partition: undefined `info` when it is not known, or has gone. */
export interface TopicRef {
  readonly name: string
  readonly info: TopicInfo | undefined
}

/**
 * The batches of one partition: one that is filling, those that wait, those under way; and what the broker is told about their order.
 *
 * Idempotence, as brokers check it: within one (producer id, epoch) the first sequence of a batch must follow the last one stored. So a sequence, once given to
 * a batch, is kept through all retries. When a batch is given up, what comes behind it could never be stored: the partition then finishes what may
 * have been stored already under the old epoch, and goes on under the next one from sequence 0 (KIP-360).
 */
export class PartitionQueue<B extends QueuedBatch> {
  readonly topic: TopicRef
  readonly index: number
  /** The batch that takes records. */
  open: B | undefined
  /** Closed batches, oldest first: new ones, and those to be sent again. */
  readonly waiting: B[] = []
  readonly inFlight: B[] = []
  /** No batch is sent before this time. */
  retryAtMs = 0
  nextOrder = 0

  producerId = -1
  producerEpoch = -1
  /** Of the next batch that is sent for the first time. */
  private nextSequence = 0
  /** Of the next batch that is acknowledged, if none is lost. */
  private expectedSequence = 0
  /** A sequence was given up: nothing new goes out under this epoch. */
  needsEpoch = false

  constructor(topic: TopicRef, index: number) {
    this.topic = topic
    this.index = index
  }

  get isIdle(): boolean {
    return this.open === undefined && this.waiting.length === 0 && this.inFlight.length === 0
  }

  /** Moves the filling batch behind the waiting ones. */
  close(): void {
    if (this.open === undefined) return
    this.waiting.push(this.open)
    this.open = undefined
  }

  /** Puts a batch back where it was among the waiting ones. */
  putBack(batch: B): void {
    let at = 0
    while (at < this.waiting.length && this.waiting[at]!.order < batch.order) at++
    this.waiting.splice(at, 0, batch)
  }

  /**
   * The batch that may be sent now, the filling one included; undefined when none may. A batch that was sent before waits until nothing is under way:
   * what was sent with it comes back too, and is only stored after it.
   */
  next(inFlightMax: number): B | undefined {
    if (this.inFlight.length >= inFlightMax) return undefined
    if (this.needsEpoch) return this.inFlight.length > 0 ? undefined : this.waiting.find(batch => batch.maybeStored)
    const first = this.waiting[0] ?? this.open
    return first === undefined || (first.attempts > 0 && this.inFlight.length > 0) ? undefined : first
  }

  /** Gives a batch its place in the sequence, unless it has one. */
  assign(batch: B): void {
    if (batch.baseSequence >= 0) return
    batch.producerId = this.producerId
    batch.producerEpoch = this.producerEpoch
    batch.baseSequence = this.nextSequence
    this.nextSequence = sequenceAfter(this.nextSequence, batch.recordsCount)
  }

  acknowledged(batch: B): void {
    if (batch.baseSequence >= 0 && batch.producerEpoch === this.producerEpoch) {
      this.expectedSequence = sequenceAfter(batch.baseSequence, batch.recordsCount)
    }
  }

  /** Whether everything before this batch was acknowledged, so that an answer "out of order" is not about a batch before it. */
  isExpected(batch: B): boolean {
    return batch.baseSequence === this.expectedSequence
  }

  /** Whether the partition is ready to go on under another epoch: nothing is left that may have been stored under this one. */
  get mayBegin(): boolean {
    return this.inFlight.length === 0 && !this.waiting.some(batch => batch.maybeStored)
  }

  /** Goes on as this producer, from sequence 0. Waiting batches are numbered anew when they are sent. */
  begin(producerId: number, producerEpoch: number): void {
    this.producerId = producerId
    this.producerEpoch = producerEpoch
    this.nextSequence = 0
    this.expectedSequence = 0
    this.needsEpoch = false
    for (const batch of this.waiting) batch.unassign()
  }
}
