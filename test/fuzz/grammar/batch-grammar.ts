import { type Prng } from '../../../src/base/prng.ts'
import { putCrc } from '../../../src/kernel/record/batch-header.ts'
import { type CompressionCodec } from '../../../src/kernel/record/compression-codec.ts'
import { NodeCompression } from '../../../src/platform/codecs/node-compression.ts'
import { type Mark, type Specimen, SpecimenWriter } from './specimen.ts'

export const compression = new NodeCompression()
const headerBytes = 61

/** What a record batch may be made to be. */
export interface BatchSizes {
  /** Chance of a payload that decompresses to very much more than it takes. */
  readonly bombChance: number
  readonly bombBytes: number
}

const noBombs: BatchSizes = { bombChance: 0, bombBytes: 0 }

/** Bytes where a batch is expected: one, mostly; sometimes none, two, or something else. */
export function makeBatches(prng: Prng, sizes = noBombs): Specimen {
  const writer = new SpecimenWriter()
  const count = prng.pick([1, 1, 1, 1, 1, 1, 1, 1, 0, 2])
  for (let index = 0; index < count; index++) writer.nest(makeBatch(prng, sizes))
  if (prng.chance(0.02)) writer.raw(prng.bytes(prng.below(80)))
  return writer.finish('batches')
}

/** A sound batch, written without the product's builder: each of its fields is marked, compressed or not. */
export function makeBatch(prng: Prng, sizes = noBombs): Specimen {
  const codec = prng.pick([0, 0, 0, 1, 2, 3, 4]) as CompressionCodec
  const count = prng.pick([1, 1, 2, 3, 5, 40])
  const records = prng.chance(sizes.bombChance) ? bomb(prng, codec === 0 ? Math.min(sizes.bombBytes, 1 << 20) : sizes.bombBytes) : makeRecords(prng, count)
  const payload = codec === 0 ? records : compressed(codec, records, prng)
  const writer = new SpecimenWriter()
  writer.int(8, 0)
  writer.int(4, headerBytes - 12 + payload.bytes.length, true)
  writer.int(4, -1)
  writer.int(1, 2)
  writer.int(4, 0)
  writer.int(2, codec | (prng.chance(0.03) ? 1 << prng.between(3, 6) : 0))
  writer.int(4, count - 1, true)
  writer.int(8, 1_700_000_000_000)
  writer.int(8, 1_700_000_000_000 + prng.below(1000))
  const producer = prng.chance(0.15)
  writer.int(8, producer ? prng.pick([0, 1000, 2 ** 53]) : -1)
  writer.int(2, producer ? 0 : -1)
  writer.int(4, producer ? prng.pick([0, 1, 2 ** 31 - 1]) : -1)
  writer.int(4, count, true)
  writer.nest(payload)
  const batch = writer.finish('batch')
  putCrc(batch.bytes, 0)
  return batch
}

function makeRecords(prng: Prng, count: number): Specimen {
  const writer = new SpecimenWriter()
  for (let index = 0; index < count; index++) {
    const record = new SpecimenWriter()
    record.int(1, 0)
    record.varint(prng.pick([0, 0, 1, -1, 1000, 2 ** 40]))
    record.varint(index)
    putSized(record, prng, prng.chance(0.5) ? null : prng.bytes(prng.pick([0, 1, 8])))
    putSized(record, prng, prng.chance(0.1) ? null : prng.bytes(prng.pick([0, 1, 10, 60, 200])))
    const headers = prng.pick([0, 0, 0, 1, 2])
    record.varint(headers, true)
    for (let header = 0; header < headers; header++) {
      putSized(record, prng, Uint8Array.of(104, 48 + header))
      putSized(record, prng, prng.chance(0.2) ? null : prng.bytes(3))
    }
    const { bytes, marks } = record.finish('')
    const start = writer.length
    writer.varint(bytes.length, true)
    writer.nest({ bytes, marks })
    writer.mark('element', start, writer.length - start)
  }
  return writer.finish('records')
}

function putSized(writer: SpecimenWriter, _prng: Prng, bytes: Uint8Array | null): void {
  writer.varint(bytes === null ? -1 : bytes.length, true)
  if (bytes === null) return
  writer.raw(bytes)
  writer.mark('bytes', writer.length - bytes.length, bytes.length)
}

/** Zeroes, of which a codec makes next to nothing; or very many of the smallest records, which are sound. */
function bomb(prng: Prng, bytesMax: number): Specimen {
  const size = prng.between(Math.floor(bytesMax / 2), bytesMax)
  const bytes = new Uint8Array(size)
  if (prng.chance(0.5)) {
    let at = 0
    for (let index = 0; at + 12 < size; index++) {
      const delta = index * 2
      const width = delta < 0x80 ? 1 : delta < 0x4000 ? 2 : delta < 0x20_0000 ? 3 : 4
      bytes[at] = (5 + width) * 2
      at += 3
      for (let rest = delta, left = width; left > 0; left--, rest >>>= 7) bytes[at++] = (rest & 0x7f) | (left > 1 ? 0x80 : 0)
      bytes[at++] = 1
      bytes[at++] = 1
      at++
    }
  }
  return { kind: 'records', bytes, marks: [] }
}

/** As the codec writes it; sometimes compressed once more, doubled, or its inner structure marked. */
function compressed(codec: CompressionCodec, records: Specimen, prng: Prng): Specimen {
  let bytes = Uint8Array.from(compression.compress(codec, records.bytes))
  if (prng.chance(0.05)) bytes = Uint8Array.from(compression.compress(codec, bytes))
  if (prng.chance(0.05)) bytes = Uint8Array.from([...bytes.subarray(0, 1 << 16), ...bytes.subarray(0, 1 << 16)])
  // Frame headers and block lengths of all codecs lie at the beginning; lz4 and zstd end with an end mark or a checksum.
  const marks: Mark[] = []
  for (const at of [0, 4, 5, 6, 7, 8, 9, 11, 12, 16, 20, bytes.length - 8, bytes.length - 4]) {
    if (at >= 0 && at + 4 <= bytes.length) marks.push({ kind: 'int', at, length: prng.pick([1, 2, 4]), counts: true })
  }
  return { kind: 'payload', bytes, marks }
}
