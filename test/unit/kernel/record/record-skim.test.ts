import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BytesReader } from '../../../../src/base/bytes-reader.ts'
import { isBytesError } from '../../../../src/base/bytes-error.ts'
import { BytesWriter } from '../../../../src/base/bytes-writer.ts'
import { lookAtRecords, skim, skimRecords } from '../../../../src/kernel/record/record-skim.ts'
import { anyRecords, build, sample, utf8 } from './sample-records.ts'

/** The same rules, written plainly on the checked reader: what the skim accepts and refuses is measured against it. */
function plainlyRight(bytes: Uint8Array, start: number, end: number, count: number): boolean {
  const reader = new BytesReader(bytes, start, end)
  const skipBytes = (length: number): void => {
    if (length < -1) throw new RangeError('negative')
    if (length > 0) reader.skip(length)
  }
  try {
    for (let index = 0; index < count; index++) {
      const length = reader.varint()
      const recordEnd = reader.position + length
      if (length < 0 || recordEnd > end) return false
      reader.end = recordEnd
      reader.int8()
      reader.varlong()
      if (reader.varint() !== index) return false
      skipBytes(reader.varint())
      skipBytes(reader.varint())
      const headers = reader.varint()
      if (headers < 0) return false
      for (let header = 0; header < headers; header++) {
        reader.skip(reader.varint())
        skipBytes(reader.varint())
      }
      if (reader.position !== recordEnd) return false
      reader.end = end
    }
    return reader.position === end
  } catch (error) {
    if (isBytesError(error) || error instanceof RangeError) return false
    throw error
  }
}

/** Overlong varlongs, which no writer makes, are refused by the skim from the ninth byte on and read by the reader. */
const agrees = (bytes: Uint8Array, start: number, end: number, count: number): void => {
  expect(skimRecords(bytes, start, end, count)).toBe(plainlyRight(bytes, start, end, count))
}

describe('skimRecords', () => {
  test('accepts what builders make, and refuses it with one count more or less', () => {
    fc.assert(fc.property(anyRecords, (records) => {
      const bytes = build(records)
      expect(skimRecords(bytes, 61, bytes.length, records.length)).toBe(true)
      expect(plainlyRight(bytes, 61, bytes.length, records.length)).toBe(true)
      expect(skimRecords(bytes, 61, bytes.length, records.length + 1)).toBe(false)
      expect(skimRecords(bytes, 61, bytes.length, records.length - 1)).toBe(false)
    }))
  })

  test('agrees with the plain rules on damaged records, also where other bytes follow', () => {
    fc.assert(fc.property(
      anyRecords, fc.array(fc.tuple(fc.nat(), fc.oneof(fc.constantFrom(0, 1, 2, 0x7f, 0x80, 0xff), fc.integer({ min: 0, max: 255 }))), { minLength: 1, maxLength: 3 }), fc.nat(30),
      (records, changes, tail) => {
        const batch = build(records)
        const bytes = new Uint8Array(batch.length + tail).fill(0x80)
        bytes.set(batch)
        for (const [at, byte] of changes) bytes[61 + at % (batch.length - 61)] = byte
        agrees(bytes, 61, batch.length, records.length)
      }), { numRuns: 5000 })
  })

  test('agrees with the plain rules on bytes of no sense', () => {
    const dense = fc.array(fc.oneof(fc.constantFrom(0, 1, 2, 4, 12, 14, 0x80, 0xff), fc.integer({ min: 0, max: 255 })), { maxLength: 60 })
    fc.assert(fc.property(dense, fc.integer({ min: 0, max: 3 }), (values, count) => {
      agrees(Uint8Array.from(values), 0, values.length, count)
    }), { numRuns: 5000 })
  })

  test('every length and delta may take as many bytes as it likes', () => {
    const record = (...parts: readonly (readonly number[])[]): Uint8Array => {
      const body = parts.flat()
      const writer = new BytesWriter()
      writer.varint(body.length)
      writer.raw(Uint8Array.from(body))
      return writer.finish()
    }
    const padded = record([0], [0x80, 0x80, 0x80, 0], [0x80, 0x80, 0], [0x82, 0x80, 0x80, 0x80, 0], [65], [0x81, 0], [0x80, 0])
    expect(skimRecords(padded, 0, padded.length, 1)).toBe(true)
    const tooLong = record([0], [0], [0x80, 0x80, 0x80, 0x80, 0x10], [1], [1], [0])
    expect(skimRecords(tooLong, 0, tooLong.length, 1)).toBe(false)
    const negativeKey = record([0], [0], [0], [3], [1], [0])
    expect([skimRecords(negativeKey, 0, negativeKey.length, 1), skim.problemIndex]).toEqual([false, 0])
  })

  test('tells the range of timestamps and the records without a key', () => {
    const bytes = build([sample('a', 'k', 1000), sample('b', null, 900), sample('c', null, 9_000_000_000_000), sample('d', '', 1001)])
    expect(skimRecords(bytes, 61, bytes.length, 4)).toBe(true)
    expect(skim).toMatchObject({ deltaMin: -100, deltaMax: 8_999_999_999_000, keylessCount: 2, keylessFirst: 1 })
    const seen: unknown[] = []
    lookAtRecords(bytes, 61, 4, (index, delta, hasKey) => seen.push([index, delta, hasKey]))
    expect(seen).toEqual([[0, 0, true], [1, -100, false], [2, 8_999_999_999_000, false], [3, 1, true]])
  })

  test('a made-up number of headers is refused at once', () => {
    const bytes = build([sample('a', null, 1, [{ key: 'h', value: utf8('v') }])])
    const writer = new BytesWriter()
    writer.varint(2_000_000_000)
    const inflated = Uint8Array.from([...bytes.subarray(61, bytes.length - 5), ...writer.finish(), ...bytes.subarray(bytes.length - 4)])
    inflated[0]! += 8
    expect(skimRecords(inflated, 0, inflated.length, 1)).toBe(false)
    expect(skim.problem).toContain('parts')
  })
})
