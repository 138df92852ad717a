import { MillraceError } from '../../kernel/errors/index.ts'
import * as batchHeader from '../../kernel/record/batch-header.ts'
import { type BatchReader } from '../../kernel/record/batch-reader.ts'
import { controlAbort, controlTypeOf } from '../../kernel/record/control-record.ts'
import { isWholeBatch } from '../../kernel/record/record-batch.ts'
import { ConsumerRecord, type RecordSource } from './consumer-record.ts'

export interface AbortedTransaction {
  readonly producerId: number
  readonly firstOffset: number
}

export interface ChunkOptions {
  readonly topic: string
  readonly partition: number
  /** Records below it are not given: a broker sends whole batches. */
  readonly fetchOffset: number
  /** By first offset; empty unless only what is committed is read. */
  readonly aborted: readonly AbortedTransaction[]
  readonly checkCrcs: boolean
  /** Keeps its place between calls of `take`, so it belongs to this partition alone. */
  readonly reader: BatchReader
}

/**
 * What one answer brought for one partition: batches, read one after another as they are wanted. Control batches, aborted transactions and offsets that
 * compaction has emptied are stepped over; `nextOffset` moves on with them.
 */
export class FetchedChunk {
  private readonly bytes: Uint8Array
  private readonly options: ChunkOptions
  private at = 0
  private inBatch = false
  private source: RecordSource | undefined
  private abortedIndex = 0
  private readonly abortedProducers = new Set<number>()
  /** The offset behind what was given or stepped over. */
  nextOffset: number
  /** Of the batch last looked into. */
  leaderEpoch = -1

  constructor(bytes: Uint8Array, options: ChunkOptions) {
    this.bytes = bytes
    this.options = options
    this.nextOffset = options.fetchOffset
  }

  get sizeBytes(): number {
    return this.bytes.length
  }

  /** Adds up to `count` records to `into` and gives how many it were; fewer mean that the chunk is empty. Throws MR_RECORD_CORRUPT and what decompressing throws. */
  take(into: ConsumerRecord[], count: number): number {
    const { reader, fetchOffset } = this.options
    let taken = 0
    while (taken < count) {
      if (!this.inBatch && !this.openBatch()) return taken
      const source = this.source!
      while (taken < count) {
        if (!reader.next()) {
          this.inBatch = false
          this.nextOffset = Math.max(this.nextOffset, batchHeader.lastOffsetOf(this.bytes, this.at) + 1)
          this.at += batchHeader.batchBytesOf(this.bytes, this.at)
          break
        }
        if (reader.offset < fetchOffset) continue
        into.push(new ConsumerRecord(
          source, reader.offset, reader.timestamp, reader.keyStart, reader.keyLength, reader.valueStart, reader.valueLength,
          reader.headersStart,
        ))
        this.nextOffset = reader.offset + 1
        taken++
      }
    }
    return taken
  }

  /** Goes to the next batch that holds records to give. */
  private openBatch(): boolean {
    const { bytes, options } = this
    for (;;) {
      const { at } = this
      // A batch that is cut off at the end comes whole with the next answer.
      if (!isWholeBatch(bytes, at)) return false
      if (options.checkCrcs && !batchHeader.crcValid(bytes, at)) throw this.corrupt('its checksum does not match')
      const lastOffset = batchHeader.lastOffsetOf(bytes, at)
      this.leaderEpoch = batchHeader.leaderEpochOf(bytes, at)
      if (lastOffset >= options.fetchOffset && !this.isPassedOver(at, lastOffset)) break
      this.nextOffset = Math.max(this.nextOffset, lastOffset + 1)
      this.at += batchHeader.batchBytesOf(bytes, at)
    }
    options.reader.open(bytes, this.at)
    this.source = { topic: options.topic, partition: options.partition, leaderEpoch: this.leaderEpoch, bytes: options.reader.recordBytes }
    this.inBatch = true
    return true
  }

  /**
   * Whether a batch holds nothing for the application. An aborted transaction of a producer reaches from the first offset that the broker names to the
   * producer's abort marker.
   */
  private isPassedOver(at: number, lastOffset: number): boolean {
    const { bytes } = this
    const { aborted, reader } = this.options
    while (this.abortedIndex < aborted.length && aborted[this.abortedIndex]!.firstOffset <= lastOffset) {
      this.abortedProducers.add(aborted[this.abortedIndex++]!.producerId)
    }
    if (batchHeader.isControl(bytes, at)) {
      if (this.abortedProducers.size > 0 && reader.open(bytes, at).next() && controlTypeOf(reader.key()) === controlAbort) {
        this.abortedProducers.delete(batchHeader.producerIdOf(bytes, at))
      }
      return true
    }
    if (batchHeader.recordsCountOf(bytes, at) === 0) return true
    return batchHeader.isTransactional(bytes, at) && this.abortedProducers.has(batchHeader.producerIdOf(bytes, at))
  }

  private corrupt(reason: string): MillraceError {
    const { topic, partition } = this.options
    return new MillraceError('MR_RECORD_CORRUPT', {
      topic, partition, reason: `${reason}, in ${topic}-${partition} at offset ${batchHeader.baseOffsetOf(this.bytes, this.at)}`,
    })
  }
}

export interface ChunkEnd {
  /** The offset behind the last whole batch; -1 when there is none. */
  readonly nextOffset: number
  readonly leaderEpoch: number
  /** The size of a first batch that did not fit into the answer, as far as it is known; 0 when it did. */
  readonly batchBytesNeeded: number
}

/** Looks at the headers of the batches alone: where the next fetch begins. */
export function chunkEnd(bytes: Uint8Array): ChunkEnd {
  let at = 0
  let nextOffset = -1
  let leaderEpoch = -1
  while (isWholeBatch(bytes, at)) {
    nextOffset = batchHeader.lastOffsetOf(bytes, at) + 1
    leaderEpoch = batchHeader.leaderEpochOf(bytes, at)
    at += batchHeader.batchBytesOf(bytes, at)
  }
  const isCut = nextOffset < 0 && bytes.length > 0
  const known = bytes.length >= batchHeader.batchPrefixBytes ? batchHeader.batchBytesOf(bytes, 0) : 0
  return { nextOffset, leaderEpoch, batchBytesNeeded: isCut ? Math.max(known, bytes.length + 1) : 0 }
}
