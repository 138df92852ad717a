import { MillraceError } from '../../kernel/errors/millrace-error.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type PartitionImage } from '../../kernel/ports/cluster-metadata.ts'
import { type AppendOrigin, type AppendOutcome, type LogWatcher, type PartitionLog } from '../../kernel/ports/partition-log.ts'
import { type Replica, type WatermarkWaiter } from '../../kernel/ports/replicator.ts'
import { WaiterQueue } from './core/waiter-queue.ts'

/**
 * The only replica of a partition: what its log has flushed is what all in-sync replicas have, so the log's flushed offset is the high
 * watermark. Nothing is allocated for an append but its outcome.
 */
export class SoleReplica implements Replica, LogWatcher {
  readonly log: PartitionLog
  settings: TopicSettings
  leader = false
  highWatermark: number
  private readonly nodeId: number
  private readonly waiters = new WaiterQueue()
  /** Reused for every append. */
  private readonly origin: { role: 'leader', leaderEpoch: number } & AppendOrigin
  /** Of the log, or of the partition: for good. */
  failure: unknown
  /** Why those who wait now are to be failed at the next wake. */
  private loss: unknown
  private wakes = false

  constructor(nodeId: number, log: PartitionLog, settings: TopicSettings) {
    this.nodeId = nodeId
    this.log = log
    this.settings = settings
    this.origin = { role: 'leader', leaderEpoch: -1 }
    // Survived the restart, so it is seen: all that a consumer saw before is below.
    this.highWatermark = log.flushedOffset
    log.watcher = this
    log.raiseHighWatermark(this.highWatermark)
  }

  get leaderEpoch(): number {
    return this.origin.leaderEpoch
  }

  /** There are no transactions that could be open. */
  get lastStableOffset(): number {
    return this.highWatermark
  }

  append(bytes: Uint8Array, at: number, length: number): AppendOutcome {
    if (this.failure !== undefined) throw this.failure as Error
    if (!this.leader) throw this.notLeader()
    const outcome = this.log.append(bytes, at, length, this.origin)
    this.advance()
    return outcome
  }

  wait(waiter: WatermarkWaiter): void {
    this.waiters.add(waiter)
    if (this.failure !== undefined || !this.leader || waiter.offset <= this.highWatermark) this.wakeSoon()
  }

  cancel(waiter: WatermarkWaiter): void {
    this.waiters.remove(waiter)
  }

  flushed(): void {
    this.advance()
  }

  failed(error: unknown): void {
    this.failure ??= error
    this.wakeSoon()
  }

  /** As the metadata has it now. */
  place(partition: PartitionImage, settings: TopicSettings): void {
    if (settings !== this.settings) {
      this.settings = settings
      if (this.failure === undefined) this.log.configure(settings)
    }
    this.origin.leaderEpoch = partition.leaderEpoch
    const leads = partition.leader === this.nodeId
    if (this.leader && !leads) {
      this.loss = this.notLeader()
      this.wakeSoon()
    }
    this.leader = leads
  }

  /** The topic is gone, or the replica is no longer placed here: nothing works any more, and the log is not watched. */
  end(error: unknown): void {
    this.log.watcher = undefined
    this.leader = false
    this.failed(error)
  }

  private advance(): void {
    const flushed = this.log.flushedOffset
    if (flushed <= this.highWatermark) return
    this.highWatermark = flushed
    this.log.raiseHighWatermark(flushed)
    if (this.waiters.hasReached(flushed)) this.wakeSoon()
  }

  private wakeSoon(): void {
    if (this.wakes) return
    this.wakes = true
    queueMicrotask(this.wake)
  }

  private readonly wake = (): void => {
    this.wakes = false
    const lost = this.loss ?? this.failure
    this.loss = undefined
    this.waiters.reach(this.highWatermark)
    if (lost !== undefined) this.waiters.fail(lost)
    else if (!this.leader && this.waiters.size > 0) this.waiters.fail(this.notLeader())
  }

  private notLeader(): MillraceError {
    return new MillraceError('MR_REPLICA_NOT_LEADER', { nodeId: this.nodeId, topic: this.log.id.topic, partition: this.log.id.partition })
  }
}
