import { describe, expect, test } from 'vitest'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { batchesIn, isWholeBatch, RecordBatch } from '../../../../src/kernel/record/record-batch.ts'
import { build, sample, utf8 } from './sample-records.ts'

const joined = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]))

describe('RecordBatch', () => {
  const one = build([sample('a'), sample('b')], { baseOffset: 10, leaderEpoch: 2 })
  const two = build([sample('c')], { baseOffset: 12, producerId: 5, producerEpoch: 1, baseSequence: 0 })

  test('shows the header of the bytes it lies on', () => {
    const batch = new RecordBatch(joined(one, two), one.length)
    expect(batch).toMatchObject({
      baseOffset: 12, sizeBytes: two.length, leaderEpoch: -1, magic: 2, attributes: 0, codec: 0, isControl: false, isTransactional: false,
      isLogAppendTime: false, lastOffsetDelta: 0, lastOffset: 12, nextOffset: 13, producerId: 5, producerEpoch: 1, baseSequence: 0, lastSequence: 0,
      recordsCount: 1, isWhole: true, deleteHorizonMs: undefined,
    })
    expect(batch.crcValid()).toBe(true)
    expect([...batch.records()].map((record) => record.offset)).toEqual([12])
  })

  test('a batch with a delete horizon shows it', () => {
    const builder = new BatchBuilder()
    builder.setDeleteHorizon(77)
    builder.append(70, utf8('k'), null)
    expect(new RecordBatch(builder.finish()).deleteHorizonMs).toBe(77)
  })

  test('quirk 35: walking over a buffer gives the whole batches and leaves out a cut-off last one', () => {
    const all = joined(one, two, one)
    expect([...batchesIn(all)].length).toBe(3)
    const offsets: number[] = []
    for (const batch of batchesIn(all.subarray(0, all.length - 1))) offsets.push(batch.baseOffset)
    expect(offsets).toEqual([10, 12])
    expect([...batchesIn(one.subarray(0, 20))]).toEqual([])
    expect([...batchesIn(new Uint8Array(0))]).toEqual([])
  })

  test('hop says false at the end and stays where it is', () => {
    const batch = new RecordBatch(joined(one, two))
    expect([batch.hop(), batch.at, batch.hop(), batch.at]).toEqual([true, one.length, false, one.length])
  })

  test('zeros, as in a file written in advance, are no batch', () => {
    expect(isWholeBatch(new Uint8Array(100), 0)).toBe(false)
    const negative = one.slice()
    negative[8] = 0xff
    expect(isWholeBatch(negative, 0)).toBe(false)
  })
})
