import { type PartitionId } from '../model/ids.ts'
import { type TopicSettings } from '../model/topic-settings.ts'

/** How a batch comes to the log. */
export interface AppendOrigin {
  /**
   * `leader`: the log assigns the next offset, and writes it and the leader epoch into the batch's header in place. `follower`: the
   * batch has its offset and epoch; it must begin at the log end or later.
   */
  readonly role: 'leader' | 'follower'
  /** Of the leader that appends, or of the batch. Not below the last epoch of the log. */
  readonly leaderEpoch: number
}

/** Where a batch came to be. */
export interface AppendOutcome {
  /** Of the first record of the batch. */
  readonly baseOffset: number
  /** Of its last record, included. */
  readonly lastOffset: number
  /**
   * The producer sent this batch before: nothing was appended, and the offsets are those of the original. Its acknowledgement
   * waits for the same watermark as the original's.
   */
  readonly duplicate: boolean
}

/** Which batches are wanted, and how many bytes of them. */
export interface ReadRequest {
  /** First offset wanted; the batch that holds it is returned whole, though it may begin before. */
  readonly offset: number
  /** No batch that begins at or above it is returned: a watermark. With `offset` at or above it nothing is. */
  readonly endOffset: number
  /** At most so many bytes, but for the next line. Less may be returned though more is there: a read may end with a segment. */
  readonly maxBytes: number
  /** The first batch is returned even if it is larger than `maxBytes`. */
  readonly atLeastOneBatch: boolean
}

/** Where a read ends. Exactly one of the two is called, once; at once (local) or later (a tier), never after a cancel. */
export interface ReadSink {
  /**
   * Whole batches in offset order; zero bytes when there is none in the range. The bytes are the log's: valid until `release` is
   * called, which must happen once. Must not throw.
   */
  read(bytes: Uint8Array, release: () => void): void
  /** MR_LOG_OFFSET_OUT_OF_RANGE, MR_LOG_ROTTEN (the batch at the offset is damaged; others may be fine), MR_LOG_CORRUPT, MR_LOG_CLOSED, MR_LOG_DIRECTORY_OFFLINE. */
  failed(error: unknown): void
}

/** A record that was found by its timestamp, milliseconds since 1970-01-01 UTC. */
export interface TimestampHit {
  /** Of the record, not of its batch. */
  readonly offset: number
  /** Of that record. */
  readonly timestamp: number
  /** -1 where unknown. */
  readonly leaderEpoch: number
}

/** Offsets that were found damaged on the disk, both ends among them. A read that begins at one of them fails; what lies behind is served. */
export interface DamagedRange {
  /** Included. */
  readonly first: number
  /** Included; not below `first`. */
  readonly last: number
}

/** Where the compaction of a log stands. */
export interface CompactionState {
  /** What lies below was compacted. */
  readonly cleanedTo: number
  /** Bytes that may be compacted now, and their share of all that may be or were, 0 to 1. */
  readonly dirtyBytes: number
  /** 0 where nothing is dirty. */
  readonly dirtyRatio: number
  /** When a round last came to its end (wall time); -1 for none since the start. */
  readonly lastRoundMs: number
  /** Why the last round failed, and when the next one is tried (wall time); undefined while all is well. */
  readonly failure: { readonly reason: string, readonly nextTryMs: number } | undefined
}

/** A producer that a log knows by its id, and whose next batch it would check. */
export interface ActiveProducer {
  /** 0 or more. */
  readonly producerId: number
  /** The highest that has appended: a lower one is fenced. */
  readonly epoch: number
  /** -1 where none is known. */
  readonly lastSequence: number
  /** Of its last batch, milliseconds since 1970-01-01 UTC; -1 for none. */
  readonly lastTimestamp: number
  /** Of the coordinator that ended its last transaction; -1 for none. */
  readonly coordinatorEpoch: number
  /** First offset of its open transaction; -1 for none. */
  readonly transactionStart: number
}

/** Told of what happens to a log by itself. */
export interface LogWatcher {
  /** `flushedOffset` moved. Not called for what `append` itself has covered when it returns. Must not throw. */
  flushed(): void
  /** The log can not be written or read any more; every later call throws the same error. */
  failed(error: unknown): void
}

/**
 * The log of one partition: batches in offset order. Not safe for two owners. Order is fixed by `append`, synchronously; durability
 * is a watermark that follows. Offsets are dense but for compaction. `start <= highWatermark <= flushedOffset <= end`.
 *
 * Every method may throw, and `read` tell its sink, what has taken the log out of service for good: MR_LOG_CLOSED (it was removed or set aside,
 * or the store stops), MR_LOG_CORRUPT (it was found damaged as a whole at the start), MR_LOG_DIRECTORY_OFFLINE (a write or a sync in its directory failed). The
 * watcher is told once, and every later call fails with the same.
 */
export interface PartitionLog {
  /** Of the topic, by name and id, and the number of the partition. Never changes. */
  readonly id: PartitionId
  /** First offset that can be read. */
  readonly startOffset: number
  /** The offset that the next record gets. */
  readonly endOffset: number
  /**
   * Records below it survive what the topic's `durability` promises: a power cut with `fsync`, a crash of the process with `os`
   * (where it is the end offset as soon as `append` has returned). Only moves forward, but for `truncateTo`.
   */
  readonly flushedOffset: number
  /** As last raised; kept across restarts, on a best effort, as a lower bound. */
  readonly highWatermark: number
  /** -1 for an empty log that never had one. */
  readonly lastEpoch: number
  /** Of the batches that are kept, indexes and the like left out. */
  readonly sizeBytes: number
  /** How many segments they lie in, the one that is appended to among them. Undefined for a store without segments. */
  readonly segmentCount?: number
  /** What is known to be damaged now, in the order in which it was found. Undefined for a store that does not look. */
  readonly damage?: readonly DamagedRange[]
  /** What was on the disk before this start, is not there any more, and was not damaged but the end of the log: its offsets are given to others. Undefined where nothing is missing, or nobody would know. */
  readonly missing?: DamagedRange | undefined
  /** Of a log of a compacted topic, in a store that compacts. */
  readonly compaction?: CompactionState | undefined
  /** The producers that it knows, in no order that counts. Not to be walked over a change. Undefined for a store that does not tell. */
  readonly producers?: Iterable<ActiveProducer>
  /** One watcher; the replicator's. */
  watcher: LogWatcher | undefined

  /**
   * Appends one batch: `bytes[at, at + length)`. The caller has checked it (`kernel/record/batch-check`); the log checks the
   * producer's epoch and sequence: MR_PRODUCER_EPOCH_FENCED, MR_PRODUCER_OUT_OF_ORDER. The bytes are the caller's again when it returns.
   * After a throw nothing was appended, except that a failed write takes the directory offline (MR_LOG_DIRECTORY_OFFLINE), or, when
   * the disk is full, leaves the log as it was (MR_FILE_NO_SPACE); it may be tried again then.
   */
  append(bytes: Uint8Array, at: number, length: number, origin: AppendOrigin): AppendOutcome
  /** Returns a function that cancels a read which is still under way, or undefined when the sink was called already. What is wrong is told to the sink: it never throws. */
  read(request: ReadRequest, sink: ReadSink): (() => void) | undefined
  /**
   * Drops everything at and above `offset`, with the batch that it lies in; durable when it returns, as far as the durability of the log goes. The log ends behind the last batch that is
   * left then: where compaction has taken what was before `offset`, that is below it, and the next record gets that offset. Whoever asked goes by `endOffset`.
   * At or above the end it does nothing; at or below the start it leaves an empty log that begins at `offset`. What is left counts as flushed. Refused, with MR_FILE_NO_SPACE, MR_LOG_ROTTEN or MR_LOG_CORRUPT, it has changed
   * nothing; with MR_LOG_DIRECTORY_OFFLINE it may be done, or in part.
   */
  truncateTo(offset: number): void
  /**
   * Raises the start offset to `offset`; records below it are gone for good. Durable when it returns. A lower offset than the start changes nothing. Throws
   * MR_LOG_OFFSET_OUT_OF_RANGE above the high watermark, MR_FILE_NO_SPACE where there is no room to write it down.
   */
  deleteTo(offset: number): void
  /**
   * The first record below `endOffset` with a timestamp at or above `timestampMs`; for `'max'` the record with the largest timestamp,
   * the first of equals. Undefined when there is none. Throws MR_LOG_ROTTEN when it would have to read a damaged batch to know.
   */
  locate(timestampMs: number | 'max', endOffset: number): TimestampHit | undefined
  /**
   * Where the largest epoch at or below `epoch` ends: the start of the next epoch, or the log end. `(-1, -1)` when `epoch` is unknown,
   * as OffsetForLeaderEpoch answers (KIP-101, KIP-279). From memory: throws only what has taken the log out of service.
   */
  epochEnd(epoch: number): { readonly leaderEpoch: number, readonly endOffset: number }
  /** New settings, from the next append on; the log is no longer left alone by retention. Throws only what has taken the log out of service. */
  configure(settings: TopicSettings): void
  /** Only moves forward, at most to the end offset; lower values are ignored. Throws only what has taken the log out of service. */
  raiseHighWatermark(offset: number): void
}
