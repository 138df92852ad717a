import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { crc32c, installCrc32c, uninstallCrc32c } from '../../../src/base/crc32c.ts'

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

/** One bit at a time, straight from the polynomial. */
function slowCrc(bytes: Uint8Array, seed = 0): number {
  let crc = ~seed
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0x82f63b78
  }
  return ~crc >>> 0
}

describe('crc32c', () => {
  afterEach(uninstallCrc32c)

  test('gives the values of RFC 3720 appendix B.4', () => {
    expect(crc32c(ascii('123456789'))).toBe(0xe3069283)
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa)
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43)
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, index) => index))).toBe(0x46dd794e)
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, index) => 31 - index))).toBe(0x113fdb5c)
  })

  test('equals the polynomial division bit by bit, for any bytes, range and seed', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(20), fc.nat(20), fc.integer({ min: 0, max: 2 ** 32 - 1 }), (bytes, skip, drop, seed) => {
      const start = Math.min(skip, bytes.length)
      const end = Math.max(start, bytes.length - drop)
      expect(crc32c(bytes, start, end, seed)).toBe(slowCrc(bytes.subarray(start, end), seed))
    }))
  })

  test('continues from a seed as if the parts were joined', () => {
    fc.assert(fc.property(fc.uint8Array(), fc.uint8Array(), (left, right) => {
      const joined = Uint8Array.from([...left, ...right])
      expect(crc32c(right, 0, right.length, crc32c(left))).toBe(crc32c(joined))
    }))
  })

  test('an accelerator serves long ranges only, with its range and seed', () => {
    const seen: number[] = []
    const native = (bytes: Uint8Array, seed: number): number => {
      seen.push(bytes.length)
      return slowCrc(bytes, seed) | 0
    }
    expect(installCrc32c(native)).toBe(true)
    seen.length = 0
    const bytes = Uint8Array.from({ length: 500 }, (_, index) => index & 0xff)
    expect(crc32c(bytes, 0, 50)).toBe(slowCrc(bytes.subarray(0, 50)))
    expect(seen).toEqual([])
    expect(crc32c(bytes, 10, 410, 77)).toBe(slowCrc(bytes.subarray(10, 410), 77))
    expect(seen).toEqual([400])
  })

  test('an accelerator that gives another result is refused', () => {
    expect(installCrc32c((bytes, seed) => slowCrc(bytes, seed) ^ 1)).toBe(false)
    expect(installCrc32c((bytes) => slowCrc(bytes))).toBe(false)
    expect(crc32c(new Uint8Array(500))).toBe(slowCrc(new Uint8Array(500)))
  })
})
