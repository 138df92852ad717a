import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BytesReader } from '../../../src/base/bytes-reader.ts'
import { BytesWriter, utf8Length } from '../../../src/base/bytes-writer.ts'
import { uvarintSize, varintSize, varlongSize } from '../../../src/base/varint.ts'
import { uuidFromBytes } from '../../../src/base/uuid.ts'

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const safe = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 2 ** 31, -(2 ** 31) - 1, 2 ** 30, -(2 ** 30) - 1))

/** What may be written: value, how to write it, how to read it back. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('int8' as const), value: fc.integer({ min: -128, max: 127 }) }),
  fc.record({ kind: fc.constant('int16' as const), value: fc.integer({ min: -32768, max: 32767 }) }),
  fc.record({ kind: fc.constant('uint16' as const), value: fc.integer({ min: 0, max: 65535 }) }),
  fc.record({ kind: fc.constant('int32' as const), value: int32 }),
  fc.record({ kind: fc.constant('uint32' as const), value: uint32 }),
  fc.record({ kind: fc.constant('int64' as const), value: safe }),
  fc.record({ kind: fc.constant('uvarint' as const), value: uint32 }),
  fc.record({ kind: fc.constant('varint' as const), value: int32 }),
  fc.record({ kind: fc.constant('varlong' as const), value: safe }),
  fc.record({ kind: fc.constant('float64' as const), value: fc.double() }),
)

const uuid = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => uuidFromBytes(bytes))

describe('BytesWriter', () => {
  test('whatever is written is read back, across growth', () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const writer = new BytesWriter(1)
      for (const { kind, value } of steps) writer[kind](value)
      const reader = new BytesReader(writer.finish())
      for (const { kind, value } of steps) expect(reader[kind]()).toBe(value)
      expect(reader.remaining).toBe(0)
    }))
  })

  test('int64 and int64Raw write the same bytes', () => {
    fc.assert(fc.property(safe, (value) => {
      const [one, other] = [new BytesWriter(8), new BytesWriter(8)]
      one.int64(value)
      other.int64Raw(BigInt(value))
      expect(one.finish()).toEqual(other.finish())
      expect(new BytesReader(one.finish()).int64Raw()).toBe(BigInt(value))
    }))
  })

  test('varints are the zigzag base-128 form of their 64-bit value', () => {
    fc.assert(fc.property(safe, (value) => {
      let rest = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n))
      const expected: number[] = []
      while (rest >= 0x80n) {
        expected.push(Number(rest & 0x7fn) | 0x80)
        rest >>= 7n
      }
      expected.push(Number(rest))
      const writer = new BytesWriter(1)
      writer.varlong(value)
      expect([...writer.finish()]).toEqual(expected)
    }))
  })

  test('the sizes foretell what is written', () => {
    fc.assert(fc.property(uint32, int32, safe, (unsigned, signed, long) => {
      const writer = new BytesWriter(1)
      const written = (write: () => void): number => {
        const before = writer.position
        write()
        return writer.position - before
      }
      expect(uvarintSize(unsigned)).toBe(written(() => writer.uvarint(unsigned)))
      expect(varintSize(signed)).toBe(written(() => writer.varint(signed)))
      expect(varlongSize(long)).toBe(written(() => writer.varlong(long)))
    }))
  })

  test('utf8 writes what TextEncoder writes, and utf8Length knows how much', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.constantFrom('', '\ud800', 'x\udc00', '\ud800\ud800'), (text, lone) => {
      const writer = new BytesWriter(1)
      const encoded = new TextEncoder().encode(text + lone)
      expect(writer.utf8(text + lone)).toBe(encoded.length)
      expect(writer.finish()).toEqual(encoded)
      expect(utf8Length(text + lone)).toBe(encoded.length)
    }))
  })

  test('uuids are read back', () => {
    fc.assert(fc.property(fc.array(uuid), (ids) => {
      const writer = new BytesWriter(1)
      for (const id of ids) writer.uuid(id)
      const reader = new BytesReader(writer.finish())
      for (const id of ids) expect(reader.uuid()).toBe(id)
    }))
  })

  test('an integer outside ±(2^53 - 1) is a bug of the caller', () => {
    expect(() => new BytesWriter().int64(2 ** 53)).toThrow('invariant broken')
    expect(() => new BytesWriter().varlong(-(2 ** 53))).toThrow('invariant broken')
    expect(() => new BytesWriter().int64(0.5)).toThrow('invariant broken')
  })

  test('pieces keep their place between own bytes and are not copied', () => {
    const big = Uint8Array.of(10, 11, 12)
    const writer = new BytesWriter(2)
    const size = writer.reserve(4)
    writer.int8(1)
    writer.piece(big)
    writer.piece(new Uint8Array(0))
    writer.piece(Uint8Array.of(20))
    writer.int8(2)
    writer.patchInt32(size, writer.length - 4)
    const pieces = writer.pieces()
    expect(pieces.map((piece) => [...piece])).toEqual([[0, 0, 0, 6, 1], [10, 11, 12], [20], [2]])
    expect(pieces[1]).toBe(big)
    expect([...writer.finish()]).toEqual([0, 0, 0, 6, 1, 10, 11, 12, 20, 2])
    expect(() => writer.written()).toThrow('no single view')
  })

  test('reset keeps the buffer, and what finish gave stays as it was', () => {
    const writer = new BytesWriter(16)
    const buffer = writer.bytes
    writer.int32(1)
    writer.piece(Uint8Array.of(5))
    const first = writer.finish()
    writer.reset()
    expect(writer.length).toBe(0)
    expect(writer.pieces()).toEqual([])
    writer.int32(-1)
    expect(writer.bytes).toBe(buffer)
    expect([...first]).toEqual([0, 0, 0, 1, 5])
    expect([...writer.written()]).toEqual([255, 255, 255, 255])
  })

  test('raw copies ranges short and long', () => {
    const source = Uint8Array.from({ length: 200 }, (_, index) => index)
    const writer = new BytesWriter(1)
    writer.raw(source, 1, 4)
    writer.raw(source, 0, 100)
    writer.raw(source)
    expect(writer.finish()).toEqual(Uint8Array.from([1, 2, 3, ...source.subarray(0, 100), ...source]))
  })
})
