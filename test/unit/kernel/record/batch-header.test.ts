import { describe, expect, test } from 'vitest'
import * as header from '../../../../src/kernel/record/batch-header.ts'
import { build, sample } from './sample-records.ts'

const shifted = (bytes: Uint8Array, by: number): Uint8Array => {
  const moved = new Uint8Array(bytes.length + by)
  moved.set(bytes, by)
  return moved
}

describe('batch header', () => {
  const fields = {
    baseOffset: 2 ** 40 + 3, leaderEpoch: 9, producerId: 2 ** 50 + 1, producerEpoch: 32767, baseSequence: 2147483646, transactional: true,
  }
  const batch = shifted(build([sample('a'), sample('b', null, 1_700_000_000_005), sample('c')], fields), 7)

  test('every field is read where it lies, at any position', () => {
    expect(header.baseOffsetOf(batch, 7)).toBe(2 ** 40 + 3)
    expect(header.batchBytesOf(batch, 7)).toBe(batch.length - 7)
    expect(header.leaderEpochOf(batch, 7)).toBe(9)
    expect(header.magicOf(batch, 7)).toBe(2)
    expect(header.attributesOf(batch, 7)).toBe(0x10)
    expect(header.codecOf(batch, 7)).toBe(0)
    expect(header.isTransactional(batch, 7)).toBe(true)
    expect(header.isControl(batch, 7)).toBe(false)
    expect(header.isLogAppendTime(batch, 7)).toBe(false)
    expect(header.hasDeleteHorizon(batch, 7)).toBe(false)
    expect(header.lastOffsetDeltaOf(batch, 7)).toBe(2)
    expect(header.lastOffsetOf(batch, 7)).toBe(2 ** 40 + 5)
    expect(header.baseTimestampOf(batch, 7)).toBe(1_700_000_000_000)
    expect(header.maxTimestampOf(batch, 7)).toBe(1_700_000_000_005)
    expect(header.producerIdOf(batch, 7)).toBe(2 ** 50 + 1)
    expect(header.producerEpochOf(batch, 7)).toBe(32767)
    expect(header.baseSequenceOf(batch, 7)).toBe(2147483646)
    expect(header.recordsCountOf(batch, 7)).toBe(3)
    expect(header.crcValid(batch, 7)).toBe(true)
  })

  test('quirk 29: sequences wrap from 2147483647 to 0', () => {
    expect(header.lastSequenceOf(batch, 7)).toBe(0)
    expect(header.sequenceAfter(2147483647, 1)).toBe(0)
    expect(header.sequenceAfter(2147483645, 2)).toBe(2147483647)
    expect(header.lastSequenceOf(build([sample('a')]), 0)).toBe(-1)
  })

  test('numbers of 16, 32 and 64 bits come back as they were put, negative ones too', () => {
    const bytes = new Uint8Array(16)
    const view = new DataView(bytes.buffer)
    for (const value of [0, 1, -1, 2 ** 31, -(2 ** 31), 2 ** 32, -(2 ** 32), 2 ** 53 - 1, -(2 ** 53) + 1]) {
      header.putInt64(bytes, 3, value)
      expect(header.readInt64(bytes, 3)).toBe(value)
      expect(view.getBigInt64(3)).toBe(BigInt(value))
    }
    for (const value of [0, -1, 32767, -32768, 255, -256]) {
      header.putInt16(bytes, 1, value)
      expect([header.readInt16(bytes, 1), view.getInt16(1)]).toEqual([value, value])
    }
  })

  test('quirk 26: the broker puts in offset and leader epoch without touching what the CRC covers', () => {
    const bytes = batch.slice()
    header.putBaseOffset(bytes, 7, 77)
    header.putLeaderEpoch(bytes, 7, 3)
    expect([header.baseOffsetOf(bytes, 7), header.leaderEpochOf(bytes, 7), header.crcValid(bytes, 7)]).toEqual([77, 3, true])
    expect(header.crcOf(bytes, 7)).toBe(header.crcOf(batch, 7))
  })

  test('quirk 26: log-append time sets the type bit, the maximum and the CRC', () => {
    const bytes = batch.slice()
    header.putLogAppendTime(bytes, 7, 1_800_000_000_000)
    expect(header.isLogAppendTime(bytes, 7)).toBe(true)
    expect(header.isTransactional(bytes, 7)).toBe(true)
    expect(header.maxTimestampOf(bytes, 7)).toBe(1_800_000_000_000)
    expect(header.baseTimestampOf(bytes, 7)).toBe(1_700_000_000_000)
    expect(header.crcValid(bytes, 7)).toBe(true)
  })

  test('a flipped bit behind the magic breaks the CRC', () => {
    for (const at of [21, 40, 61, batch.length - 8]) {
      const bytes = batch.slice()
      bytes[7 + at]! ^= 1
      expect(header.crcValid(bytes, 7)).toBe(false)
    }
  })
})
