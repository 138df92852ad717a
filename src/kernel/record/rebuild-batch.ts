import { MillraceError } from '../errors/index.ts'
import { type Compression } from '../ports/compression.ts'
import {
  attributeCodecMask, attributesAt, batchBytesOf, batchHeaderBytes, batchPrefixBytes, codecOf, putCrc, putInt32,
} from './batch-header.ts'
import { isCodec, type CompressionCodec } from './compression-codec.ts'
import { decompressedBytesMax } from './record-limits.ts'

/**
 * The batch at `at` with its records in another codec (a topic's compression.type), as bytes that the caller owns. All else in the header
 * stays: offsets, epochs, producer, sequence, timestamps, counts. The records are the same bytes once decompressed. Gives a copy when
 * the codec is the one it has. Throws what `Compression` throws.
 */
export function rebuildBatch(
  bytes: Uint8Array, at: number, codec: CompressionCodec, compression: Compression, level?: number, limitBytes = decompressedBytesMax,
): Uint8Array {
  const end = at + batchBytesOf(bytes, at)
  const present = codecOf(bytes, at)
  if (present === codec) return bytes.slice(at, end)
  if (!isCodec(present)) throw new MillraceError('MR_RECORD_BATCH_INVALID', { reason: `unknown codec ${String(present)}` })
  const stored = bytes.subarray(at + batchHeaderBytes, end)
  const records = present === 0 ? stored : compression.decompress(present, stored, limitBytes)
  return batchWithRecords(bytes, at, codec, codec === 0 ? records : compression.compress(codec, records, level))
}

/** The header of the batch at `at` before these records, which are in that codec, as bytes that the caller owns. */
export function batchWithRecords(bytes: Uint8Array, at: number, codec: CompressionCodec, records: Uint8Array): Uint8Array {
  const rebuilt = new Uint8Array(batchHeaderBytes + records.length)
  rebuilt.set(bytes.subarray(at, at + batchHeaderBytes), 0)
  rebuilt.set(records, batchHeaderBytes)
  putInt32(rebuilt, 8, rebuilt.length - batchPrefixBytes)
  rebuilt[attributesAt + 1] = (rebuilt[attributesAt + 1]! & ~attributeCodecMask) | codec
  putCrc(rebuilt, 0)
  return rebuilt
}
