import { MillraceError, reasonOf } from '../kernel/errors/index.ts'
import { type Compression } from '../kernel/ports/compression.ts'
import { type PartitionLog } from '../kernel/ports/partition-log.ts'
import { batchBytesOf, batchHeaderBytes, isControl, isTransactional, baseOffsetOf, lastOffsetOf } from '../kernel/record/batch-header.ts'
import { BatchReader } from '../kernel/record/batch-reader.ts'
import { isWholeBatch } from '../kernel/record/record-batch.ts'
import { type LoadTurns, type SlicedLoad } from './load-turns.ts'

/** Replayed before others have their turn, in bytes of keys and values, and so much for each record besides: some hundred small records, well below a millisecond when the code is warm. */
const sliceBytes = 128 * 1024
const recordCostBytes = 64

/** Read at a time, however much more may be: what was there before this start is checked as it is read, in one piece, and behind 1 MiB a read ends in any case. */
const readBytesMax = 512 * 1024

export interface LogReplayParts {
  readonly log: PartitionLog
  readonly compression: Compression | undefined
  readonly turns: LoadTurns
  /** Bytes read at a time, at most. */
  readonly chunkBytes: number
  readonly replay: (key: Uint8Array, value: Uint8Array | null, offset: number) => void
  /** Called once, unless it was cancelled. */
  readonly done: (error: unknown, records: number) => void
}

/** Reads a log from its start to where it ends when this begins, and replays what is in it: everything that was ordered, committed or not. */
export class LogReplay implements SlicedLoad {
  private readonly parts: LogReplayParts
  private readonly reader: BatchReader
  private offset = 0
  private endOffset = 0
  private records = 0
  /** What was read and is not replayed yet, from the offset `from` on; the next batch begins at `at`. */
  private held: { readonly bytes: Uint8Array, at: number, readonly from: number, readonly release: () => void } | undefined
  /** Behind the batch whose records are being read; -1 between batches. */
  private batchEnd = -1
  private cancelRead: (() => void) | undefined
  private over = false

  constructor(parts: LogReplayParts) {
    this.parts = parts
    this.reader = new BatchReader(parts.compression)
  }

  start(): void {
    this.parts.turns.enter(this)
  }

  cancel(): void {
    this.over = true
    this.cancelRead?.()
    this.letGo()
    this.parts.turns.leave(this)
  }

  begin(): void {
    const { log } = this.parts
    this.offset = log.startOffset
    this.endOffset = log.endOffset
    this.readOn()
  }

  /** Some of the records that are held; the others when everybody has had a turn. */
  goOn(): void {
    const { held } = this
    if (held === undefined) return
    try {
      if (this.replaySlice(held)) {
        this.parts.turns.soon(this)
        return
      }
    } catch (error) {
      this.finish(error)
      return
    }
    this.letGo()
    // No batch in what is left: the records there are gone, as compaction leaves it. Reading on would never end.
    if (this.offset === held.from) this.offset = this.endOffset
    this.readOn()
  }

  private readOn(): void {
    if (this.over) return
    if (this.offset >= this.endOffset) {
      this.finish(undefined)
      return
    }
    const { log, chunkBytes } = this.parts
    try {
      this.cancelRead = log.read({ offset: this.offset, endOffset: this.endOffset, maxBytes: Math.min(chunkBytes, readBytesMax), atLeastOneBatch: true }, {
        read: (bytes, release) => {
          if (this.over) release()
          else this.take(bytes, release)
        },
        failed: (error) => { this.finish(error) },
      })
    } catch (error) {
      this.finish(error)
    }
  }

  private take(bytes: Uint8Array, release: () => void): void {
    this.held = { bytes, at: 0, from: this.offset, release }
    this.parts.turns.soon(this)
  }

  private letGo(): void {
    this.held?.release()
    this.held = undefined
  }

  /** Gives whether any of what is held is left for another turn. */
  private replaySlice(held: NonNullable<typeof this.held>): boolean {
    for (let left = sliceBytes; left > 0;) {
      if (this.batchEnd < 0) {
        if (!isWholeBatch(held.bytes, held.at)) return false
        this.openBatch(held.bytes, held.at)
        held.at += batchBytesOf(held.bytes, held.at)
        left -= batchHeaderBytes
      }
      if (this.batchEnd < 0) continue
      if (this.reader.next()) {
        left -= this.replayRecord()
      } else {
        this.offset = this.batchEnd
        this.batchEnd = -1
      }
    }
    return true
  }

  private openBatch(bytes: Uint8Array, at: number): void {
    // Nothing but a transaction writes control batches, and the offsets of one count when it is committed: that is not known here.
    if (isTransactional(bytes, at)) throw this.unreadable(baseOffsetOf(bytes, at), 'it belongs to a transaction, and this release has none')
    const end = lastOffsetOf(bytes, at) + 1
    if (isControl(bytes, at)) {
      this.offset = end
      return
    }
    this.reader.open(bytes, at)
    this.batchEnd = end
  }

  /** Gives what it counts for in a slice. */
  private replayRecord(): number {
    const { reader } = this
    const { offset } = reader
    if (offset < this.offset || offset >= this.endOffset) return recordCostBytes
    const key = reader.key()
    if (key === null) throw this.unreadable(offset, 'it has no key')
    try {
      this.parts.replay(key, reader.value(), offset)
    } catch (error) {
      throw this.unreadable(offset, reasonOf(error), error)
    }
    this.records++
    return recordCostBytes + reader.keyLength + Math.max(0, reader.valueLength)
  }

  private finish(error: unknown): void {
    if (this.over) return
    this.over = true
    this.letGo()
    this.parts.turns.leave(this)
    this.parts.done(error, this.records)
  }

  private unreadable(offset: number, reason: string, cause?: unknown): MillraceError {
    const { topic, partition } = this.parts.log.id
    return new MillraceError('MR_COORDINATOR_RECORD_UNREADABLE', { topic, partition, offset, reason }, cause)
  }
}
