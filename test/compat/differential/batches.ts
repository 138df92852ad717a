import { BatchBuilder, type BatchFields } from '../../../src/kernel/record/batch-builder.ts'
import { putCrc, putInt16, putInt32 } from '../../../src/kernel/record/batch-header.ts'

const text = new TextEncoder()

export interface BatchOptions extends BatchFields {
  readonly count?: number
  readonly timestamp?: number
  readonly valueBytes?: number
  readonly key?: string | null
}

/** When all records of these scenarios were made, in milliseconds: an hour ago, so that retention does not take them away. */
export const madeAt = Date.now() - 3_600_000

/** A batch whose bytes depend on its options alone; record i is i ms younger than the first. */
export function batch (options: BatchOptions = {}): Uint8Array {
  const { count = 1, timestamp = madeAt, valueBytes = 10, key = 'k', ...fields } = options
  const builder = new BatchBuilder()
  for (let i = 0; i < count; i++) {
    builder.append(timestamp + i, key === null ? null : text.encode(`${key}${i}`), text.encode('v'.repeat(valueBytes)))
  }
  return builder.finish(fields)
}

/** A copy with an int32 of its header replaced, and a checksum that is right again unless `crc` is false. */
export function withInt32 (bytes: Uint8Array, at: number, value: number, crc = true): Uint8Array {
  const copy = bytes.slice()
  putInt32(copy, at, value)
  if (crc) putCrc(copy, 0)
  return copy
}

export function withInt16 (bytes: Uint8Array, at: number, value: number): Uint8Array {
  const copy = bytes.slice()
  putInt16(copy, at, value)
  putCrc(copy, 0)
  return copy
}

export function withByte (bytes: Uint8Array, at: number, value: number, crc = true): Uint8Array {
  const copy = bytes.slice()
  copy[at] = value
  if (crc) putCrc(copy, 0)
  return copy
}

/** Positions in a batch's header. */
export const batchFields = { length: 8, magic: 16, crc: 17, attributes: 21, lastOffsetDelta: 23, count: 57 } as const
