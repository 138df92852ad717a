import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../../src/base/prng.ts'
import { crcValid, putBaseOffset, putLeaderEpoch } from '../../../../../src/kernel/record/batch-header.ts'
import {
  SumChain, batchSum, decodeSeal, encodeSeal, putCheck, putEntry, seedOf, sumEntryBytes, sumHeader, topicIdBytesOf,
} from '../../../../../src/plugins/storage-local/core/batch-sums.ts'
import { ByteRanges } from '../../../../../src/plugins/storage-local/core/byte-ranges.ts'
import { makeBatch } from '../../../../../src/testkit/conformance/log-store-subject.ts'

const cluster = 'Y2x1c3Rlci1vZi10ZXN0cw'
const id = { topicId: 'mKYwH6x0QDuRL3bZ1OyCmA', partition: 3 }

function batchAt(offset: number): Uint8Array {
  const batch = makeBatch([{ timestamp: 1000, value: 'a value' }], { producerId: 7, producerEpoch: 1, baseSequence: 4 })
  putBaseOffset(batch, 0, offset)
  putLeaderEpoch(batch, 0, 5)
  return batch
}

describe('the sum of a batch', () => {
  it('is another one when any bit of the batch is, or its CRC is wrong', () => {
    const seed = seedOf(sumHeader(cluster, id, 100))
    const batch = batchAt(107)
    const sum = batchSum(batch, 0, 4711, seed)
    for (let bit = 0; bit < batch.length * 8; bit++) {
      const other = batch.slice()
      other[bit >> 3]! ^= 1 << (bit & 7)
      // Beyond the length and magic, so that the CRC is looked at where it is.
      expect(batchSum(other, 0, 4711, seed) !== sum || (bit >= 61 * 8 && !crcValid(other, 0)), `bit ${bit}`).toBe(true)
    }
  })

  it('is of one cluster, topic, partition, segment and position', () => {
    const batch = batchAt(107)
    const sums = [
      [cluster, id, 100, 4711], ['another cluster', id, 100, 4711], [cluster, { ...id, partition: 2 }, 100, 4711],
      [cluster, { ...id, topicId: 'mKYwH6x0QDuRL3bZ1OyCmQ' }, 100, 4711], [cluster, id, 99, 4711], [cluster, id, 100, 4712],
    ].map(([name, partition, base, position]) => batchSum(batch, 0, position as number, seedOf(sumHeader(name as string, partition as typeof id, base as number))))
    expect(new Set(sums).size).toBe(sums.length)
  })
})

/** The body of a file: entries, and a seal. */
function entries(count: number, seed: number): Uint8Array {
  const bytes = new Uint8Array((count + 2) * sumEntryBytes)
  let check = seed
  for (let index = 0; index < count; index++) {
    putEntry(bytes, index * sumEntryBytes, index * 3, index * 100, 12345 * index)
    check = putCheck(bytes, index * sumEntryBytes, check)
  }
  bytes.set(encodeSeal({ kind: 'closed', sizeBytes: count * 100, endOffset: 1000 + count * 3, indexCrc: 0xfedc_ba98, timeIndexCrc: 0x8000_0001 }, 1000, check), count * sumEntryBytes)
  return bytes
}

describe('the entries', () => {
  const seed = seedOf(sumHeader(cluster, id, 1000))

  it('and the seal are told to be wrong when any bit of them is another', () => {
    const bytes = entries(5, seed)
    expect(new SumChain(seed).follow(bytes, 0, bytes.length)).toBeUndefined()
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const other = bytes.slice()
      other[bit >> 3]! ^= 1 << (bit & 7)
      expect(new SumChain(seed).follow(other, 0, other.length), `bit ${bit}`).toBeDefined()
    }
  })

  it('of another segment, or of before, are told to be wrong, whole or in part', () => {
    const bytes = entries(20, seed)
    const others = entries(20, seedOf(sumHeader(cluster, id, 1001)))
    for (let first = 0; first < 20; first += 4) {
      const mixed = bytes.slice()
      mixed.set(others.subarray(first * sumEntryBytes, (first + 4) * sumEntryBytes), first * sumEntryBytes)
      expect(new SumChain(seed).follow(mixed, 0, mixed.length), `entries ${first} to ${first + 3}`).toBeDefined()
    }
    expect(new SumChain(seed).follow(others, 0, others.length)).toBe('entry 0 is not what was written')
  })

  it('can be followed in pieces', () => {
    const bytes = entries(9, seed)
    const chain = new SumChain(seed)
    for (let at = 0; at < bytes.length; at += 3 * sumEntryBytes) expect(chain.follow(bytes, at, Math.min(bytes.length, at + 3 * sumEntryBytes))).toBeUndefined()
  })

  it('end with a seal that says what it was given, and no entry is taken for one', () => {
    const bytes = entries(4, seed)
    expect(decodeSeal(bytes, 4 * sumEntryBytes, 1000)).toEqual({ kind: 'closed', sizeBytes: 400, endOffset: 1012, indexCrc: 0xfedc_ba98, timeIndexCrc: 0x8000_0001 })
    for (let index = 0; index < 4; index++) expect(decodeSeal(bytes, index * sumEntryBytes, 1000)).toBeUndefined()
  })

  it('have a header that names the topic, if it is whole', () => {
    const header = sumHeader(cluster, id, 0)
    const other = sumHeader(cluster, { ...id, topicId: 'mKYwH6x0QDuRL3bZ1OyCmQ' }, 0)
    expect(topicIdBytesOf(header)).toEqual(header.slice(8, 24))
    expect(topicIdBytesOf(header)).not.toEqual(topicIdBytesOf(other))
    for (let bit = 0; bit < 40 * 8; bit++) {
      const damaged = header.slice()
      damaged[bit >> 3]! ^= 1 << (bit & 7)
      expect(topicIdBytesOf(damaged)).toBeUndefined()
    }
  })
})

describe('ranges of bytes', () => {
  it('cover what a set of bytes does, after any additions and cuts', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const prng = new Prng(seed)
      const ranges = new ByteRanges()
      const bytes = new Set<number>()
      for (let step = 0; step < 30; step++) {
        const start = prng.below(60)
        const end = start + prng.below(15)
        if (prng.chance(0.15)) {
          ranges.cut(start)
          for (const byte of bytes) if (byte >= start) bytes.delete(byte)
        } else {
          ranges.add(start, end)
          for (let byte = start; byte < end; byte++) bytes.add(byte)
        }
        const [from, to] = [prng.below(60), prng.below(75)]
        if (from >= to) continue
        const all = Array.from({ length: to - from }, (_, index) => bytes.has(from + index)).every(Boolean)
        expect(ranges.covers(from, to), `seed ${seed}, step ${step}: [${from}, ${to})`).toBe(all)
        let runs = 0
        for (const byte of bytes) if (!bytes.has(byte - 1)) runs++
        expect(ranges.count, `seed ${seed}, step ${step}`).toBe(runs)
      }
    }
  })
})
