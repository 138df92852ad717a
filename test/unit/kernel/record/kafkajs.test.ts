import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { BatchCheck } from '../../../../src/kernel/record/batch-check.ts'
import { BatchReader } from '../../../../src/kernel/record/batch-reader.ts'
import { codecGzip, codecNone } from '../../../../src/kernel/record/compression-codec.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { build, plain, sample, utf8 } from './sample-records.ts'

// A second opinion on the format from a client that was written by others.
const load = createRequire(import.meta.url)
const { RecordBatch } = load('kafkajs/src/protocol/recordBatch/v0/index.js')
const decodeBatch = load('kafkajs/src/protocol/recordBatch/v0/decoder.js')
const encodeRecord = load('kafkajs/src/protocol/recordBatch/record/v0/index.js')
const Decoder = load('kafkajs/src/protocol/decoder.js')

const compression = new NodeCompression()
const firstTimestamp = 1_700_000_000_000
const records = [
  sample('first value', 'key', firstTimestamp, [{ key: 'trace', value: utf8('abc') }, { key: 'größe', value: utf8('') }]),
  sample(null, 'gone', firstTimestamp + 70_000),
  sample('x'.repeat(3000), null, firstTimestamp - 5),
]
const rules = {
  batchCheck: 'records' as const, compact: false, maxMessageBytes: 1_048_588, timestampType: 'CreateTime' as const,
  timestampBeforeMaxMs: Infinity, timestampAfterMaxMs: Infinity,
}

const encodeWithKafkajs = async (codec: number): Promise<Uint8Array> => {
  const encoder = await RecordBatch({
    compression: codec, firstTimestamp, maxTimestamp: firstTimestamp + 70_000, partitionLeaderEpoch: -1,
    lastOffsetDelta: records.length - 1, producerId: -1, producerEpoch: -1, firstSequence: -1,
    records: records.map((record, offsetDelta) => encodeRecord({
      offsetDelta, timestampDelta: record.timestamp - firstTimestamp,
      key: record.key === null ? null : Buffer.from(record.key), value: record.value === null ? null : Buffer.from(record.value),
      headers: Object.fromEntries(record.headers.map((each) => [each.key, Buffer.from(each.value!)])),
    })),
  })
  return Uint8Array.from(encoder.buffer)
}

describe('kafkajs as a second opinion', () => {
  test('an uncompressed batch is byte for byte what kafkajs encodes', async () => {
    expect(Buffer.from(build(records)).toString('hex')).toBe(Buffer.from(await encodeWithKafkajs(codecNone)).toString('hex'))
  })

  test.each([codecNone, codecGzip])('a batch that kafkajs encodes passes the check and is read (codec %d)', async (codec) => {
    const bytes = await encodeWithKafkajs(codec)
    const check = new BatchCheck(compression)
    expect([check.check(bytes, 0, bytes.length, rules, firstTimestamp), check.reason]).toEqual([true, ''])
    expect(check.maxTimestamp).toBe(firstTimestamp + 70_000)
    expect([...new BatchReader(compression).open(bytes)].map(plain)).toEqual(records.map(plain))
  })

  test.each([codecNone, codecGzip])('kafkajs decodes what the builder makes (codec %d)', async (codec) => {
    const bytes = build(records, { codec, baseOffset: 500, leaderEpoch: 3 }, new BatchBuilder(compression))
    const decoded = await decodeBatch(new Decoder(Buffer.from(bytes)))
    expect(decoded).toMatchObject({ firstOffset: '500', lastOffsetDelta: 2, partitionLeaderEpoch: 3, producerId: '-1', maxTimestamp: String(firstTimestamp + 70_000) })
    expect(decoded.records.map((record: { offset: string, timestamp: string }) => [record.offset, record.timestamp])).toEqual(
      records.map((record, index) => [String(500 + index), String(record.timestamp)]))
    expect(decoded.records.map((record: { value: Buffer | null }) => record.value && [...record.value])).toEqual(
      records.map((record) => record.value && [...record.value]))
    expect(decoded.records[0].headers.trace.toString()).toBe('abc')
  })
})
