import { describe, expect, test } from 'vitest'
import { Prng } from '../../../../../src/base/prng.ts'
import { putBaseOffset } from '../../../../../src/kernel/record/batch-header.ts'
import { OffsetIndex } from '../../../../../src/plugins/storage-local/core/offset-index.ts'
import { SegmentIndexes } from '../../../../../src/plugins/storage-local/core/segment-indexes.ts'
import { TimeIndex } from '../../../../../src/plugins/storage-local/core/time-index.ts'
import { makeBatch } from '../../../../../src/testkit/conformance/log-store-subject.ts'
import { seedOf } from '../../../../integration/seeds.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const seed = seedOf(1)

describe('OffsetIndex', () => {
  test('the bytes are pairs of relative offset and position', () => {
    const index = new OffsetIndex(1000)
    index.add(1004, 16)
    index.add(1300, 70_000)
    expect(hex(index.encode())).toBe('0000000400000010' + '0000012c00011170')
    expect(hex(index.encode(1))).toBe('0000012c00011170')
  })

  test(`floor finds what a scan finds (seed ${seed})`, () => {
    const random = new Prng(seed)
    const index = new OffsetIndex(50, 1)
    const entries: number[] = []
    for (let offset = 50, position = 0; entries.length < 300; offset += random.between(1, 9), position += random.between(61, 900)) {
      entries.push(offset)
      index.add(offset, position)
    }
    for (let offset = 40; offset < entries.at(-1)! + 10; offset++) {
      expect(index.floor(offset), `seed ${seed}`).toBe(entries.filter(entry => entry <= offset).length - 1)
    }
  })

  test('bytes that are no index are refused: not whole entries, not ascending, beyond the segment', () => {
    const index = new OffsetIndex(0)
    index.add(4, 100)
    index.add(9, 300)
    const bytes = index.encode()
    expect(OffsetIndex.decode(0, bytes, 301)!.count).toBe(2)
    expect(OffsetIndex.decode(0, bytes, 300)).toBeUndefined()
    for (let length = 1; length < bytes.length; length++) if (length !== 8) expect(OffsetIndex.decode(0, bytes.slice(0, length), 301)).toBeUndefined()
    expect(OffsetIndex.decode(0, new Uint8Array([...bytes, ...new Uint8Array(8)]), 301)).toBeUndefined()
    expect(OffsetIndex.decode(0, new Uint8Array(0), 0)!.count).toBe(0)
  })

  test('a truncation drops the entries at and behind a position', () => {
    const index = new OffsetIndex(0)
    index.add(4, 100)
    index.add(9, 300)
    index.truncate(300)
    expect([index.count, index.offsetAt(0)]).toEqual([1, 4])
  })
})

describe('TimeIndex', () => {
  test('the bytes are timestamp and relative offset, and equal timestamps add nothing', () => {
    const index = new TimeIndex(1000)
    index.add(-1, 1000)
    index.add(1_700_000_000_000, 1004)
    index.add(1_700_000_000_000, 1010)
    index.add(1_600_000_000_000, 1011)
    expect(hex(index.encode())).toBe('0000018bcfe5680000000004')
    expect([index.lastTimestamp, index.lastOffset]).toEqual([1_700_000_000_000, 1004])
  })

  test('an empty one counts as (-1, base offset)', () => {
    const index = new TimeIndex(77)
    expect([index.lastTimestamp, index.lastOffset, index.floor(5), index.floorByOffset(99)]).toEqual([-1, 77, -1, -1])
  })

  test('floors by timestamp and by offset', () => {
    const index = new TimeIndex(10)
    index.add(100, 12)
    index.add(200, 19)
    expect([99, 100, 199, 200, 999].map(timestamp => index.floor(timestamp))).toEqual([-1, 0, 0, 1, 1])
    expect([11, 12, 18, 19, 99].map(offset => index.floorByOffset(offset))).toEqual([-1, 0, 0, 1, 1])
  })

  test('bytes that are no time index are refused', () => {
    const index = new TimeIndex(0)
    index.add(100, 4)
    index.add(200, 9)
    const bytes = index.encode()
    expect(TimeIndex.decode(0, bytes, 10)!.count).toBe(2)
    expect(TimeIndex.decode(0, bytes, 9)).toBeUndefined()
    expect(TimeIndex.decode(0, bytes.slice(0, 13), 10)).toBeUndefined()
    expect(TimeIndex.decode(0, new Uint8Array([...bytes, ...new Uint8Array(12)]), 10)).toBeUndefined()
  })
})

describe('SegmentIndexes', () => {
  const count = (indexes: SegmentIndexes, batches: readonly (readonly [offset: number, timestamp: number])[], interval: number): void => {
    let position = 0
    for (const [offset, timestamp] of batches) {
      const batch = makeBatch([{ timestamp, value: '' }])
      putBaseOffset(batch, 0, offset)
      indexes.count(batch, 0, batch.length, position, interval)
      position += batch.length
    }
  }
  const size = makeBatch([{ timestamp: 1, value: '' }]).length

  test('an entry is made for the batch before which more than the interval was counted; the first batch has none', () => {
    const indexes = SegmentIndexes.empty(0)
    count(indexes, [0, 1, 2, 3, 4, 5, 6].map(offset => [offset, 1]), size * 2)
    const entries = Array.from({ length: indexes.offsets.count }, (_, index) => [indexes.offsets.offsetAt(index), indexes.offsets.positionAt(index)])
    expect(entries).toEqual([[3, size * 3], [6, size * 6]])
  })

  test('a time entry names the batch that has the largest timestamp so far, and is only made when it has grown', () => {
    const indexes = SegmentIndexes.empty(0)
    count(indexes, [[0, 5], [1, 50], [2, 7], [3, 8], [4, 9], [5, 60], [6, 60]], size)
    const times = () => Array.from({ length: indexes.times.count }, (_, index) => [indexes.times.timestampAt(index), indexes.times.offsetAt(index)])
    expect(times()).toEqual([[50, 1], [60, 5]])
    indexes.close()
    expect(times()).toEqual([[50, 1], [60, 5]])
  })

  test('closing adds the largest timestamp', () => {
    const indexes = SegmentIndexes.empty(0)
    count(indexes, [[0, 5], [1, 50], [2, 7]], 10_000)
    expect(indexes.times.count).toBe(0)
    indexes.close()
    expect([indexes.times.lastTimestamp, indexes.times.lastOffset]).toEqual([50, 1])
  })

  test('the segment is full when one index is, and the time index keeps room for its last entry', () => {
    const indexes = SegmentIndexes.empty(0)
    count(indexes, [0, 1, 2].map(offset => [offset, offset]), 0)
    expect(indexes.offsets.count).toBe(2)
    expect([indexes.isFull(16), indexes.isFull(24), indexes.isFull(47), indexes.isFull(48)]).toEqual([true, true, true, false])
  })
})
