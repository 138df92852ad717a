import * as header from '../../../../src/kernel/record/batch-header.ts'
import { BatchReader } from '../../../../src/kernel/record/batch-reader.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { kafkaErrors } from '../../../../src/wire/index.ts'

interface StoredBatch {
  readonly bytes: Uint8Array
  readonly baseOffset: number
  readonly lastOffset: number
  readonly leaderEpoch: number
}

interface ProducerEntry {
  epoch: number
  nextSequence: number
  readonly recent: { readonly sequence: number, readonly baseOffset: number }[]
}

export interface Appended {
  readonly errorCode: number
  readonly baseOffset: number
}

export interface ReadBack {
  readonly offset: number
  readonly key: string | null
  readonly value: string | null
}

const decoder = new TextDecoder()
const remembered = 5

/** The log of one partition, as a broker keeps it: offsets, and sequences checked as Kafka checks them (quirk 29). */
export class FakeLog {
  leaderId: number
  leaderEpoch = 0
  /** A fetch that begins at one of them is refused. */
  readonly damagedOffsets = new Set<number>()
  logStartOffset = 0
  batches: StoredBatch[] = []
  aborted: { producerId: number, firstOffset: number }[] = []
  lastStableOffset: number | undefined
  readonly producers = new Map<number, ProducerEntry>()
  messageBytesMax = 1_048_588

  constructor(leaderId: number) {
    this.leaderId = leaderId
  }

  get endOffset(): number {
    return (this.batches.at(-1)?.lastOffset ?? this.logStartOffset - 1) + 1
  }

  append(given: Uint8Array): Appended {
    const bytes = given.slice()
    if (bytes.length > this.messageBytesMax) return { errorCode: kafkaErrors.MESSAGE_TOO_LARGE, baseOffset: -1 }
    if (!header.crcValid(bytes, 0)) return { errorCode: kafkaErrors.CORRUPT_MESSAGE, baseOffset: -1 }
    const producerId = header.producerIdOf(bytes, 0)
    const sequence = header.baseSequenceOf(bytes, 0)
    const baseOffset = this.endOffset
    if (producerId >= 0 && sequence >= 0) {
      const checked = this.check(producerId, header.producerEpochOf(bytes, 0), sequence)
      if (checked !== undefined) return checked
    }
    header.putBaseOffset(bytes, 0, baseOffset)
    header.putLeaderEpoch(bytes, 0, this.leaderEpoch)
    this.batches.push({ bytes, baseOffset, lastOffset: header.lastOffsetOf(bytes, 0), leaderEpoch: this.leaderEpoch })
    if (producerId >= 0 && sequence >= 0) this.remember(producerId, header.producerEpochOf(bytes, 0), sequence, bytes, baseOffset)
    return { errorCode: 0, baseOffset }
  }

  /** Puts a finished batch where it says it belongs, gaps included. */
  put(bytes: Uint8Array, baseOffset: number, leaderEpoch = this.leaderEpoch): void {
    header.putBaseOffset(bytes, 0, baseOffset)
    header.putLeaderEpoch(bytes, 0, leaderEpoch)
    this.batches.push({ bytes, baseOffset, lastOffset: header.lastOffsetOf(bytes, 0), leaderEpoch })
  }

  /** Whole batches from the one that holds `offset` on, the first one whatever its size (quirk 35). */
  read(offset: number, maxBytes: number, limitOffset = Infinity): Uint8Array {
    const found: Uint8Array[] = []
    let size = 0
    for (const batch of this.batches) {
      if (batch.lastOffset < offset || batch.baseOffset >= limitOffset) continue
      if (found.length > 0 && size + batch.bytes.length > maxBytes) break
      found.push(batch.bytes)
      size += batch.bytes.length
    }
    const all = new Uint8Array(size)
    let at = 0
    for (const bytes of found) {
      all.set(bytes, at)
      at += bytes.length
    }
    return all
  }

  /** The first record not older than the time. */
  offsetAt(timestamp: number): { offset: number, timestamp: number } {
    for (const record of this.each()) if (record.timestamp >= timestamp) return { offset: record.offset, timestamp: record.timestamp }
    return { offset: -1, timestamp: -1 }
  }

  /** Where an epoch ends: (the largest epoch not above it, the offset behind its last record). */
  endOfEpoch(epoch: number): { leaderEpoch: number, endOffset: number } {
    if (epoch === this.leaderEpoch) return { leaderEpoch: epoch, endOffset: this.endOffset }
    const later = this.batches.find(batch => batch.leaderEpoch > epoch)
    const known = this.batches.filter(batch => batch.leaderEpoch <= epoch).at(-1)
    if (known === undefined) return { leaderEpoch: -1, endOffset: -1 }
    return { leaderEpoch: known.leaderEpoch, endOffset: later?.baseOffset ?? this.endOffset }
  }

  /** What a new leader that lacks the last records does. */
  truncate(endOffset: number): void {
    this.batches = this.batches.filter(batch => batch.lastOffset < endOffset)
  }

  records(): ReadBack[] {
    return [...this.each()].map(({ offset, key, value }) => ({
      offset, key: key === null ? null : decoder.decode(key), value: value === null ? null : decoder.decode(value),
    }))
  }

  private *each(): Generator<{ offset: number, timestamp: number, key: Uint8Array | null, value: Uint8Array | null }> {
    for (const batch of this.batches) yield* new BatchReader(new NodeCompression()).open(batch.bytes)
  }

  private check(producerId: number, epoch: number, sequence: number): Appended | undefined {
    const known = this.producers.get(producerId)
    if (known === undefined) return undefined
    if (epoch < known.epoch) return { errorCode: kafkaErrors.INVALID_PRODUCER_EPOCH, baseOffset: -1 }
    if (epoch > known.epoch) return sequence === 0 ? undefined : { errorCode: kafkaErrors.OUT_OF_ORDER_SEQUENCE_NUMBER, baseOffset: -1 }
    const twice = known.recent.find(batch => batch.sequence === sequence)
    if (twice !== undefined) return { errorCode: 0, baseOffset: twice.baseOffset }
    return sequence === known.nextSequence ? undefined : { errorCode: kafkaErrors.OUT_OF_ORDER_SEQUENCE_NUMBER, baseOffset: -1 }
  }

  private remember(producerId: number, epoch: number, sequence: number, bytes: Uint8Array, baseOffset: number): void {
    let known = this.producers.get(producerId)
    if (known === undefined || known.epoch < epoch) {
      known = { epoch, nextSequence: 0, recent: [] }
      this.producers.set(producerId, known)
    }
    known.nextSequence = header.sequenceAfter(sequence, header.recordsCountOf(bytes, 0))
    known.recent.push({ sequence, baseOffset })
    if (known.recent.length > remembered) known.recent.shift()
  }
}
