import { crc32c } from '../../../src/base/crc32c.ts'
import { decodeSeal, decodeSumHeader, SumChain, sealBytes, seedOf, sumEntryBytes, sumHeaderBytes, type SegmentSeal } from '../../../src/plugins/storage-local/core/batch-sums.ts'

interface Sums {
  /** Every byte is as it was written. */
  readonly sound: boolean
  readonly entries: Uint8Array
  readonly seal: SegmentSeal | undefined
}

function sumsIn(bytes: Uint8Array): Sums {
  const header = decodeSumHeader(bytes)
  const sealAt = bytes.length - sealBytes
  const seal = header === undefined || sealAt < sumHeaderBytes ? undefined : decodeSeal(bytes, sealAt, header.baseOffset)
  const whole = header !== undefined && (bytes.length - sumHeaderBytes) % sumEntryBytes === 0
  const sound = whole && new SumChain(seedOf(bytes)).follow(bytes, sumHeaderBytes, bytes.length) === undefined
  return { sound, entries: bytes.subarray(0, seal === undefined ? bytes.length : sealAt), seal }
}

const isEqual = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0

/**
 * What another start has done to the checksums of a segment that it should not have, if anything. They may be torn, as they are synced after the batches that they are of, and
 * a start that looks at them gives such ones up: the next may be the first to look. Sound ones are kept, entry by entry; the seal comes when a start sees that the
 * segment is closed, and goes from the active one when a start has to recover.
 */
export function sumsChange(before: Uint8Array, after: Uint8Array | undefined, active: boolean): string | undefined {
  const was = sumsIn(before)
  const is = after === undefined ? undefined : sumsIn(after)
  if (!was.sound) return is === undefined || is.sound || isEqual(before, after!) ? undefined : 'makes of torn checksums others that are not sound'
  if (is === undefined) return 'loses checksums that are sound'
  if (!is.sound || !isEqual(was.entries, is.entries)) return 'changes checksums that are sound'
  if (active || was.seal === undefined) return undefined
  if (is.seal === undefined) return 'takes the seal off a closed segment'
  // One that a stop left becomes that of a closed segment, and indexes may be made anew.
  if (was.seal.endOffset !== is.seal.endOffset || was.seal.sizeBytes !== is.seal.sizeBytes) return 'changes what the seal of a closed segment says of its end'
  return undefined
}

/** Whether the checksums of a closed segment are sound and say that this is its index. */
export function vouches(sums: Uint8Array | undefined, index: '.index' | '.timeindex', bytes: Uint8Array): boolean {
  const { sound, seal } = sums === undefined ? { sound: false, seal: undefined } : sumsIn(sums)
  return sound && seal?.kind === 'closed' && crc32c(bytes) === (index === '.index' ? seal.indexCrc : seal.timeIndexCrc)
}
