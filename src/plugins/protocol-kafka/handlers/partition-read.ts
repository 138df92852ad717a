import { batchBytesOf, lastOffsetOf, recordsCountOf } from '../../../kernel/record/batch-header.ts'
import { type PartitionLog, type ReadRequest, type ReadSink } from '../../../kernel/ports/partition-log.ts'

/** Where a read of a partition ends; exactly one of the two is called, once, and none after a cancel. */
export interface PartitionReadEnd {
  readEnd(bytes: Uint8Array, release: () => void): void
  readFailed(error: unknown): void
}

interface Held {
  readonly bytes: Uint8Array
  readonly release: () => void
}

/**
 * A read of whole batches, which goes on where it has met none but those that compaction has emptied: a segment may hold nothing else, and a read may end with it. There are clients (kafkajs)
 * that take an answer without a record for the end of the log and ask for the same offset for ever. Batches without records are given where nothing follows them: what they tell is where
 * the log goes on.
 */
export class PartitionRead implements ReadSink {
  private readonly log: PartitionLog
  private readonly request: ReadRequest
  private readonly end: PartitionReadEnd
  private cancelRead: (() => void) | undefined = undefined
  private isOver = false
  /** Where to read on; -1 while a read is under way or all is over. */
  private next: number
  private looping = false
  /** Batches without records, given if nothing follows. */
  private held: Held | undefined = undefined

  constructor(log: PartitionLog, request: ReadRequest, end: PartitionReadEnd) {
    this.log = log
    this.request = request
    this.end = end
    this.next = request.offset
  }

  /** False when it ends later. What the log throws at once, it throws. */
  start(): boolean {
    this.readOn()
    return this.isOver
  }

  cancel(): void {
    if (this.isOver) return
    this.isOver = true
    this.cancelRead?.()
    this.held?.release()
  }

  read(bytes: Uint8Array, release: () => void): void {
    if (bytes.length > 0 && recordsCountOf(bytes, 0) === 0) {
      const next = behindEmpty(bytes)
      if (next > 0 && next < this.request.endOffset) {
        this.held?.release()
        this.held = { bytes, release }
        this.next = next
        if (!this.looping) this.readOn()
        return
      }
    }
    const { held } = this
    this.isOver = true
    if (bytes.length === 0 && held !== undefined) {
      release()
      this.end.readEnd(held.bytes, held.release)
      return
    }
    held?.release()
    this.end.readEnd(bytes, release)
  }

  failed(error: unknown): void {
    const { held } = this
    this.isOver = true
    // Who has read up to there asks again from there, and is told then.
    if (held === undefined) this.end.readFailed(error)
    else this.end.readEnd(held.bytes, held.release)
  }

  /** A read may end within the call: no read begins within another. Throws only what the first one throws: later ones begin with something held. */
  private readOn(): void {
    this.looping = true
    try {
      while (this.next >= 0 && !this.isOver) {
        const { request, next: offset } = this
        this.next = -1
        this.cancelRead = this.log.read(offset === request.offset ? request : { ...request, offset }, this)
      }
    } catch (error) {
      if (this.isOver || this.held === undefined) throw error
      this.failed(error)
    } finally {
      this.looping = false
    }
  }
}

/** The offset behind batches of which none has a record; -1 where one has. */
function behindEmpty(bytes: Uint8Array): number {
  let next = -1
  for (let at = 0; at < bytes.length; at += batchBytesOf(bytes, at)) {
    if (recordsCountOf(bytes, at) > 0) return -1
    next = lastOffsetOf(bytes, at) + 1
  }
  return next
}
