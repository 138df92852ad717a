import { BoundedQueue } from '../../base/bounded-queue.ts'
import { type TopicInfo } from '../cluster/topic-info.ts'
import { PartitionQueue } from './partition-queue.ts'
import { type FlushTicket } from './batch-receipt.ts'
import { type PartitionBatches } from './producer-batch.ts'
import { type ProducerRecord, type RecordMetadata } from './producer-record.ts'

/** A record that found no room, or whose topic is not known yet. */
export interface WaitingRecord {
  readonly record: ProducerRecord
  /** Settles the promise that its sender has; with a rejected one to fail it. */
  readonly settle: (outcome: Promise<RecordMetadata>) => void
  readonly sinceMs: number
  /** Flushes that wait for it: its batch has to take them over. */
  flushes: FlushTicket[] | undefined
}

const noLimit = 0x4000_0000

/** A topic that records are sent to: its partitions, and the records that are not in a batch yet, in order. */
export class TopicQueue {
  readonly name: string
  /** Undefined until the topic is known, and when it has gone. */
  info: TopicInfo | undefined
  readonly partitions: PartitionBatches[] = []
  readonly waiting = new BoundedQueue<WaitingRecord>(noLimit)
  /** Where records without a key go for the time being. */
  private sticky = -1

  constructor(name: string) {
    this.name = name
  }

  /** Takes what the metadata says. Queues of partitions stay, whatever it says: their records still have to be settled. */
  update(info: TopicInfo | undefined): void {
    this.info = info
    for (let index = this.partitions.length; index < (info?.partitions.length ?? 0); index++) {
      this.partitions.push(new PartitionQueue(this, index))
    }
  }

  /**
   * The partition for a record without a key: one at a time until its batch is full or gone, then another. Batches so are as large as can be, and over
   * time all partitions get as many (KIP-480). Partitions without a leader are passed over while others have one.
   */
  stickyPartition(needsBatch: (partition: PartitionBatches) => boolean, fraction: () => number): PartitionBatches {
    const current = this.partitions[this.sticky]
    if (current !== undefined && this.sticky < this.info!.partitions.length && !needsBatch(current)) return current
    const led = this.info!.partitions.filter(partition => partition.leaderId >= 0)
    const all = led.length > 0 ? led : this.info!.partitions
    const others = all.length > 1 ? all.filter(partition => partition.partition !== this.sticky) : all
    this.sticky = others[Math.floor(fraction() * others.length)]!.partition
    return this.partitions[this.sticky]!
  }
}
