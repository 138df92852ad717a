import { describe, expect, test } from 'vitest'
import { crc32c } from '../../../../src/base/crc32c.ts'
import { Prng } from '../../../../src/base/prng.ts'
import { decodeProducerSnapshot, encodeProducerSnapshot } from '../../../../src/kernel/log/producer-snapshot.ts'
import { ProducerState } from '../../../../src/kernel/log/producer-state.ts'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { putBaseOffset } from '../../../../src/kernel/record/batch-header.ts'
import { endTransactionBatch } from '../../../../src/kernel/record/control-record.ts'
import { seedOf } from '../../../integration/seeds.ts'

const seed = seedOf(1)

const id = { topic: 'orders', topicId: 'AAAAAAAAAAAAAAAAAAAAAA', partition: 0 }
const maximum = 0x7fff_ffff
const hour = 3_600_000

interface Sent {
  readonly epoch?: number
  readonly sequence: number
  readonly records?: number
  readonly offset?: number
  readonly timestamp?: number
  readonly transactional?: boolean
  readonly producerId?: number
}

function batch(sent: Sent): Uint8Array {
  const builder = new BatchBuilder()
  for (let index = 0; index < (sent.records ?? 1); index++) builder.append(sent.timestamp ?? 1000, null, null)
  return builder.finish({
    producerId: sent.producerId ?? 7, producerEpoch: sent.epoch ?? 0, baseSequence: sent.sequence, baseOffset: sent.offset ?? 0,
    transactional: sent.transactional ?? false,
  })
}

const state = (nowMs = 0): ProducerState => new ProducerState(id, nowMs)

function append(to: ProducerState, sent: Sent): void {
  const bytes = batch(sent)
  expect(to.check(bytes, 0)).toBe('append')
  to.apply(bytes, 0)
}

const check = (of: ProducerState, sent: Sent): string => {
  try {
    return of.check(batch(sent), 0)
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('ProducerState', () => {
  test('quirk 29: a producer that is not known may begin with any sequence', () => {
    expect(check(state(), { sequence: 0 })).toBe('append')
    expect(check(state(), { sequence: 4711 })).toBe('append')
  })

  test('quirk 29: the next sequence is appended, a gap is out of order', () => {
    const known = state()
    append(known, { sequence: 0, records: 3 })
    expect(check(known, { sequence: 3 })).toBe('append')
    expect(check(known, { sequence: 4 })).toBe('MR_PRODUCER_OUT_OF_ORDER')
    expect(check(known, { sequence: 2 })).toBe('MR_PRODUCER_OUT_OF_ORDER')
  })

  test('quirk 29: each of the last five batches is a duplicate with its own offsets, the sixth is out of order', () => {
    const known = state()
    for (let index = 0; index < 6; index++) append(known, { sequence: index * 2, records: 2, offset: 100 + index * 10 })
    for (let index = 1; index < 6; index++) {
      expect(check(known, { sequence: index * 2, records: 2 })).toBe('duplicate')
      expect([known.duplicateBaseOffset, known.duplicateLastOffset]).toEqual([100 + index * 10, 101 + index * 10])
    }
    expect(check(known, { sequence: 0, records: 2 })).toBe('MR_PRODUCER_OUT_OF_ORDER')
  })

  test('a batch that shares a last sequence but not the first is no duplicate', () => {
    const known = state()
    append(known, { sequence: 0, records: 4 })
    expect(check(known, { sequence: 2, records: 2 })).toBe('MR_PRODUCER_OUT_OF_ORDER')
  })

  test('quirk 29: sequences wrap at 2^31 - 1, inside a batch and between two', () => {
    const known = state()
    append(known, { sequence: maximum - 1, records: 2, offset: 10 })
    append(known, { sequence: 0, records: 2, offset: 12 })
    const inside = state()
    append(inside, { sequence: maximum, records: 3, offset: 20 })
    expect(check(inside, { sequence: 2 })).toBe('append')
    expect(check(inside, { sequence: maximum, records: 3 })).toBe('duplicate')
    expect([inside.duplicateBaseOffset, inside.duplicateLastOffset]).toEqual([20, 22])
  })

  test('quirk 29: a new epoch begins with sequence 0 and forgets the batches of the old one', () => {
    const known = state()
    append(known, { sequence: 0, records: 2 })
    expect(check(known, { epoch: 1, sequence: 2 })).toBe('MR_PRODUCER_OUT_OF_ORDER')
    append(known, { epoch: 1, sequence: 0, records: 2, offset: 50 })
    expect(check(known, { epoch: 1, sequence: 0, records: 2 })).toBe('duplicate')
    expect(known.duplicateBaseOffset).toBe(50)
  })

  test('quirk 29: an older epoch is fenced', () => {
    const known = state()
    append(known, { epoch: 3, sequence: 0 })
    expect(check(known, { epoch: 2, sequence: 1 })).toBe('MR_PRODUCER_EPOCH_FENCED')
  })

  test('a check alone changes nothing', () => {
    const known = state()
    append(known, { sequence: 0 })
    expect(check(known, { epoch: 5, sequence: 0 })).toBe('append')
    expect(check(known, { sequence: 1 })).toBe('append')
    expect(known.size).toBe(1)
  })

  test('batches without a producer leave no trace', () => {
    const known = state()
    append(known, { producerId: -1, epoch: -1, sequence: -1 })
    expect(known.size).toBe(0)
  })

  test('offsets committed in a transaction have no sequence: only their epoch is checked', () => {
    const known = state()
    append(known, { epoch: 2, sequence: -1, transactional: true })
    append(known, { epoch: 2, sequence: -1, transactional: true })
    expect(check(known, { epoch: 1, sequence: -1 })).toBe('MR_PRODUCER_EPOCH_FENCED')
  })

  test('a marker of a newer epoch fences the older one, and the next batch begins with sequence 0', () => {
    const known = state()
    append(known, { sequence: 0, records: 3, transactional: true, offset: 40 })
    expect(known.firstOpenTransaction()).toBe(40)
    const marker = endTransactionBatch({ commit: true, coordinatorEpoch: 9, producerId: 7, producerEpoch: 1, timestamp: 2000 })
    putBaseOffset(marker, 0, 43)
    expect(known.check(marker, 0)).toBe('append')
    known.apply(marker, 0)
    expect(known.firstOpenTransaction()).toBe(-1)
    expect(check(known, { sequence: 3 })).toBe('MR_PRODUCER_EPOCH_FENCED')
    expect(check(known, { epoch: 1, sequence: 3 })).toBe('MR_PRODUCER_OUT_OF_ORDER')
    expect(check(known, { epoch: 1, sequence: 0 })).toBe('append')
    expect(known.entries()).toEqual([{
      producerId: 7, epoch: 1, lastSequence: -1, lastOffset: -1, offsetDelta: 0, timestamp: 2000, coordinatorEpoch: 9, transactionStart: -1,
    }])
  })

  test('a marker of the same epoch keeps the sequences', () => {
    const known = state()
    append(known, { sequence: 0, records: 3, transactional: true })
    known.apply(endTransactionBatch({ commit: false, coordinatorEpoch: 1, producerId: 7, producerEpoch: 0, timestamp: 5 }), 0)
    expect(check(known, { sequence: 3 })).toBe('append')
    expect(check(known, { sequence: 0, records: 3 })).toBe('duplicate')
  })

  test('the oldest of several open transactions counts', () => {
    const known = state()
    append(known, { producerId: 1, sequence: 0, offset: 30, transactional: true })
    append(known, { producerId: 2, sequence: 0, offset: 20, transactional: true })
    expect(known.firstOpenTransaction()).toBe(20)
  })

  test('idle producers are forgotten, but not one with an open transaction', () => {
    const known = state()
    append(known, { producerId: 1, sequence: 0, timestamp: 0 })
    append(known, { producerId: 2, sequence: 0, timestamp: 0, transactional: true })
    known.expire(hour, hour)
    expect(known.size).toBe(2)
    known.expire(hour + 1, hour)
    expect(known.size).toBe(1)
    expect(check(known, { producerId: 1, sequence: 99 })).toBe('append')
    expect(check(known, { producerId: 2, sequence: 99 })).toBe('MR_PRODUCER_OUT_OF_ORDER')
  })

  test('a producer of old records is not forgotten while it is appending', () => {
    const known = state(50 * hour)
    append(known, { sequence: 0, timestamp: 1 })
    known.expire(50 * hour + 1000, hour)
    expect(check(known, { sequence: 0 })).toBe('duplicate')
    known.expire(52 * hour, hour)
    expect(known.size).toBe(0)
  })

  test(`a state restored from its entries continues like the one they were taken of (seed ${seed})`, () => {
    const random = new Prng(seed)
    const original = state()
    let offset = 0
    const sequences = new Map<number, number>()
    for (let step = 0; step < 500; step++) {
      const producerId = random.below(20)
      const sequence = sequences.get(producerId) ?? maximum - random.below(20)
      const records = random.between(1, 5)
      append(original, { producerId, sequence, records, offset })
      offset += records
      sequences.set(producerId, sequence + records > maximum ? sequence + records - maximum - 1 : sequence + records)
    }
    const restored = state()
    restored.restore(decodeProducerSnapshot(encodeProducerSnapshot(original.entries()))!)
    for (const [producerId, sequence] of sequences) {
      expect(check(restored, { producerId, sequence }), `seed ${seed}`).toBe('append')
      expect(check(restored, { producerId, sequence: sequence + 1 }), `seed ${seed}`).toBe('MR_PRODUCER_OUT_OF_ORDER')
    }
    expect(restored.entries()).toEqual(original.entries())
  })

  test('quirk 29: each of the last five batches is a duplicate after a restart, too', () => {
    const original = state()
    for (let sequence = 0; sequence < 6; sequence++) append(original, { sequence, offset: 100 + sequence })
    append(original, { producerId: 8, sequence: 0, epoch: 3, transactional: true, offset: 200 })
    const restored = state()
    restored.restore(decodeProducerSnapshot(encodeProducerSnapshot(original.entries()))!)
    for (let sequence = 1; sequence < 6; sequence++) {
      expect(check(restored, { sequence })).toBe('duplicate')
      expect(restored.duplicateBaseOffset).toBe(100 + sequence)
    }
    expect(check(restored, { sequence: 0 })).toBe('MR_PRODUCER_OUT_OF_ORDER')
    expect(restored.firstOpenTransaction()).toBe(200)
  })

  test('the last entry of a producer is what Kafka keeps of it: its newest batch, with the open transaction', () => {
    const known = state()
    append(known, { sequence: 0, offset: 10, transactional: true })
    append(known, { sequence: 1, offset: 11, records: 2, transactional: true })
    expect(known.entries().map(({ lastSequence, lastOffset, transactionStart }) => [lastSequence, lastOffset, transactionStart]))
      .toEqual([[0, 10, -1], [2, 12, 10]])
  })

  test('entries of an older epoch count for nothing', () => {
    const entry = { producerId: 7, epoch: 0, lastSequence: 5, lastOffset: 5, offsetDelta: 0, timestamp: 1, coordinatorEpoch: -1, transactionStart: -1 }
    const known = state()
    known.restore([entry, { ...entry, epoch: 1, lastSequence: 0, lastOffset: 6 }])
    expect(check(known, { epoch: 1, sequence: 5 })).toBe('MR_PRODUCER_OUT_OF_ORDER')
    expect(check(known, { epoch: 1, sequence: 0 })).toBe('duplicate')
  })
})

describe('producer snapshot', () => {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

  test('bytes are those of the vectors', () => {
    expect(hex(encodeProducerSnapshot([]))).toBe('000148674bc700000000')
    const entry = {
      producerId: 1000, epoch: 0, lastSequence: 9, lastOffset: 9, offsetDelta: 9, timestamp: 1700000000000, coordinatorEpoch: -1,
      transactionStart: -1,
    }
    const bytes = encodeProducerSnapshot([entry])
    expect(hex(bytes)).toBe('00013a39972f0000000100000000000003e80000000000090000000000000009000000090000018bcfe56800ffffffffffffffffffffffff')
    expect(decodeProducerSnapshot(bytes)).toEqual([entry])
  })

  test('a snapshot with a number beyond 2^53 - 1 is refused, though its checksum is right', () => {
    const known = state()
    append(known, { sequence: 0, records: 3 })
    const bytes = encodeProducerSnapshot(known.entries())
    const view = new DataView(bytes.buffer, bytes.byteOffset)
    for (const at of [10, 24, 36, 48]) {
      const kept = view.getBigInt64(at)
      view.setBigInt64(at, 2n ** 53n)
      view.setUint32(2, crc32c(bytes, 6))
      expect(decodeProducerSnapshot(bytes)).toBeUndefined()
      view.setBigInt64(at, kept)
    }
    view.setUint32(2, crc32c(bytes, 6))
    expect(decodeProducerSnapshot(bytes)).toEqual(known.entries())
  })

  test('a snapshot with any bit flipped or any end missing is refused', () => {
    const known = state()
    append(known, { sequence: 0, records: 3 })
    const bytes = encodeProducerSnapshot(known.entries())
    for (let length = 0; length < bytes.length; length++) expect(decodeProducerSnapshot(bytes.slice(0, length))).toBeUndefined()
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = bytes.slice()
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      expect(decodeProducerSnapshot(flipped), `bit ${bit}`).toBeUndefined()
    }
  })
})
