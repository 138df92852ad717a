import { describe, expect, it } from 'vitest'
import { OffsetMap, offsetMapBytes, offsetMapEntryBytes } from '../../../../../src/kernel/log/offset-map.ts'

const secret = new Uint8Array(16).fill(5)
const key = (number: number): Uint8Array => new TextEncoder().encode(`key ${number}`)
const put = (map: OffsetMap, number: number, offset: number): boolean => map.put(key(number), 0, key(number).length, offset)
const get = (map: OffsetMap, number: number): number => map.get(key(number), 0, key(number).length)

describe('OffsetMap', () => {
  it('has the last offset of each of 20,000 keys when it is nine tenths full', () => {
    const map = new OffsetMap({ bytes: 22_224 * offsetMapEntryBytes, loadFactor: 0.9, secret, begin: 0 })
    for (let offset = 0; offset < 40_000; offset++) expect(put(map, offset % 20_000, offset)).toBe(true)
    for (let number = 0; number < 20_000; number++) expect(get(map, number)).toBe(number + 20_000)
    expect([get(map, 20_000), map.size, map.endOffset]).toEqual([-1, 20_000, 40_000])
  })

  it('refuses a key that finds no room, and still takes those that it has', () => {
    const map = new OffsetMap({ bytes: 10 * offsetMapEntryBytes, loadFactor: 0.5, secret, begin: 100 })
    for (let number = 0; number < 5; number++) expect(put(map, number, 100 + number)).toBe(true)
    expect(put(map, 5, 105)).toBe(false)
    expect([map.endOffset, map.utilization, get(map, 5)]).toEqual([105, 1, -1])
    expect(put(map, 2, 105)).toBe(true)
    expect([map.endOffset, get(map, 2)]).toEqual([106, 105])
  })

  it('takes a key in the least memory that it may be given', () => {
    const map = new OffsetMap({ bytes: 0, loadFactor: 0.1, secret, begin: 0 })
    expect([put(map, 1, 0), put(map, 2, 1), put(map, 1, 1)]).toEqual([true, false, true])
  })

  it('is as large as the keys that may come, within its bound', () => {
    const bytes = offsetMapBytes(1000, 0.9, 1 << 20)
    const map = new OffsetMap({ bytes, loadFactor: 0.9, secret, begin: 0 })
    for (let number = 0; number < 1000; number++) expect(put(map, number, number)).toBe(true)
    expect(bytes).toBeLessThan(30_000)
    expect(offsetMapBytes(1e9, 0.9, 1 << 20)).toBe(1 << 20)
  })

  it.each([
    { keys: 37, bytes: 60 * offsetMapEntryBytes, of: 'all that was overtaken' },
    { keys: 1, bytes: 16, of: 'the first 16 offsets' },
    { keys: 1, bytes: 0, of: 'none' },
  ])('knows of each record whether it is the last of its key, with room to remember $of', ({ keys, bytes }) => {
    const begin = 1000
    const map = new OffsetMap({ bytes, loadFactor: 1, secret, begin })
    const keyAt = (index: number): number => (index * index) % keys
    const lasts = new Map<number, number>()
    for (let index = 0; index < 300; index++) {
      expect(put(map, keyAt(index), begin + index)).toBe(true)
      lasts.set(keyAt(index), begin + index)
    }
    const isLast = (number: number, offset: number): boolean => map.isLast(offset, key(number), 0, key(number).length)
    for (let index = 0; index < 300; index++) expect(isLast(keyAt(index), begin + index), `offset ${begin + index}`).toBe(lasts.get(keyAt(index)) === begin + index)
    // Older ones, of the clean part.
    expect([isLast(keyAt(3), 5), isLast(999, 5)]).toEqual([false, true])
  })
})
