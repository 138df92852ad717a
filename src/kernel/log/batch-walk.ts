import { baseOffsetOf, batchBytesOf, batchHeaderBytes, lastOffsetOf } from '../record/batch-header.ts'

/*
 * Walks over batches by their headers: `bytes[at, end)` begins at a batch and may end inside one. Nothing is allocated; lengths are
 * believed as far as they are at least a header's, so that a walk always ends.
 */

/** Whether the length field of the batch at `at` can be a batch's. The header's first 12 bytes must be there. */
export function lengthIsSound(bytes: Uint8Array, at: number): boolean {
  return batchBytesOf(bytes, at) >= batchHeaderBytes
}

/**
 * The position of the first batch whose last offset is `offset` or above. When there is none among the headers in the range, the
 * position where the walk had to stop: less than a header is left there, or a length that no batch has.
 */
export function batchReaching(bytes: Uint8Array, at: number, end: number, offset: number): number {
  let position = at
  while (position + batchHeaderBytes <= end && lastOffsetOf(bytes, position) < offset) {
    if (!lengthIsSound(bytes, position)) return position
    position += batchBytesOf(bytes, position)
  }
  return position
}

/** Of the last `runEnd`; one object, overwritten by the next call. */
export const run = {
  /** Where the last batch of the run begins; -1 for an empty run. */
  lastAt: -1,
}

/**
 * Where the run of batches ends that begins at `at`, lies wholly before `end`, takes at most `maxBytes` and holds no batch that begins at
 * or above `endOffset`. With `atLeastOne` the first batch may be larger than `maxBytes`.
 */
export function runEnd(bytes: Uint8Array, at: number, end: number, endOffset: number, maxBytes: number, atLeastOne: boolean): number {
  let position = at
  run.lastAt = -1
  while (position + batchHeaderBytes <= end && baseOffsetOf(bytes, position) < endOffset && lengthIsSound(bytes, position)) {
    const next = position + batchBytesOf(bytes, position)
    if (next > end || (next - at > maxBytes && !(atLeastOne && position === at))) break
    run.lastAt = position
    position = next
  }
  return position
}
