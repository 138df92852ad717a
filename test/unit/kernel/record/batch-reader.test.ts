import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { putCrc, putInt32, putLogAppendTime } from '../../../../src/kernel/record/batch-header.ts'
import { BatchReader } from '../../../../src/kernel/record/batch-reader.ts'
import { codecGzip } from '../../../../src/kernel/record/compression-codec.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { anyRecords, build, plain, sample, utf8 } from './sample-records.ts'

const compression = new NodeCompression()

const codeOf = (work: () => unknown): string | undefined => {
  try {
    work()
  } catch (error) {
    return isMillraceError(error) ? error.code : String(error)
  }
  return undefined
}

describe('BatchReader and BatchBuilder', () => {
  test('what was built is read, for any records and codec', () => {
    const builder = new BatchBuilder(compression, 64)
    const reader = new BatchReader(compression)
    fc.assert(fc.property(anyRecords, fc.constantFrom(0, 1, 2, 3, 4), fc.nat(2 ** 40), (records, codec, baseOffset) => {
      const bytes = build(records, { codec: codec as 0, baseOffset }, builder)
      const read = [...reader.open(bytes)]
      expect(read.map(plain)).toEqual(records.map(plain))
      expect(read.map((record) => record.offset)).toEqual(records.map((_record, index) => baseOffset + index))
    }), { numRuns: 200 })
  })

  test('the cursor gives the parts without making a record', () => {
    const reader = new BatchReader()
    reader.open(build([sample('v', 'k', 5, [{ key: 'h', value: null }]), sample(null)]))
    expect(reader.remaining).toBe(2)
    expect(reader.next()).toBe(true)
    expect([reader.offset, reader.timestamp, reader.keyLength, reader.valueLength, reader.headersCount]).toEqual([0, 5, 1, 1, 1])
    expect([reader.key(), reader.value(), reader.headers()]).toEqual([utf8('k'), utf8('v'), [{ key: 'h', value: null }]])
    expect(reader.next()).toBe(true)
    expect([reader.key(), reader.value(), reader.headers(), reader.remaining]).toEqual([null, null, [], 0])
    expect(reader.next()).toBe(false)
    expect(reader.next()).toBe(false)
  })

  test('a key of no bytes is not a key that is absent', () => {
    const [record] = [...new BatchReader().open(build([sample('', '')]))]
    expect([record!.key, record!.value]).toEqual([new Uint8Array(0), new Uint8Array(0)])
  })

  test('views are not copies', () => {
    const bytes = build([sample('value', 'key')])
    const [record] = [...new BatchReader().open(bytes)]
    expect(record!.value!.buffer).toBe(bytes.buffer)
  })

  test('with log-append time every record has the batch\'s maximum', () => {
    const bytes = build([sample('a', null, 10), sample('b', null, 20)])
    putLogAppendTime(bytes, 0, 99)
    expect([...new BatchReader().open(bytes)].map((record) => record.timestamp)).toEqual([99, 99])
    const same = build([sample('a', null, 10), sample('b', null, 20)], { logAppendTime: 99 })
    expect(same).toEqual(bytes)
  })

  test('quirk 39: an empty batch that compaction left has no records and keeps its last offset', () => {
    const bytes = new BatchBuilder().finish({ baseOffset: 10, lastOffsetDelta: 4 })
    expect([...new BatchReader().open(bytes)]).toEqual([])
    expect(bytes).toHaveLength(61)
  })

  test('gaps in the offsets, and a delete horizon, are kept', () => {
    const builder = new BatchBuilder()
    builder.setDeleteHorizon(1_800_000_000_000)
    builder.append(1_700_000_000_000, utf8('a'), null, [], 2)
    builder.append(1_700_000_000_001, utf8('b'), null, [], 7)
    const bytes = builder.finish({ baseOffset: 100, lastOffsetDelta: 9 })
    expect([...new BatchReader().open(bytes)].map((record) => [record.offset, record.timestamp])).toEqual([
      [102, 1_700_000_000_000], [107, 1_700_000_000_001],
    ])
    expect(() => builder.append(1, null, null, [], 7)).toThrow('offset deltas grow')
  })

  test('sizeWith is never less than what the append takes, and sizeBytes is what finish gives', () => {
    fc.assert(fc.property(anyRecords, (records) => {
      const builder = new BatchBuilder(undefined, 1)
      for (const record of records) {
        const promised = builder.sizeWith(record.key, record.value, record.headers)
        builder.append(record.timestamp, record.key, record.value, record.headers)
        expect(builder.sizeBytes).toBeLessThanOrEqual(promised)
      }
      expect(builder.finish()).toHaveLength(builder.sizeBytes)
      expect(builder.recordsCount).toBe(records.length)
    }))
  })

  test('a finished batch does not change when the builder goes on', () => {
    const builder = new BatchBuilder()
    builder.append(1, null, utf8('a'))
    const first = builder.finish()
    const copy = first.slice()
    builder.reset()
    builder.append(2, null, utf8('bbbb'))
    expect(builder.finishInPlace()).not.toEqual(copy)
    expect(first).toEqual(copy)
  })

  test('damaged records are refused as corrupt, never read beyond the batch', () => {
    const whole = build([sample('value', 'key', 5, [{ key: 'h', value: utf8('x') }]), sample('other')])
    fc.assert(fc.property(fc.integer({ min: 57, max: whole.length - 1 }), fc.integer({ min: 0, max: 255 }), (at, byte) => {
      const bytes = whole.slice()
      bytes[at] = byte
      const code = codeOf(() => [...new BatchReader().open(bytes)].map(plain))
      expect([undefined, 'MR_RECORD_CORRUPT']).toContain(code)
    }), { numRuns: 2000 })
  })

  test.each([
    ['shorter than a header', (bytes: Uint8Array) => bytes.subarray(0, 60)],
    ['cut off', (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 1)],
    ['of magic 1', (bytes: Uint8Array) => bytes.fill(1, 16, 17)],
    ['of a length below a header', (bytes: Uint8Array) => (putInt32(bytes, 8, 48), bytes)],
    ['counting fewer records than there are', (bytes: Uint8Array) => (putInt32(bytes, 57, 1), bytes)],
    ['counting more records than there are', (bytes: Uint8Array) => (putInt32(bytes, 57, 3), bytes)],
    ['counting -1 records', (bytes: Uint8Array) => (putInt32(bytes, 57, -1), bytes)],
    ['of codec 5', (bytes: Uint8Array) => (bytes[22] = 5, bytes)],
  ])('a batch %s is corrupt', (_what, spoil) => {
    const bytes = spoil(build([sample('a'), sample('b')]))
    expect(codeOf(() => [...new BatchReader(compression).open(bytes)])).toBe('MR_RECORD_CORRUPT')
  })

  test('a compressed batch is bounded, and needs a compression', () => {
    const bytes = build([sample('x'.repeat(5000))], { codec: codecGzip }, new BatchBuilder(compression))
    expect(codeOf(() => new BatchReader(compression, 4000).open(bytes))).toBe('MR_RECORD_DECOMPRESSED_TOO_LARGE')
    expect(codeOf(() => new BatchReader().open(bytes))).toBe('MR_RECORD_CODEC_UNAVAILABLE')
    putCrc(bytes, 0)
    expect([...new BatchReader(compression, 6000).open(bytes)]).toHaveLength(1)
  })
})
