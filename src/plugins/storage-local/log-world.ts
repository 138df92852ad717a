import { type PartitionId } from '../../kernel/model/ids.ts'
import { type BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { type Clock, type Random, type Timers } from '../../kernel/ports/clock.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type CompactionState } from '../../kernel/ports/partition-log.ts'
import { type BufferPool } from './core/buffer-pool.ts'
import { type IntegrityLedger } from './core/integrity-ledger.ts'
import { type DelayedRemovals } from './io/delayed-removals.ts'
import { type SegmentWorld } from './io/segment-facts.ts'
import { type RedoWorld } from './redo-log.ts'

/** What all logs of a store share. */
export interface LogWorld extends SegmentWorld, Pick<RedoWorld, 'redoCounter'> {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly compression: Compression
  readonly identity: Pick<BrokerIdentity, 'clusterId'>
  readonly integrity: IntegrityLedger
  readonly buffers: BufferPool
  readonly removals: DelayedRemovals
  /** Where the compaction of a log stands; undefined for one that is not compacted. */
  readonly compactionOf: (id: PartitionId) => CompactionState | undefined
  /** `producer.id.expiration.ms` */
  readonly producerExpirationMs: number
  /** So near to the log end what this process wrote is taken to be in the page cache, and read on the event loop. */
  readonly residentBytes: number
}

/** What a log needs of the data directory that it is in. */
export interface LogHome {
  readonly path: string
  /** Something in the directory cannot be trusted any more: takes it, with all of its logs, out of service. Gives the error for callers. */
  fail(error: unknown): Error
  /**
   * What to tell of an error: a failure of the disk takes the directory out of service. A full disk, and too many open files, do not:
   * nothing that is there has been lost.
   */
  fault(error: unknown): unknown
  /** The disk was found full, and there is no space to spare yet: nothing is to be appended. See `checkSpace`. */
  readonly full: boolean
  /** Throws MR_FILE_NO_SPACE while the directory is full; looks, at most once a second, whether it still is. */
  checkSpace(): void
  /** A write found the disk full: frees the reserve, for all that is to be done before there is space again. False when there is none to free. */
  filled(): boolean
  /** Runs what has to be written to free space, or to start or stop; a second time, with the reserve freed, if the disk is full. */
  spend<T>(run: () => T): T
  /** Files were removed: there may be space again. */
  freed(): void
  /** More of the log is on the disk, and its recovery point may move on: soon, with those of other logs. */
  advance(id: PartitionId): void
  /** Compaction has come further with a log: the checkpoints that say so are written, off the event loop. */
  cleaned(): void
  /** Writes the checkpoint as the logs are now, from the reserve if need be. Durable when it returns. */
  writeCheckpoint(of: CheckpointKind): void
  /** The same in two steps: this one takes the space, and may be refused. What it gives puts the checkpoint in place, durable when that returns. */
  stageCheckpoint(of: CheckpointKind): () => void
}

export const checkpointKinds = ['recovery points', 'log starts', 'watermarks', 'clean offsets', 'delete horizons'] as const
export type CheckpointKind = typeof checkpointKinds[number]
