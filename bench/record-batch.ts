/**
 * What a record costs in the code that every record passes: build, skim (the broker's check), read. Nanoseconds a record, best of many short rounds.
 * Run: npx tsx bench/record-batch.ts
 */
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { crc32c } from '../src/base/crc32c.ts'
import { BatchBuilder } from '../src/kernel/record/batch-builder.ts'
import { BatchCheck } from '../src/kernel/record/batch-check.ts'
import { BatchReader } from '../src/kernel/record/batch-reader.ts'
import { type CompressionCodec, codecName } from '../src/kernel/record/compression-codec.ts'
import { type RecordHeader } from '../src/kernel/record/log-record.ts'
import { skimRecords } from '../src/kernel/record/record-skim.ts'
import { installNativeCrc32c } from '../src/platform/codecs/native-crc32c.ts'
import { NodeCompression } from '../src/platform/codecs/node-compression.ts'

scriptOptionsOrExit('Usage: npx tsx bench/record-batch.ts\n\nWhat a record costs in the code that every record passes: build, check, read. It has no options.', { numbers: {} })
const roundMs = 8
const rounds = 60

/**
 * The best round, divided by the records that a call handles: on a machine with other work the best is what the code costs. Between rounds
 * the event loop turns, so that external buffers of native codecs are freed.
 */
async function measure(name: string, records: number, work: () => void, note = ''): Promise<void> {
  let best = Infinity
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    let calls = 0
    let spent = 0
    do {
      work()
      calls++
      spent = performance.now() - start
    } while (spent < roundMs && calls < 50_000)
    best = Math.min(best, (spent * 1e6) / (calls * records))
    await new Promise((resolve) => setImmediate(resolve))
  }
  console.log(`${name.padEnd(44)} ${best.toFixed(1).padStart(8)} ns ${note}`)
}

const text = (length: number): Uint8Array => new TextEncoder().encode('{"level":"info","message":"request done","took":17} '.repeat(30)).subarray(0, length)
const rules = {
  batchCheck: 'records' as const, compact: false, maxMessageBytes: 0x7fff_ffff, timestampType: 'CreateTime' as const,
  timestampBeforeMaxMs: Infinity, timestampAfterMaxMs: Infinity,
}
const compression = new NodeCompression()
const headers: readonly RecordHeader[] = [{ key: 'trace-id', value: text(16) }, { key: 'kind', value: text(6) }]

async function benchShape(shape: string, count: number, key: Uint8Array | null, value: Uint8Array, with_: readonly RecordHeader[]): Promise<void> {
  const builder = new BatchBuilder(compression)
  const fill = (): void => {
    builder.reset()
    for (let index = 0; index < count; index++) builder.append(1_700_000_000_000 + index, key, value, with_)
  }
  fill()
  const batch = builder.finish()
  const check = new BatchCheck(compression)
  const reader = new BatchReader(compression)
  console.log(`\n${shape}: ${count} records, ${batch.length} bytes`)
  await measure('build (append)', count, fill)
  await measure('build and finish (header, CRC)', count, () => {
    fill()
    builder.finishInPlace()
  })
  await measure('skim (structure, no objects)', count, () => {
    if (!skimRecords(batch, 61, batch.length, count)) throw new Error('refused')
  })
  await measure('check (header, CRC, skim)', count, () => {
    if (!check.check(batch, 0, batch.length, rules, 1_700_000_001_000)) throw new Error(check.reason)
  })
  await measure('check, header alone', count, () => {
    if (!check.check(batch, 0, batch.length, { ...rules, batchCheck: 'header' }, 1_700_000_001_000)) throw new Error(check.reason)
  })
  let sum = 0
  await measure('read by cursor', count, () => {
    reader.open(batch)
    while (reader.next()) sum += reader.valueLength
  })
  await measure('read as records, nothing looked at', count, () => {
    reader.open(batch)
    while (reader.next()) sum += reader.record().offset
  })
  await measure('read as records, key and value views', count, () => {
    reader.open(batch)
    while (reader.next()) {
      const record = reader.record()
      sum += (record.key?.length ?? 0) + (record.value?.length ?? 0)
    }
  })
  await measure('read as records, key, value and headers', count, () => {
    reader.open(batch)
    while (reader.next()) {
      const record = reader.record()
      sum += (record.key?.length ?? 0) + (record.value?.length ?? 0) + record.headers.length
    }
  })
  for (const codec of [1, 2, 3, 4] as const satisfies readonly CompressionCodec[]) {
    const packed = builder.finish({ codec })
    await measure(`check, ${codecName(codec)}`, count, () => {
      if (!check.check(packed, 0, packed.length, rules, 1_700_000_001_000)) throw new Error(check.reason)
    }, `(${packed.length} bytes)`)
  }
  if (sum < 0) console.log(sum)
}

console.log(`native CRC-32C: ${installNativeCrc32c()}`)
const megabyte = new Uint8Array(1 << 20).fill(7)
await measure('CRC-32C, a KiB of a MiB', 1024, () => crc32c(megabyte))
await benchShape('100 B values, no key', 1000, null, text(100), [])
await benchShape('100 B values, 8 B keys', 1000, text(8), text(100), [])
await benchShape('100 B values, 8 B keys, 2 headers', 1000, text(8), text(100), headers)
await benchShape('1 KiB values, 16 B keys', 200, text(16), text(1024), [])
await benchShape('one record', 1, text(8), text(100), [])
