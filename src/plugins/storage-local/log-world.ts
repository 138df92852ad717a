import { type Clock, type Random, type Timers } from '../../kernel/ports/clock.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type BufferPool } from './core/buffer-pool.ts'
import { type DelayedRemovals } from './io/delayed-removals.ts'
import { type SegmentWorld } from './io/segment.ts'

/** What all logs of a store share. */
export interface LogWorld extends SegmentWorld {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly compression: Compression
  readonly buffers: BufferPool
  readonly removals: DelayedRemovals
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
  /** Writes the checkpoint as the logs are now. Durable when it returns. */
  writeCheckpoint(of: CheckpointKind): void
}

export type CheckpointKind = 'recovery points' | 'log starts' | 'watermarks'
