import { MillraceError } from '../errors/index.ts'
import { type PartitionId } from '../model/ids.ts'
import { type ActiveProducer } from '../ports/partition-log.ts'
import {
  baseOffsetOf, baseSequenceOf, batchBytesOf, isControl, isTransactional, lastOffsetDeltaOf, lastSequenceOf, maxTimestampOf,
  producerEpochOf, producerIdOf, sequenceAfter,
} from '../record/batch-header.ts'
import { BatchReader } from '../record/batch-reader.ts'
import { controlAbort, controlCommit, controlTypeOf, coordinatorEpochOf } from '../record/control-record.ts'

/** So many batches of a producer are remembered: the most that a producer has in flight with idempotence. */
const batchesKept = 5

/** One batch of one producer, as a snapshot has it. `-1` stands for none in each field. */
export interface ProducerEntry {
  readonly producerId: number
  readonly epoch: number
  readonly lastSequence: number
  readonly lastOffset: number
  /** Last offset less first offset. */
  readonly offsetDelta: number
  readonly timestamp: number
  /** Of the last transaction marker. */
  readonly coordinatorEpoch: number
  /** First offset of the open transaction; with the newest batch alone. */
  readonly transactionStart: number
}

class Producer {
  epoch: number
  timestamp = -1
  seenMs: number
  coordinatorEpoch = -1
  transactionStart = -1
  /** How many of the three arrays' places are in use, and which is the newest. */
  count = 0
  newest = batchesKept - 1
  readonly lastSequences: number[] = [-1, -1, -1, -1, -1]
  readonly lastOffsets: number[] = [-1, -1, -1, -1, -1]
  readonly offsetDeltas: number[] = [0, 0, 0, 0, 0]

  constructor(epoch: number, seenMs: number) {
    this.epoch = epoch
    this.seenMs = seenMs
  }

  get lastSequence(): number {
    return this.count === 0 ? -1 : this.lastSequences[this.newest]!
  }

  add(lastSequence: number, lastOffset: number, offsetDelta: number): void {
    const place = this.newest === batchesKept - 1 ? 0 : this.newest + 1
    this.lastSequences[place] = lastSequence
    this.lastOffsets[place] = lastOffset
    this.offsetDeltas[place] = offsetDelta
    this.newest = place
    if (this.count < batchesKept) this.count++
  }
}

const controlReader = new BatchReader()

/** A control batch that compaction has emptied, or of another type than the two, ends no transaction. */
function applyControl(producer: Producer, bytes: Uint8Array, at: number): void {
  if (!controlReader.open(bytes, at).next()) return
  const type = controlTypeOf(controlReader.key())
  if (type !== controlAbort && type !== controlCommit) return
  producer.transactionStart = -1
  producer.coordinatorEpoch = coordinatorEpochOf(controlReader.value()) ?? producer.coordinatorEpoch
}

/**
 * The idempotent producers of one partition (KIP-98, KIP-360): for each its epoch and last five batches, from which follows whether a batch
 * is next, a repetition, out of order, or of a producer that was fenced. It follows from the records of the log alone, so that a
 * restart and a follower come to the same state; only forgetting goes by the time since a producer was last seen here.
 *
 * `check` before an append, `apply` after it: a failed append leaves no trace. Neither allocates for a producer that is known.
 */
export class ProducerState {
  /** Of the original, after `check` answered 'duplicate'. */
  duplicateBaseOffset = -1
  duplicateLastOffset = -1
  private readonly id: PartitionId
  private readonly producers = new Map<number, Producer>()
  private lastProducerId = -1
  private lastProducer: Producer | undefined
  private nowMs: number

  constructor(id: PartitionId, nowMs: number) {
    this.id = id
    this.nowMs = nowMs
  }

  /** Producers known. */
  get size(): number {
    return this.producers.size
  }

  /**
   * Whether a leader may append the batch at `bytes[at]`; changes nothing. A batch without a producer id always may. `duplicate`: it is
   * there already, see `duplicateBaseOffset`. Throws MR_PRODUCER_EPOCH_FENCED for an epoch below the known one, and
   * MR_PRODUCER_OUT_OF_ORDER for a gap, a repetition of a batch no longer remembered, and a new epoch that does not begin with
   * sequence 0. A producer that is not known may begin anywhere: its records may have been deleted. Of batches without a sequence,
   * markers of transactions and offsets committed in one, only the epoch is checked.
   */
  check(bytes: Uint8Array, at: number): 'append' | 'duplicate' {
    const producerId = producerIdOf(bytes, at)
    if (producerId < 0) return 'append'
    const producer = this.find(producerId)
    if (producer === undefined) return 'append'
    const epoch = producerEpochOf(bytes, at)
    if (epoch < producer.epoch) this.refuseEpoch(producerId, epoch, producer)
    if (isControl(bytes, at)) return 'append'
    const baseSequence = baseSequenceOf(bytes, at)
    if (baseSequence < 0) return 'append'
    if (epoch > producer.epoch) {
      if (baseSequence !== 0) this.refuseSequence(producerId, epoch, baseSequence, -1)
      return 'append'
    }
    const lastSequence = producer.lastSequence
    if (baseSequence === sequenceAfter(lastSequence, 1)) return 'append'
    if (this.findDuplicate(producer, baseSequence, lastSequenceOf(bytes, at))) return 'duplicate'
    return this.refuseSequence(producerId, epoch, baseSequence, lastSequence)
  }

  /** The batch at `bytes[at]` was appended, or is read again from the log: takes it into the state, unchecked. */
  apply(bytes: Uint8Array, at: number): void {
    const producerId = producerIdOf(bytes, at)
    if (producerId < 0) return
    const producer = this.findOrAdd(producerId, producerEpochOf(bytes, at))
    const baseOffset = baseOffsetOf(bytes, at)
    producer.timestamp = maxTimestampOf(bytes, at)
    if (isControl(bytes, at)) {
      applyControl(producer, bytes, at)
      return
    }
    const offsetDelta = lastOffsetDeltaOf(bytes, at)
    producer.add(lastSequenceOf(bytes, at), baseOffset + offsetDelta, offsetDelta)
    if (producer.transactionStart < 0 && isTransactional(bytes, at)) producer.transactionStart = baseOffset
  }

  /** `apply` for each of the whole batches in `bytes[at, end)`. */
  applyAll(bytes: Uint8Array, at: number, end: number): void {
    for (let position = at; position < end; position += batchBytesOf(bytes, position)) this.apply(bytes, position)
  }

  /** First offset of the oldest open transaction, or -1. */
  firstOpenTransaction(): number {
    let first = -1
    for (const producer of this.producers.values()) {
      if (producer.transactionStart >= 0 && (first < 0 || producer.transactionStart < first)) first = producer.transactionStart
    }
    return first
  }

  /** Last offset of the newest batch of each producer: what compaction has to leave, that a restart knows its sequence. */
  lastOffsets(): Map<number, number> {
    const offsets = new Map<number, number>()
    for (const [producerId, { count, newest, lastOffsets }] of this.producers) if (count > 0) offsets.set(producerId, lastOffsets[newest]!)
    return offsets
  }

  /** Those that are known, in the order of their first appearance. */
  *active(): Iterable<ActiveProducer> {
    for (const [producerId, { epoch, lastSequence, timestamp, coordinatorEpoch, transactionStart }] of this.producers) {
      yield { producerId, epoch, lastSequence, lastTimestamp: timestamp, coordinatorEpoch, transactionStart }
    }
  }

  /**
   * Moves time on, and forgets producers without an open transaction that were not seen for `expirationMs`: neither in an append here nor
   * by the timestamp of their last batch. The second alone, which is Kafka's rule, forgets a producer at once that sends old records.
   */
  expire(nowMs: number, expirationMs: number): void {
    this.nowMs = nowMs
    for (const [producerId, producer] of this.producers) {
      if (producer.transactionStart >= 0) continue
      if (nowMs - Math.max(producer.seenMs, producer.timestamp) <= expirationMs) continue
      this.producers.delete(producerId)
      if (producer === this.lastProducer) this.lastProducer = undefined
    }
  }

  clear(): void {
    this.producers.clear()
    this.lastProducer = undefined
  }

  /**
   * All that is known, producers in the order of first appearance, the batches of each from the oldest to the newest. Kafka writes the newest
   * alone, and takes the last of several: it finds what it would have written, and we find the older ones, so that a producer whose
   * requests were cut off by a restart may send all of them again.
   */
  entries(): ProducerEntry[] {
    const entries: ProducerEntry[] = []
    for (const [producerId, producer] of this.producers) {
      const { epoch, timestamp, coordinatorEpoch, transactionStart, newest, count } = producer
      for (let back = count - 1; back > 0; back--) {
        const place = (newest - back + batchesKept) % batchesKept
        entries.push({
          producerId, epoch, lastSequence: producer.lastSequences[place]!, lastOffset: producer.lastOffsets[place]!,
          offsetDelta: producer.offsetDeltas[place]!, timestamp, coordinatorEpoch, transactionStart: -1,
        })
      }
      const lastOffset = count === 0 ? -1 : producer.lastOffsets[newest]!
      const offsetDelta = count === 0 ? 0 : producer.offsetDeltas[newest]!
      entries.push({ producerId, epoch, lastSequence: producer.lastSequence, lastOffset, offsetDelta, timestamp, coordinatorEpoch, transactionStart })
    }
    return entries
  }

  /** Replaces everything. Of a snapshot that Kafka wrote the last batch of each producer alone is known then. */
  restore(entries: readonly ProducerEntry[]): void {
    this.clear()
    for (const entry of entries) {
      const before = this.producers.get(entry.producerId)
      const producer = before?.epoch === entry.epoch ? before : new Producer(entry.epoch, this.nowMs)
      if (entry.lastOffset >= 0) producer.add(entry.lastSequence, entry.lastOffset, entry.offsetDelta)
      producer.timestamp = entry.timestamp
      producer.coordinatorEpoch = entry.coordinatorEpoch
      producer.transactionStart = entry.transactionStart
      this.producers.set(entry.producerId, producer)
    }
  }

  private find(producerId: number): Producer | undefined {
    if (producerId === this.lastProducerId && this.lastProducer !== undefined) return this.lastProducer
    const producer = this.producers.get(producerId)
    if (producer !== undefined) {
      this.lastProducerId = producerId
      this.lastProducer = producer
    }
    return producer
  }

  private findOrAdd(producerId: number, epoch: number): Producer {
    let producer = this.find(producerId)
    if (producer === undefined) {
      producer = new Producer(epoch, this.nowMs)
      this.producers.set(producerId, producer)
      this.lastProducerId = producerId
      this.lastProducer = producer
    } else if (producer.epoch !== epoch) {
      producer.epoch = epoch
      producer.count = 0
    }
    producer.seenMs = this.nowMs
    return producer
  }

  private findDuplicate(producer: Producer, baseSequence: number, lastSequence: number): boolean {
    for (let back = 0; back < producer.count; back++) {
      const place = (producer.newest - back + batchesKept) % batchesKept
      if (producer.lastSequences[place] !== lastSequence) continue
      const offsetDelta = producer.offsetDeltas[place]!
      if (sequenceAfter(baseSequence, offsetDelta) !== lastSequence) continue
      this.duplicateLastOffset = producer.lastOffsets[place]!
      this.duplicateBaseOffset = this.duplicateLastOffset - offsetDelta
      return true
    }
    return false
  }

  private refuseEpoch(producerId: number, epoch: number, producer: Producer): never {
    const { topic, partition } = this.id
    throw new MillraceError('MR_PRODUCER_EPOCH_FENCED', { topic, partition, producerId, epoch, current: producer.epoch })
  }

  private refuseSequence(producerId: number, epoch: number, sequence: number, last: number): never {
    const { topic, partition } = this.id
    throw new MillraceError('MR_PRODUCER_OUT_OF_ORDER', { topic, partition, producerId, epoch, sequence, last })
  }
}
