import { type Compression } from '../ports/compression.ts'
import * as header from './batch-header.ts'
import { BatchReader } from './batch-reader.ts'
import { type CompressionCodec } from './compression-codec.ts'
import { type LogRecord } from './log-record.ts'

/**
 * A record batch where it lies: the fields are read from the bytes when they are asked for. `hop` moves the same object to the batch
 * behind it, so that walking over a buffer makes nothing.
 */
export class RecordBatch {
  bytes: Uint8Array
  at: number

  /** The 61 bytes of the header must be there; `isWhole` says whether the rest is. */
  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  get baseOffset(): number { return header.baseOffsetOf(this.bytes, this.at) }
  /** Bytes of the whole batch, as its header says. */
  get sizeBytes(): number { return header.batchBytesOf(this.bytes, this.at) }
  get leaderEpoch(): number { return header.leaderEpochOf(this.bytes, this.at) }
  get magic(): number { return header.magicOf(this.bytes, this.at) }
  get crc(): number { return header.crcOf(this.bytes, this.at) }
  get attributes(): number { return header.attributesOf(this.bytes, this.at) }
  get codec(): CompressionCodec { return header.codecOf(this.bytes, this.at) }
  get isLogAppendTime(): boolean { return header.isLogAppendTime(this.bytes, this.at) }
  get isTransactional(): boolean { return header.isTransactional(this.bytes, this.at) }
  get isControl(): boolean { return header.isControl(this.bytes, this.at) }
  get lastOffsetDelta(): number { return header.lastOffsetDeltaOf(this.bytes, this.at) }
  get lastOffset(): number { return header.lastOffsetOf(this.bytes, this.at) }
  /** The offset of whatever comes behind this batch. */
  get nextOffset(): number { return header.lastOffsetOf(this.bytes, this.at) + 1 }
  get baseTimestamp(): number { return header.baseTimestampOf(this.bytes, this.at) }
  get maxTimestamp(): number { return header.maxTimestampOf(this.bytes, this.at) }
  get producerId(): number { return header.producerIdOf(this.bytes, this.at) }
  get producerEpoch(): number { return header.producerEpochOf(this.bytes, this.at) }
  get baseSequence(): number { return header.baseSequenceOf(this.bytes, this.at) }
  get lastSequence(): number { return header.lastSequenceOf(this.bytes, this.at) }
  get recordsCount(): number { return header.recordsCountOf(this.bytes, this.at) }

  /** When tombstones and markers of this batch may go (KIP-534); undefined when it is not decided yet. */
  get deleteHorizonMs(): number | undefined {
    return header.hasDeleteHorizon(this.bytes, this.at) ? header.baseTimestampOf(this.bytes, this.at) : undefined
  }

  /** Whether the header is there, of magic 2, and all that its length says is there. */
  get isWhole(): boolean {
    return isWholeBatch(this.bytes, this.at)
  }

  /** Whether the stored CRC is that of the bytes. Only for a whole batch. */
  crcValid(): boolean {
    return header.crcValid(this.bytes, this.at)
  }

  /** Moves to the batch behind this one; false, and not moved, when no whole one is there. */
  hop(): boolean {
    const next = this.at + this.sizeBytes
    if (!isWholeBatch(this.bytes, next)) return false
    this.at = next
    return true
  }

  /** The records, decoded as they are asked for. See BatchReader for what it throws. */
  records(compression?: Compression, limitBytes?: number): IterableIterator<LogRecord> {
    return new BatchReader(compression, limitBytes).open(this.bytes, this.at)[Symbol.iterator]()
  }
}

export function isWholeBatch(bytes: Uint8Array, at: number): boolean {
  const there = bytes.length - at
  if (there < header.batchHeaderBytes || header.magicOf(bytes, at) !== 2) return false
  const size = header.batchBytesOf(bytes, at)
  return size >= header.batchHeaderBytes && size <= there
}

/** The whole batches in `bytes`, in order; a cut-off last one is left out (quirk 35). One object is yielded each time, moved on. */
export function* batchesIn(bytes: Uint8Array, at = 0): IterableIterator<RecordBatch> {
  if (!isWholeBatch(bytes, at)) return
  const batch = new RecordBatch(bytes, at)
  do yield batch
  while (batch.hop())
}
