import { assert } from '../../../base/assert.ts'
import { crc32c } from '../../../base/crc32c.ts'
import { uuidBytes, uuidFromBytes } from '../../../base/uuid.ts'
import { type PartitionId } from '../../../kernel/model/ids.ts'
import { batchHeaderBytes, putInt32, putInt64, readInt32, readInt64 } from '../../../kernel/record/batch-header.ts'

/**
 * The `.sum` file of a segment: a checksum for each of its batches, bound to where the batch belongs. Big-endian.
 *
 *   header  0 magic   4 version   8 topic id   24 partition   28 base offset of the segment   36 CRC-32C of the cluster id's text   40 zeroes
 *           44 CRC-32C of the bytes before: the seed of this segment
 *   entry   0 base offset of the batch, less the segment's   4 position   8 sum   12 check
 *   seal    two entries behind the last:  0 a mark   4 bytes of the segment   8 its end offset, less its base offset   12 check
 *                                         0 a mark   4 CRC-32C of the .index   8 CRC-32C of the .timeindex   12 check
 *
 * The sum is the CRC-32C of the batch's header (61 bytes), from the seed and the position on: with the batch's own CRC, which lies in that header, it
 * covers every byte of it. The check is the CRC-32C of all entries up to here without their checks, from the seed on: it says whether it is
 * the entries that are not what they were. All numbers are unsigned.
 */
export const sumHeaderBytes = 48
export const sumEntryBytes = 16
export const sealBytes = 2 * sumEntryBytes

const magic = 0x4d_52_53_4d
const version = 1
const seedAt = 44

/** The first entry of a seal: `closed` when the segment is complete, `stopped` when it may be appended to by the next process. */
const sealMarks = { closed: 0xffff_ffff, stopped: 0xffff_fffe } as const
const indexMark = 0xffff_fffd

export interface SegmentSeal {
  readonly kind: keyof typeof sealMarks
  /** Of the segment. */
  readonly sizeBytes: number
  /** Where the next segment begins, or the log ended. */
  readonly endOffset: number
  readonly indexCrc: number
  readonly timeIndexCrc: number
}

/** The header that the `.sum` of a segment has to have. */
export function sumHeader(clusterId: string, { topicId, partition }: Pick<PartitionId, 'topicId' | 'partition'>, baseOffset: number): Uint8Array {
  const bytes = new Uint8Array(sumHeaderBytes)
  putInt32(bytes, 0, magic)
  putInt32(bytes, 4, version)
  bytes.set(uuidBytes(topicId), 8)
  putInt32(bytes, 24, partition)
  putInt64(bytes, 28, baseOffset)
  putInt32(bytes, 36, crc32c(new TextEncoder().encode(clusterId)))
  putInt32(bytes, seedAt, crc32c(bytes, 0, seedAt))
  return bytes
}

/** The topic id that a header names; undefined when the bytes are no whole header. */
export function topicIdBytesOf(header: Uint8Array): Uint8Array | undefined {
  if (header.length < sumHeaderBytes || readInt32(header, 0) !== magic || readUint32(header, seedAt) !== crc32c(header, 0, seedAt)) return undefined
  return header.subarray(8, 24)
}

/** What a header says; undefined when the bytes begin with none of this release. */
export function decodeSumHeader(bytes: Uint8Array): (Pick<PartitionId, 'topicId' | 'partition'> & { readonly baseOffset: number }) | undefined {
  const topicId = topicIdBytesOf(bytes)
  if (topicId === undefined || readInt32(bytes, 4) !== version) return undefined
  return { topicId: uuidFromBytes(topicId), partition: readInt32(bytes, 24), baseOffset: readInt64(bytes, 28) }
}

export const seedOf = (header: Uint8Array): number => readUint32(header, seedAt)

/** The sum of the batch whose header is at `at`, at a position of the segment with this seed. */
export function batchSum(bytes: Uint8Array, at: number, position: number, seed: number): number {
  return crc32c(bytes, at, at + batchHeaderBytes, (seed ^ position) >>> 0)
}

function readUint32(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at) >>> 0
}

export const entryOffset = (bytes: Uint8Array, at: number): number => readUint32(bytes, at)
export const entryPosition = (bytes: Uint8Array, at: number): number => readUint32(bytes, at + 4)
export const entrySum = (bytes: Uint8Array, at: number): number => readUint32(bytes, at + 8)
export const entryCheck = (bytes: Uint8Array, at: number): number => readUint32(bytes, at + 12)

/** An entry without its check: `putCheck` adds that. */
export function putEntry(bytes: Uint8Array, at: number, offset: number, position: number, sum: number): void {
  putInt32(bytes, at, offset)
  putInt32(bytes, at + 4, position)
  putInt32(bytes, at + 8, sum)
}

/** Gives the check, which the next entry goes on from. */
export function putCheck(bytes: Uint8Array, at: number, before: number): number {
  const check = checkAfter(bytes, at, before)
  putInt32(bytes, at + 12, check)
  return check
}

export function checkAfter(bytes: Uint8Array, at: number, before: number): number {
  return crc32c(bytes, at, at + 12, before)
}

export function encodeSeal(seal: SegmentSeal, baseOffset: number, before: number): Uint8Array {
  assert(seal.endOffset - baseOffset <= 0xffff_ffff, 'a segment ends within 2^32 offsets of its base')
  const bytes = new Uint8Array(sealBytes)
  putEntry(bytes, 0, sealMarks[seal.kind], seal.sizeBytes, seal.endOffset - baseOffset)
  putEntry(bytes, sumEntryBytes, indexMark, seal.indexCrc, seal.timeIndexCrc)
  putCheck(bytes, sumEntryBytes, putCheck(bytes, 0, before))
  return bytes
}

/** The seal that the bytes are, by its marks; its checks are for `SumChain` to say. */
export function decodeSeal(bytes: Uint8Array, at: number, baseOffset: number): SegmentSeal | undefined {
  const mark = readUint32(bytes, at)
  const kind = mark === sealMarks.closed ? 'closed' : mark === sealMarks.stopped ? 'stopped' : undefined
  if (kind === undefined || readUint32(bytes, at + sumEntryBytes) !== indexMark) return undefined
  return {
    kind, sizeBytes: entryPosition(bytes, at), endOffset: baseOffset + entrySum(bytes, at),
    indexCrc: entryPosition(bytes, at + sumEntryBytes), timeIndexCrc: entrySum(bytes, at + sumEntryBytes),
  }
}

/** Follows the entries from the first one on, a piece at a time, and says of the first that is not as it was written. */
export class SumChain {
  private check: number
  private lastOffset = -1
  private lastPosition = -1
  private counted = 0

  constructor(seed: number) {
    this.check = seed
  }

  /** What is wrong, if anything is. Whole entries, of which the last two may be a seal. */
  follow(bytes: Uint8Array, start: number, end: number): string | undefined {
    for (let at = start; at < end; at += sumEntryBytes) {
      this.check = checkAfter(bytes, at, this.check)
      if (this.check !== entryCheck(bytes, at)) return `entry ${this.counted} is not what was written`
      const [offset, position] = [entryOffset(bytes, at), entryPosition(bytes, at)]
      if (offset < indexMark && (offset <= this.lastOffset || position <= this.lastPosition)) return `entry ${this.counted} is not in order`
      this.lastOffset = offset
      this.lastPosition = position
      this.counted++
    }
    return undefined
  }
}
