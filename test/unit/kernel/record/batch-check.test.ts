import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { BatchReader } from '../../../../src/kernel/record/batch-reader.ts'
import { BatchCheck, stampBatch } from '../../../../src/kernel/record/batch-check.ts'
import {
  crcValid, isLogAppendTime, maxTimestampOf, putBaseOffset, putCrc, putInt32, putInt64, putLogAppendTime, putMaxTimestamp,
} from '../../../../src/kernel/record/batch-header.ts'
import { codecGzip, codecLz4, codecZstd, type CompressionCodec } from '../../../../src/kernel/record/compression-codec.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { anyRecords, build, sample, utf8 } from './sample-records.ts'

const compression = new NodeCompression()
const nowMs = 1_700_000_001_000
const rules = {
  batchCheck: 'records' as const, compact: false, maxMessageBytes: 1_048_588, timestampType: 'CreateTime' as const,
  timestampBeforeMaxMs: Infinity, timestampAfterMaxMs: Infinity,
}
const check = new BatchCheck(compression)
const passes = (bytes: Uint8Array, over: Partial<typeof rules> | object = {}): boolean => check.check(bytes, 0, bytes.length, { ...rules, ...over }, nowMs)

/** The code of the refusal; undefined when the batch passes. */
const refusal = (bytes: Uint8Array, over: object = {}): string | undefined => (passes(bytes, over) ? undefined : check.code)

/** Changes a good batch; the CRC is made right again, so that what is refused is what was changed. */
const changed = (change: (bytes: Uint8Array) => void, records = [sample('a', 'k'), sample('b', 'k')], codec: CompressionCodec = 0): Uint8Array => {
  const bytes = build(records, { codec }, new BatchBuilder(compression))
  change(bytes)
  if (bytes.length >= 61) putCrc(bytes, 0)
  return bytes
}

describe('BatchCheck', () => {
  test('quirk 27: whatever a builder makes passes, in every codec, and tells count and largest timestamp', () => {
    fc.assert(fc.property(anyRecords, fc.constantFrom(0, 1, 2, 3, 4), (records, codec) => {
      const bytes = build(records, { codec: codec as CompressionCodec }, new BatchBuilder(compression))
      expect(passes(bytes)).toBe(true)
      expect([check.recordsCount, check.codec, check.recordsChecked]).toEqual([records.length, codec, true])
      expect(check.maxTimestamp).toBe(Math.max(...records.map((record) => record.timestamp)))
      expect(check.maxTimestamp).toBe(maxTimestampOf(bytes, 0))
    }), { numRuns: 200 })
  })

  test('a batch inside a larger buffer is checked where it lies', () => {
    const batch = build([sample('a')])
    const slab = new Uint8Array(batch.length + 20).fill(0xee)
    slab.set(batch, 11)
    expect(check.check(slab, 11, batch.length, rules, nowMs)).toBe(true)
  })

  test.each([
    ['no bytes', () => new Uint8Array(0), 'MR_RECORD_BATCH_INVALID'],
    ['fewer bytes than a header', () => build([sample('a')]).slice(0, 60), 'MR_RECORD_CORRUPT'],
    ['magic 1', () => changed((bytes) => { bytes[16] = 1 }), 'MR_RECORD_BATCH_INVALID'],
    ['an old message set, shorter than a header', () => Uint8Array.from({ length: 40 }, () => 1), 'MR_RECORD_BATCH_INVALID'],
    ['a length below a header', () => changed((bytes) => putInt32(bytes, 8, 48)), 'MR_RECORD_CORRUPT'],
    ['a negative length', () => changed((bytes) => { putInt32(bytes, 8, -1) }), 'MR_RECORD_CORRUPT'],
    ['a batch cut off', () => build([sample('a')]).slice(0, -1), 'MR_RECORD_BATCH_INVALID'],
    ['two batches', () => Uint8Array.from([...build([sample('a')]), ...build([sample('b')])]), 'MR_RECORD_BATCH_INVALID'],
    ['a base offset', () => changed((bytes) => putBaseOffset(bytes, 0, 1)), 'MR_RECORD_BATCH_INVALID'],
    ['codec 5', () => changed((bytes) => { bytes[22] = 5 }), 'MR_RECORD_BATCH_INVALID'],
    ['no records', () => new BatchBuilder().finish(), 'MR_RECORD_BATCH_INVALID'],
    ['a last offset that does not fit', () => changed((bytes) => putInt32(bytes, 23, 2)), 'MR_RECORD_BATCH_INVALID'],
    ['a control batch', () => build([sample('a', 'k')], { control: true }), 'MR_RECORD_BATCH_INVALID'],
    ['a producer id without a sequence', () => build([sample('a')], { producerId: 3, producerEpoch: 0 }), 'MR_RECORD_BATCH_INVALID'],
    ['a producer id of -2', () => changed((bytes) => putInt64(bytes, 43, -2)), 'MR_RECORD_BATCH_INVALID'],
    ['a producer id beyond 2^53', () => changed((bytes) => { bytes[43] = 0x7f; putInt32(bytes, 53, 0) }), 'MR_RECORD_BATCH_INVALID'],
    ['a maximum timestamp beyond 2^53', () => changed((bytes) => { bytes[35] = 0x7f }), 'MR_RECORD_TIMESTAMP_INVALID'],
    ['a base timestamp at the edge and a delta over it', () => changed((bytes) => putInt64(bytes, 27, Number.MAX_SAFE_INTEGER), [sample('a', null, 1), sample('b', null, 2)]), 'MR_RECORD_TIMESTAMP_INVALID'],
    ['log-append time set by the producer', () => changed((bytes) => putLogAppendTime(bytes, 0, nowMs)), 'MR_RECORD_TIMESTAMP_INVALID'],
  ])('quirk 26: %s is refused', (_what, make, code) => {
    expect(refusal(make())).toBe(code)
    expect(check.reason).not.toBe('')
    expect(refusal(make(), { batchCheck: 'header' })).toBe(code === 'MR_RECORD_TIMESTAMP_INVALID' && _what.startsWith('a base') ? undefined : code)
  })

  test('quirk 26: a flipped bit anywhere behind the magic is a CRC error, but for bytes that are looked at before', () => {
    const good = build([sample('value', 'key', nowMs, [{ key: 'h', value: utf8('x') }])])
    for (let at = 17; at < good.length; at++) {
      const bytes = good.slice()
      bytes[at]! ^= 0x10
      expect(refusal(bytes, { batchCheck: 'header' })).toBe('MR_RECORD_CORRUPT')
    }
  })

  test('quirk 27: a batch over max.message.bytes is refused, one of exactly that size is not', () => {
    const bytes = build([sample('x'.repeat(1000))])
    expect(refusal(bytes, { maxMessageBytes: bytes.length - 1 })).toBe('MR_RECORD_TOO_LARGE')
    expect(refusal(bytes, { maxMessageBytes: bytes.length })).toBeUndefined()
  })

  test('a wrong offset delta, length or header count names its record', () => {
    const records = [sample('aaaa'), sample('bbbb'), sample('cccc')]
    const size = (build(records).length - 61) / 3
    for (const [at, byte] of [[0, 100], [0, 2], [0, 0x80], [3, 0], [4, 3], [5, 100], [5, 3], [size - 1, 2], [size - 1, 1]] as const) {
      const bytes = changed((good) => { good[61 + size + at] = byte }, records)
      expect(refusal(bytes)).toBe('MR_RECORD_BATCH_INVALID')
      expect([check.recordIndex, check.reason.startsWith('record 1: ')]).toEqual([1, true])
    }
  })

  test('any byte changed among the records either leaves them readable or is refused', () => {
    const records = [sample('value', 'key', nowMs, [{ key: 'head', value: utf8('x') }, { key: '', value: null }]), sample(null, 'k'), sample('v', null, nowMs + 5)]
    const builder = new BatchBuilder(compression)
    const good = build(records, {}, builder)
    fc.assert(fc.property(fc.integer({ min: 61, max: good.length - 1 }), fc.integer({ min: 0, max: 255 }), (at, byte) => {
      const bytes = changed((whole) => { whole[at] = byte }, records)
      if (!passes(bytes)) return
      let index = 0
      for (const record of new BatchReader().open(bytes)) {
        expect(record.offset).toBe(index++)
        expect(record.headers.length).toBeGreaterThanOrEqual(0)
      }
      expect(index).toBe(3)
    }), { numRuns: 3000 })
  })

  test('records that end early or leave bytes over are refused', () => {
    expect(refusal(changed((bytes) => { putInt32(bytes, 57, 1); putInt32(bytes, 23, 0) }))).toBe('MR_RECORD_BATCH_INVALID')
    expect(check.recordIndex).toBe(-1)
    expect(refusal(changed((bytes) => { putInt32(bytes, 57, 3); putInt32(bytes, 23, 2) }))).toBe('MR_RECORD_BATCH_INVALID')
    expect(check.recordIndex).toBe(2)
  })

  test('quirk 27: a compacted topic refuses records without a key and names all of them', () => {
    const bytes = build([sample('a', 'k'), sample('b'), sample('c', 'k'), sample('d')])
    expect(refusal(bytes, { compact: true })).toBe('MR_RECORD_BATCH_INVALID')
    expect([check.recordIndex, check.badRecords]).toEqual([1, [1, 3]])
    expect(refusal(bytes)).toBeUndefined()
    expect([check.recordIndex, check.badRecords]).toEqual([-1, []])
    expect(refusal(build([sample('a', '')]), { compact: true })).toBeUndefined()
  })

  test('quirk 27: so it does when the batch is compressed', () => {
    const bytes = build([sample('a', 'k'), sample('b')], { codec: codecZstd }, new BatchBuilder(compression))
    expect(refusal(bytes, { compact: true })).toBe('MR_RECORD_BATCH_INVALID')
    expect(check.badRecords).toEqual([1])
  })

  test('timestamps are held to the limits of the topic, -1 is not', () => {
    const limits = { timestampBeforeMaxMs: 1000, timestampAfterMaxMs: 500 }
    const at = (...timestamps: number[]): Uint8Array => build(timestamps.map((timestamp) => sample('x', null, timestamp)))
    expect(refusal(at(nowMs - 1000, nowMs + 500, nowMs), limits)).toBeUndefined()
    expect(refusal(at(-1, -1), limits)).toBeUndefined()
    expect(refusal(at(nowMs, -1), limits)).toBeUndefined()
    expect(refusal(at(nowMs, nowMs - 1001, nowMs + 501), limits)).toBe('MR_RECORD_TIMESTAMP_INVALID')
    expect(check.badRecords).toEqual([1, 2])
    expect(refusal(at(nowMs, nowMs - 1001), { ...limits, timestampType: 'LogAppendTime' })).toBeUndefined()
  })

  test('batch.check=header leaves the records alone', () => {
    const bytes = changed((good) => { good[64] = 9 })
    expect(refusal(bytes)).toBe('MR_RECORD_BATCH_INVALID')
    expect(refusal(bytes, { batchCheck: 'header' })).toBeUndefined()
    expect(check.recordsChecked).toBe(false)
  })

  test('a batch that decompresses beyond the cap is refused, garbage too, and that is no reason to send it again', () => {
    const bomb = build([sample('x'.repeat(300_000))], { codec: codecGzip }, new BatchBuilder(compression))
    const small = new BatchCheck(compression, 100_000)
    expect([small.check(bomb, 0, bomb.length, rules, nowMs), small.code]).toEqual([false, 'MR_RECORD_DECOMPRESSED_TOO_LARGE'])
    expect(small.error('t', rules, bomb.length).message).toContain('100000')
    const garbage = changed((bytes) => bytes.fill(0x55, 61), [sample('a')], codecGzip)
    expect(refusal(garbage)).toBe('MR_RECORD_BATCH_INVALID')
    expect(check.error('t', rules, garbage.length).message).toMatch(/^invalid record batch: its records can not be decompressed: gzip: /)
  })

  test('without the codec a compressed batch is refused as such', () => {
    const bytes = build([sample('a')], { codec: codecGzip }, new BatchBuilder(compression))
    const none = new BatchCheck()
    expect([none.check(bytes, 0, bytes.length, rules, nowMs), none.code]).toEqual([false, 'MR_RECORD_CODEC_UNAVAILABLE'])
    expect(none.error('t', rules, 1).row.kafka).toBe(76)
    expect(none.error('t', rules, 1).message).toBe('the codec gzip is not there; give whatever reads the batch a Compression')
  })

  test('without the package of a codec the refusal says which to install, and the next one does not', () => {
    const bytes = build([sample('a')], { codec: codecLz4 }, new BatchBuilder(compression))
    const bare = new BatchCheck(new NodeCompression(() => { throw new Error('no such package') }))
    expect(bare.check(bytes, 0, bytes.length, rules, nowMs)).toBe(false)
    expect(bare.error('t', rules, 1).message).toBe('the codec lz4 is not there; install the optional package lz4-napi')
    bytes[20]! ^= 1
    expect(bare.check(bytes, 0, bytes.length, rules, nowMs)).toBe(false)
    expect(bare.details('t', rules, 1)).not.toHaveProperty('package')
  })

  test('an LZ4 frame with linked blocks is refused, as every Java reader would', () => {
    const bytes = changed((good) => { good[65]! &= ~0x20 }, [sample('a')], codecLz4)
    expect(refusal(bytes, { batchCheck: 'header' })).toBe('MR_RECORD_BATCH_INVALID')
    expect(check.reason).toContain('depend on one another')
  })

  test('header and records can be checked apart, with the decompression between them', () => {
    const bytes = build([sample('a', null, nowMs), sample('b', null, nowMs + 7)], { codec: codecLz4 }, new BatchBuilder(compression))
    expect(check.checkHeader(bytes, 0, bytes.length, rules)).toBe(true)
    const records = compression.decompress(codecLz4, bytes.subarray(61), 1000)
    const later = new BatchCheck()
    expect(later.checkRecords(bytes, 0, records, 0, records.length, rules, nowMs)).toBe(true)
    expect([later.codec, later.recordsCount, later.maxTimestamp]).toEqual([codecLz4, 2, nowMs + 7])
  })

  test('quirk 26: stamping writes the append time, or the true maximum where the producer was wrong', () => {
    const bytes = build([sample('a', null, 5), sample('b', null, 9)])
    putMaxTimestamp(bytes, 0, 1)
    expect(passes(bytes)).toBe(true)
    stampBatch(bytes, 0, check, rules, nowMs)
    expect([maxTimestampOf(bytes, 0), crcValid(bytes, 0), isLogAppendTime(bytes, 0)]).toEqual([9, true, false])
    stampBatch(bytes, 0, check, { ...rules, timestampType: 'LogAppendTime' }, nowMs)
    expect([maxTimestampOf(bytes, 0), crcValid(bytes, 0), isLogAppendTime(bytes, 0)]).toEqual([nowMs, true, true])
  })
})
