import { assert } from '../../../base/assert.ts'
import { putInt32, readInt32 } from '../../../kernel/record/batch-header.ts'

export const offsetEntryBytes = 8

/**
 * The entries of a `.index` file: for some batches their last offset, less the segment's base offset, and the position where they
 * begin. Both ascend strictly.
 */
export class OffsetIndex {
  readonly baseOffset: number
  private entries: Int32Array
  private used = 0

  constructor(baseOffset: number, capacity = 64) {
    this.baseOffset = baseOffset
    this.entries = new Int32Array(capacity * 2)
  }

  get count(): number { return this.used }
  get memoryBytes(): number { return this.entries.byteLength }

  /** Last offset of the batch of entry `index`. */
  offsetAt(index: number): number { return this.baseOffset + this.entries[index * 2]! }
  positionAt(index: number): number { return this.entries[index * 2 + 1]! }

  add(lastOffset: number, position: number): void {
    const relative = lastOffset - this.baseOffset
    assert(this.used === 0 || relative > this.entries[this.used * 2 - 2]!, 'offsets in an index ascend')
    if (this.used * 2 === this.entries.length) {
      const larger = new Int32Array(this.entries.length * 2)
      larger.set(this.entries)
      this.entries = larger
    }
    this.entries[this.used * 2] = relative
    this.entries[this.used * 2 + 1] = position
    this.used++
  }

  /** The last entry whose batch ends at or below `offset`; -1 when the search has to begin at the segment's first byte. */
  floor(offset: number): number {
    const relative = offset - this.baseOffset
    let low = 0
    let high = this.used
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.entries[middle * 2]! <= relative) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** Drops the entries of batches that begin at or behind `position`. */
  truncate(position: number): void {
    while (this.used > 0 && this.positionAt(this.used - 1) >= position) this.used--
  }

  /** The entries from `first` on as they stand in the file. */
  encode(first = 0): Uint8Array {
    const bytes = new Uint8Array((this.used - first) * offsetEntryBytes)
    for (let index = first * 2; index < this.used * 2; index++) putInt32(bytes, (index - first * 2) * 4, this.entries[index]!)
    return bytes
  }

  /** Undefined when the bytes cannot be the index of a segment of `segmentBytes`. */
  static decode(baseOffset: number, bytes: Uint8Array, segmentBytes: number): OffsetIndex | undefined {
    if (bytes.length % offsetEntryBytes !== 0) return undefined
    const index = new OffsetIndex(baseOffset, Math.max(1, bytes.length / offsetEntryBytes))
    let [lastRelative, lastPosition] = [-1, -1]
    for (let at = 0; at < bytes.length; at += offsetEntryBytes) {
      const relative = readInt32(bytes, at)
      const position = readInt32(bytes, at + 4)
      if (relative <= lastRelative || position <= lastPosition || position >= segmentBytes) return undefined
      index.add(baseOffset + relative, position)
      lastRelative = relative
      lastPosition = position
    }
    return index
  }
}
