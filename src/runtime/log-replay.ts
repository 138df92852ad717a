import { MillraceError, reasonOf } from '../kernel/errors/index.ts'
import { type Timers } from '../kernel/ports/clock.ts'
import { type Compression } from '../kernel/ports/compression.ts'
import { type PartitionLog } from '../kernel/ports/partition-log.ts'
import { BatchReader } from '../kernel/record/batch-reader.ts'
import { batchesIn, type RecordBatch } from '../kernel/record/record-batch.ts'

/** Replayed before others have their turn: some 10 ms. */
const recordsPerTurn = 4000

export interface LogReplayParts {
  readonly log: PartitionLog
  readonly compression: Compression | undefined
  readonly timers: Timers
  /** Bytes read at a time. */
  readonly chunkBytes: number
  readonly replay: (key: Uint8Array, value: Uint8Array | null, offset: number) => void
  /** Called once, unless it was cancelled. */
  readonly done: (error: unknown, records: number) => void
}

/** Reads a log from its start to where it ends when this begins, and replays what is in it: everything that was ordered, committed or not. */
export class LogReplay {
  private readonly parts: LogReplayParts
  private readonly endOffset: number
  private readonly reader: BatchReader
  private offset: number
  private records = 0
  /** What was read and is not replayed yet. */
  private held: { readonly batches: Iterator<RecordBatch>, readonly before: number, readonly release: () => void } | undefined
  private cancelRead: (() => void) | undefined
  private over = false

  constructor(parts: LogReplayParts) {
    this.parts = parts
    this.reader = new BatchReader(parts.compression)
    this.offset = parts.log.startOffset
    this.endOffset = parts.log.endOffset
  }

  start(): void {
    this.readOn()
  }

  cancel(): void {
    this.over = true
    this.cancelRead?.()
    this.letGo()
  }

  private readOn(): void {
    if (this.over) return
    if (this.offset >= this.endOffset) {
      this.finish(undefined)
      return
    }
    const { log, chunkBytes } = this.parts
    try {
      this.cancelRead = log.read({ offset: this.offset, endOffset: this.endOffset, maxBytes: chunkBytes, atLeastOneBatch: true }, {
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
    this.held = { batches: batchesIn(bytes), before: this.offset, release }
    this.goOn()
  }

  /** Some of the records that are held; the others when everybody has had a turn. */
  private goOn(): void {
    const { held } = this
    if (held === undefined) return
    const enough = this.records + recordsPerTurn
    try {
      for (let next = held.batches.next(); next.done !== true; next = held.batches.next()) {
        this.replayBatch(next.value)
        if (this.records < enough) continue
        this.parts.timers.soon(() => { this.goOn() })
        return
      }
    } catch (error) {
      this.letGo()
      this.finish(error)
      return
    }
    this.letGo()
    // No batch in what is left: the records there are gone, as compaction leaves it. Reading on would never end.
    if (this.offset === held.before) this.offset = this.endOffset
    this.parts.timers.soon(() => { this.readOn() })
  }

  private letGo(): void {
    this.held?.release()
    this.held = undefined
  }

  private replayBatch(batch: RecordBatch): void {
    // Nothing but a transaction writes control batches, and the offsets of one count when it is committed: that is not known here.
    if (batch.isTransactional) throw this.unreadable(batch.baseOffset, 'it belongs to a transaction, and this release has none')
    if (!batch.isControl) {
      this.reader.open(batch.bytes, batch.at)
      while (this.reader.next()) this.replayRecord()
    }
    this.offset = batch.nextOffset
  }

  private replayRecord(): void {
    const { offset } = this.reader
    if (offset < this.offset || offset >= this.endOffset) return
    const key = this.reader.key()
    if (key === null) throw this.unreadable(offset, 'it has no key')
    try {
      this.parts.replay(key, this.reader.value(), offset)
    } catch (error) {
      throw this.unreadable(offset, reasonOf(error), error)
    }
    this.records++
  }

  private finish(error: unknown): void {
    if (this.over) return
    this.over = true
    this.parts.done(error, this.records)
  }

  private unreadable(offset: number, reason: string, cause?: unknown): MillraceError {
    const { topic, partition } = this.parts.log.id
    return new MillraceError('MR_COORDINATOR_RECORD_UNREADABLE', { topic, partition, offset, reason }, cause)
  }
}
