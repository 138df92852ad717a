import { type Prng } from '../../../src/base/prng.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { BatchCheck } from '../../../src/kernel/record/batch-check.ts'
import { batchBytesOf, batchHeaderBytes, codecOf, putCrc } from '../../../src/kernel/record/batch-header.ts'
import { BatchReader } from '../../../src/kernel/record/batch-reader.ts'
import { isCodec, type CompressionCodec } from '../../../src/kernel/record/compression-codec.ts'
import { controlTypeOf, coordinatorEpochOf } from '../../../src/kernel/record/control-record.ts'
import { rebuildBatch } from '../../../src/kernel/record/rebuild-batch.ts'
import { decompressedBytesMax } from '../../../src/kernel/record/record-limits.ts'
import { batchesIn } from '../../../src/kernel/record/record-batch.ts'
import { topicSettings } from '../../../src/testkit/topic-settings.ts'
import { compression, makeBatches } from '../grammar/batch-grammar.ts'
import { type Specimen } from '../grammar/specimen.ts'
import { Finding, type FuzzInput, type Target } from '../target.ts'
import { refusalShape } from './refusal-shape.ts'

/** As the broker does on its loop; more is decompressed on another thread, up to `decompressedBytesMax`. */
const limitBytes = 2 * 1024 * 1024
const rules = topicSettings()
const compactRules = topicSettings({ compact: true })
const nowMs = 1_700_000_000_500

/** Record batches, as the broker checks them and as clients read them, in every codec. */
export class BatchesTarget implements Target {
  readonly name = 'batches'
  readonly limitBytes = decompressedBytesMax
  private readonly batchCheck = new BatchCheck(compression, limitBytes)
  private readonly lateCheck = new BatchCheck(compression)
  private readonly reader = new BatchReader(compression, limitBytes)

  make(prng: Prng): Specimen {
    return makeBatches(prng, { bombChance: 0.0005, bombBytes: prng.pick([1, 8, 8, 8, 80]) << 20 })
  }

  /** The check alone, with the limit of what is decompressed on another thread. */
  weigh({ bytes }: FuzzInput): void {
    this.lateCheck.check(bytes, 0, bytes.length, rules, nowMs)
  }

  repair(specimen: Specimen, prng: Prng): Specimen {
    return repairBatch(specimen, prng)
  }

  run({ bytes }: FuzzInput): string {
    const own = bytes.slice()
    const passed = this.batchCheck.check(own, 0, own.length, own.length % 5 === 0 ? compactRules : rules, nowMs)
    const outcome = passed ? `stored ${this.batchCheck.codec}` : `${this.batchCheck.code} ${this.batchCheck.reason.replace(/\d+/g, '#')}`
    if (passed) this.readStored(own)
    else if (this.batchCheck.code === undefined) throw new Finding('a batch is refused without a code')
    return `${outcome} ${this.readAsClient(own)}`
  }

  /** What the broker takes, everybody can read; and in every other codec it is the same. */
  private readStored(bytes: Uint8Array): void {
    const before = this.read(bytes)
    if (before.length !== Math.min(this.batchCheck.recordsCount, keptMax)) throw new Finding(`${before.length} records are read from a batch that was taken with ${this.batchCheck.recordsCount}`)
    if (bytes.length > 100_000) return
    const codec = (bytes.length % 5) as CompressionCodec
    const rebuilt = rebuildBatch(bytes, 0, codec, compression, undefined, limitBytes)
    if (!this.batchCheck.check(rebuilt, 0, rebuilt.length, rules, nowMs)) throw new Finding(`a batch that was taken is refused in codec ${codec}: ${this.batchCheck.reason}`)
    const after = this.read(rebuilt)
    if (before.join() !== after.join()) throw new Finding(`a batch has other records in codec ${codec}`)
  }

  private read(bytes: Uint8Array): string[] {
    const records: string[] = []
    for (const record of this.reader.open(bytes)) {
      if (records.length === keptMax) break
      records.push(`${record.offset} ${record.timestamp} ${sizeOf(record.key)} ${sizeOf(record.value)} ${record.headers.length}`)
    }
    return records
  }

  /** A client reads what a broker sends it, whole batches or not, with no check before. */
  private readAsClient(bytes: Uint8Array): string {
    let [batches, records, refused] = [0, 0, '']
    for (const batch of batchesIn(bytes)) {
      batches++
      if (batch.at + batch.sizeBytes > bytes.length) throw new Finding('a batch lies beyond the bytes')
      batch.crcValid()
      try {
        for (const { key, value, headers, offset } of batch.records(compression, limitBytes)) {
          if (Number.isNaN(offset)) throw new Finding('an offset is no number')
          if (batch.isControl) void [controlTypeOf(key), coordinatorEpochOf(value)]
          records += headers.length >= 0 ? 1 : 0
          if (records >= keptMax) break
        }
      } catch (error) {
        if (!isMillraceError(error)) throw error
        refused = refusalShape('reader', error)
      }
    }
    this.decompress(bytes)
    return `${Math.min(batches, 3)} batches ${records > 0 ? 'with' : 'without'} records ${refused}`
  }

  /** The payload as if it were in each of the codecs. */
  private decompress(bytes: Uint8Array): void {
    if (bytes.length <= batchHeaderBytes || bytes.length % 4 !== 0) return
    const codec = codecOf(bytes, 0)
    for (const other of [1, 2, 3, 4] as const) {
      if (isCodec(codec) && other === codec) continue
      try {
        const result = compression.decompress(other, bytes.subarray(batchHeaderBytes), limitBytes)
        if (result.length > limitBytes) throw new Finding(`${result.length} bytes come out of codec ${other}`)
      } catch (error) {
        if (!isMillraceError(error)) throw error
      }
    }
  }
}

/** Of larger batches the first records are looked at: reading all would be the fuzzer's time, not the broker's. */
const keptMax = 1000

const sizeOf = (bytes: Uint8Array | null): number => bytes === null ? -1 : bytes.length

/** The length and the checksum fit the bytes again, mostly. */
export function repairBatch(specimen: Specimen, prng: Prng): Specimen {
  const { bytes } = specimen
  if (bytes.length < batchHeaderBytes) return specimen
  const repaired = bytes.slice()
  if (prng.chance(0.8)) new DataView(repaired.buffer).setInt32(8, repaired.length - 12)
  const size = batchBytesOf(repaired, 0)
  if (prng.chance(0.9) && size >= batchHeaderBytes && size <= repaired.length) putCrc(repaired, 0)
  return { ...specimen, bytes: repaired }
}

