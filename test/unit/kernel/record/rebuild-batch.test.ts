import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { BatchReader } from '../../../../src/kernel/record/batch-reader.ts'
import { type CompressionCodec } from '../../../../src/kernel/record/compression-codec.ts'
import { rebuildBatch } from '../../../../src/kernel/record/rebuild-batch.ts'
import { RecordBatch } from '../../../../src/kernel/record/record-batch.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { anyRecords, build, plain } from './sample-records.ts'

const compression = new NodeCompression()
const codec = fc.constantFrom<CompressionCodec>(0, 1, 2, 3, 4)

test('a rebuilt batch has the other codec, the same records and the same header but for length and CRC', () => {
  fc.assert(fc.property(anyRecords, codec, codec, (records, from, to) => {
    const fields = { codec: from, baseOffset: 1000, leaderEpoch: 4, producerId: 9, producerEpoch: 2, baseSequence: 17, transactional: true }
    const bytes = build(records, fields, new BatchBuilder(compression))
    const before = bytes.slice()
    const rebuilt = rebuildBatch(bytes, 0, to, compression)
    const batch = new RecordBatch(rebuilt)
    expect([batch.codec, batch.isWhole, batch.crcValid(), batch.sizeBytes]).toEqual([to, true, true, rebuilt.length])
    const masked = (all: Uint8Array): number[] => [...all.subarray(0, 8), ...all.subarray(12, 17), all[21]!, all[22]! & 0xf8, ...all.subarray(23, 61)]
    expect(masked(rebuilt)).toEqual(masked(bytes))
    expect([...new BatchReader(compression).open(rebuilt)].map(plain)).toEqual(records.map(plain))
    expect(bytes).toEqual(before)
    expect(rebuilt.buffer).not.toBe(bytes.buffer)
  }), { numRuns: 100 })
})
