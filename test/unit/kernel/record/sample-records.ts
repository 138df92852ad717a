import fc from 'fast-check'
import { BatchBuilder, type BatchFields } from '../../../../src/kernel/record/batch-builder.ts'
import { type RecordHeader } from '../../../../src/kernel/record/log-record.ts'

/** A record as a test writes it down. */
export interface SampleRecord {
  readonly timestamp: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: readonly RecordHeader[]
}

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

export const sample = (value: string | null, key: string | null = null, timestamp = 1_700_000_000_000, headers: readonly RecordHeader[] = []): SampleRecord => ({
  timestamp, key: key === null ? null : utf8(key), value: value === null ? null : utf8(value), headers,
})

export function build(records: readonly SampleRecord[], fields: BatchFields = {}, builder = new BatchBuilder(undefined, 64)): Uint8Array {
  builder.reset()
  for (const record of records) builder.append(record.timestamp, record.key, record.value, record.headers)
  return builder.finish(fields)
}

const bytes = fc.uint8Array({ maxLength: 200 })
const maybeBytes = fc.option(bytes, { nil: null, freq: 4 })

export const header: fc.Arbitrary<RecordHeader> = fc.record({ key: fc.string({ unit: 'grapheme', maxLength: 12 }), value: maybeBytes })

/** Timestamps near one another, and far ones. */
export const timestamp = fc.oneof(
  fc.integer({ min: 1_700_000_000_000, max: 1_700_000_100_000 }), fc.integer({ min: 0, max: 8_640_000_000_000_000 }), fc.constant(-1),
)

export const anyRecord: fc.Arbitrary<SampleRecord> = fc.record({
  timestamp, key: maybeBytes, value: maybeBytes, headers: fc.array(header, { maxLength: 3 }),
})

export const anyRecords = fc.array(anyRecord, { minLength: 1, maxLength: 30 })

/** What a test compares: plain data of a record that was read. */
export const plain = (record: SampleRecord): object => ({
  timestamp: record.timestamp,
  key: record.key === null ? null : [...record.key],
  value: record.value === null ? null : [...record.value],
  headers: record.headers.map((each) => [each.key, each.value === null ? null : [...each.value]]),
})
