import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { BatchReader } from '../../kernel/record/batch-reader.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type ConsumerRecord } from './consumer-record.ts'
import { type FetchedChunk } from './fetched-chunk.ts'

/** Where reading begins: at an offset, at an end of the log, or at the first record that is not older than a time. */
export type Start = number | 'beginning' | 'end' | { readonly timestamp: number }

/**
 * - `locating`: a start that is no offset has to be looked up
 * - `checking`: the leader changed; whether the log still holds what was read is looked up (KIP-320)
 * - `reading`
 * - `failed`: `error` is what `poll` rejects with, until somebody seeks
 */
export type Phase = 'locating' | 'checking' | 'reading' | 'failed'

/** A partition that is read: what the application has seen, what was fetched ahead, and what comes next. */
export class AssignedPartition {
  readonly topic: string
  readonly partition: number
  readonly reader: BatchReader
  phase: Phase = 'locating'
  start: Exclude<Start, number> | undefined
  error: MillraceError | undefined
  isPaused = false
  /** A rebalance is at it: as if paused, whatever the application says. */
  isHeld = false
  /** Nobody has found out where to begin: as if paused, until somebody seeks. */
  awaitsStart = false
  /** Counts seeks: an answer to a request from before one is not for us. */
  round = 0
  /** The next offset that `poll` gives; -1 while it has to be looked up. */
  position = -1
  /** Leader epoch of the batch before `position`; -1 unknown. */
  positionEpoch = -1
  /** The next offset to fetch: behind what was fetched ahead. */
  fetchOffset = -1
  /** Leader epoch of the batch before `fetchOffset`; -1 unknown. */
  fetchedEpoch = -1
  /** The leader epoch under which the position was found good. */
  leaderEpoch = -1
  topicId: string | undefined
  readonly chunks: FetchedChunk[] = []
  chunkBytes = 0
  /** The round of the fetch under way; -1 without one. */
  fetchingRound = -1
  isLookingUp = false
  retryAtMs = 0
  failures = 0
  /** Larger than the setting when a batch did not fit. */
  bytesMax = 0
  /** A replica that the leader told us to read from, until then; -1: the leader itself (KIP-392). */
  preferredReplica = -1
  preferredUntilMs = 0
  /** The log begins behind, or ends before, `fetchOffset`. Acted upon when what was fetched ahead has been polled. */
  isOutOfRange = false
  highWatermark = -1
  logStartOffset = -1

  /** When it was: the picture of the cluster may be older, and lack it. */
  readonly assignedMs: number

  constructor(topic: string, partition: number, assignedMs: number, compression: Compression, decompressedBytesMax: number) {
    this.topic = topic
    this.partition = partition
    this.assignedMs = assignedMs
    this.reader = new BatchReader(compression, decompressedBytesMax)
  }

  /** Whether `poll` gives nothing of it. */
  get isSilent(): boolean {
    return this.isPaused || this.isHeld || this.awaitsStart
  }

  /** Whether a fetch is under way whose answer is still wanted. */
  get isFetching(): boolean {
    return this.fetchingRound === this.round
  }

  /** Goes to another place. What was fetched ahead is dropped. */
  seek(start: Start, leaderEpoch = -1): void {
    this.round++
    this.chunks.length = 0
    this.chunkBytes = 0
    this.isOutOfRange = false
    this.awaitsStart = false
    this.error = undefined
    this.retryAtMs = 0
    this.failures = 0
    this.isLookingUp = false
    this.fetchedEpoch = leaderEpoch
    this.positionEpoch = leaderEpoch
    if (typeof start === 'number') {
      this.start = undefined
      this.position = start
      this.fetchOffset = start
      this.phase = 'reading'
    } else {
      this.start = start
      this.position = -1
      this.fetchOffset = -1
      this.phase = 'locating'
    }
  }

  fail(error: MillraceError): void {
    this.error = error
    this.phase = 'failed'
  }

  /** Moves what was fetched ahead into `into`, up to `count` records. Gives how many. Throws for bytes that cannot be read. */
  take(into: ConsumerRecord[], count: number): number {
    let taken = 0
    while (taken < count && this.chunks.length > 0) {
      const chunk = this.chunks[0]!
      try {
        taken += chunk.take(into, count - taken)
      } catch (error) {
        if (!isMillraceError(error)) throw error
        throw new MillraceError(error.code, { ...error.details, topic: this.topic, partition: this.partition }, error)
      } finally {
        // What was given before bytes that cannot be read was given.
        this.position = Math.max(this.position, chunk.nextOffset)
        if (chunk.leaderEpoch >= 0) this.positionEpoch = chunk.leaderEpoch
      }
      if (taken === count) break
      this.chunks.shift()
      this.chunkBytes -= chunk.sizeBytes
    }
    // Batches that hold nothing for the application were fetched and read, too.
    if (this.chunks.length === 0 && this.phase !== 'locating') this.position = Math.max(this.position, this.fetchOffset)
    return taken
  }
}
