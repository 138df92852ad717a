import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Prng } from '../../../src/base/prng.ts'
import { isUuid, randomUuid, readUuid, uuidBytes, uuidFromBytes, zeroUuid } from '../../../src/base/uuid.ts'

const sixteen = fc.uint8Array({ minLength: 16, maxLength: 16 })

describe('uuid', () => {
  test('is the URL-safe base64 of the bytes without padding, both ways', () => {
    fc.assert(fc.property(sixteen, (bytes) => {
      const text = uuidFromBytes(bytes)
      expect(text).toBe(Buffer.from(bytes).toString('base64url'))
      expect([...uuidBytes(text)]).toEqual([...bytes])
      expect(isUuid(text)).toBe(true)
    }))
  })

  test('the zero id is sixteen zero bytes', () => {
    expect(uuidFromBytes(new Uint8Array(16))).toBe(zeroUuid)
    expect([...uuidBytes(zeroUuid)]).toEqual(new Array(16).fill(0))
  })

  test('the cache never gives the text of other bytes', () => {
    // Ids that differ in one bit, each read twice and in turn, so that slots are shared and refilled.
    const ids: Uint8Array[] = []
    for (let bit = 0; bit < 128; bit++) {
      const bytes = new Uint8Array(16)
      bytes[bit >> 3] = 1 << (bit & 7)
      ids.push(bytes)
    }
    for (let round = 0; round < 2; round++) {
      for (const bytes of ids) expect(readUuid(new DataView(bytes.buffer), 0)).toBe(Buffer.from(bytes).toString('base64url'))
    }
  })

  test.each(['', 'AAAAAAAAAAAAAAAAAAAAA', 'AAAAAAAAAAAAAAAAAAAAAAA', 'AAAAAAAAAAAAAAAAAAAAA=', 'AAAAAAAAAAAAAAAAAAAA+A', 'AAAAAAAAAAAAAAAAAAAAAB', 'ÄAAAAAAAAAAAAAAAAAAAAA'])(
    'refuses %j', (text) => {
      expect(isUuid(text)).toBe(false)
      expect(() => uuidBytes(text)).toThrow(RangeError)
    })

  test('a random id is of version 4 and does not begin with a dash', () => {
    const prng = new Prng(4)
    const seen = new Set<string>()
    for (let count = 0; count < 2000; count++) {
      const id = randomUuid(() => prng.uint32())
      const bytes = uuidBytes(id)
      expect(bytes[6]! >> 4).toBe(4)
      expect(bytes[8]! >> 6).toBe(2)
      expect(id[0]).not.toBe('-')
      seen.add(id)
    }
    expect(seen.size).toBe(2000)
  })
})
