import { describe, expect, test } from 'vitest'
import { BytesReader } from '../../../src/base/bytes-reader.ts'
import { isBytesError, type BytesError } from '../../../src/base/bytes-error.ts'

const of = (...bytes: number[]): BytesReader => new BytesReader(Uint8Array.from(bytes))

function failure(read: () => unknown): BytesError {
  try {
    read()
  } catch (error) {
    if (isBytesError(error)) return error
    throw error
  }
  throw new Error('it was read')
}

describe('BytesReader', () => {
  test('reads big-endian integers one after another', () => {
    const reader = of(0xff, 0x80, 0xff, 0xfe, 0x80, 0x00, 0xff, 0xff, 0xff, 0xfd, 0xff, 0xff, 0xff, 0xfc)
    expect(reader.int8()).toBe(-1)
    expect(reader.uint8()).toBe(128)
    expect(reader.int16()).toBe(-2)
    expect(reader.uint16()).toBe(32768)
    expect(reader.int32()).toBe(-3)
    expect(reader.uint32()).toBe(4294967292)
    expect(reader.remaining).toBe(0)
  })

  test('reads at an offset inside a larger buffer', () => {
    const whole = Uint8Array.from([9, 9, 9, 0, 0, 0, 7, 9])
    const reader = new BytesReader(whole.subarray(2), 1, 5)
    expect(reader.int32()).toBe(7)
    expect(failure(() => reader.int8())).toMatchObject({ kind: 'short', what: 'int8', position: 5 })
  })

  test('int64 carries ±(2^53 - 1) and refuses one more with a range error', () => {
    const bytes = new Uint8Array(8)
    const view = new DataView(bytes.buffer)
    for (const value of [2n ** 53n - 1n, -(2n ** 53n) + 1n, 0n, -1n, 4294967296n, -4294967296n]) {
      view.setBigInt64(0, value)
      expect(new BytesReader(bytes).int64()).toBe(Number(value))
    }
    for (const value of [2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n)]) {
      view.setBigInt64(0, value)
      expect(failure(() => new BytesReader(bytes).int64())).toMatchObject({ kind: 'range', what: 'int64', position: 0 })
      expect(new BytesReader(bytes).int64Raw()).toBe(value)
    }
  })

  test('a varlong beyond ±(2^53 - 1) is a range error, one beyond 64 bits is malformed', () => {
    // zigzag of 2^53 is 2^54, of -2^53 is 2^54 - 1
    expect(failure(() => of(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20).varlong()).kind).toBe('range')
    expect(failure(() => of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f).varlong()).kind).toBe('range')
    expect(of(0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f).varlong()).toBe(Number.MAX_SAFE_INTEGER)
    expect(of(0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f).varlong()).toBe(-Number.MAX_SAFE_INTEGER)
    expect(failure(() => of(...new Array<number>(9).fill(0xff), 1).varlong()).kind).toBe('range')
    expect(failure(() => of(...new Array<number>(9).fill(0xff), 2).varlong()).kind).toBe('malformed')
    expect(failure(() => of(...new Array<number>(11).fill(0x80)).varlong()).kind).toBe('malformed')
  })

  test('a varint of more than 32 bits is malformed, one that ends early is short', () => {
    expect(of(0xff, 0xff, 0xff, 0xff, 0x0f).uvarint()).toBe(4294967295)
    expect(of(0xff, 0xff, 0xff, 0xff, 0x0f).varint()).toBe(-2147483648)
    expect(failure(() => of(0xff, 0xff, 0xff, 0xff, 0x10).uvarint())).toMatchObject({ kind: 'malformed', what: 'uvarint' })
    expect(failure(() => of(0x80, 0x80, 0x80, 0x80, 0x80, 0).varint())).toMatchObject({ kind: 'malformed', what: 'varint' })
    expect(failure(() => of(0x80).varint())).toMatchObject({ kind: 'short', position: 0 })
    expect(failure(() => of(0x80, 0x80).uvarint()).kind).toBe('short')
    expect(failure(() => of().uvarint()).kind).toBe('short')
  })

  test('an overlong varint is read as Kafka reads it', () => {
    expect(of(0x80, 0x00).uvarint()).toBe(0)
    expect(of(0x82, 0x80, 0x00).varint()).toBe(1)
  })

  test('a length that is negative or not a number is malformed', () => {
    expect(failure(() => of(1, 2).slice(-1))).toMatchObject({ kind: 'malformed', what: 'bytes' })
    expect(failure(() => of(1, 2).skip(Number.NaN)).kind).toBe('malformed')
    expect(failure(() => of(1, 2).utf8(3))).toMatchObject({ kind: 'short', what: 'string', position: 0 })
  })

  test('utf8 reads short and long text, keeps a byte order mark, and replaces what is not UTF-8', () => {
    for (const text of ['', 'orders', 'größe', 'a'.repeat(300), '日本語のトピック', '\ufeffx', '😀']) {
      const bytes = new TextEncoder().encode(text)
      const reader = new BytesReader(bytes)
      expect(reader.utf8(bytes.length)).toBe(text)
      expect(reader.remaining).toBe(0)
    }
    expect(of(0x61, 0xff, 0x62).utf8(3)).toBe('a\ufffdb')
  })

  test('slice shares the bytes, it does not copy them', () => {
    const bytes = Uint8Array.of(1, 2, 3, 4)
    const reader = new BytesReader(bytes)
    reader.skip(1)
    const slice = reader.slice(2)
    bytes[1] = 77
    expect([...slice]).toEqual([77, 3])
  })

  test('reset over the same bytes keeps the view, over others takes theirs', () => {
    const bytes = Uint8Array.of(1, 2, 3, 4)
    const reader = new BytesReader(bytes)
    const view = reader.view
    reader.reset(bytes, 2)
    expect(reader.view).toBe(view)
    expect(reader.int16()).toBe(0x0304)
    reader.reset(Uint8Array.of(0, 9))
    expect(reader.int16()).toBe(9)
    expect(() => reader.reset(bytes, 0, 5)).toThrow('outside the bytes')
  })
})
