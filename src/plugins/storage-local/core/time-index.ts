import { putInt32, putInt64, readInt32, readInt64 } from '../../../kernel/record/batch-header.ts'

export const timeEntryBytes = 12

/**
 * The entries of a `.timeindex` file: a timestamp, and the last offset of the batch that has it as its maximum, less the segment's base
 * offset. All batches up to that one have timestamps at most as large; timestamps and offsets ascend strictly.
 */
export class TimeIndex {
  readonly baseOffset: number
  private readonly timestamps: number[] = []
  private readonly offsets: number[] = []

  constructor(baseOffset: number) {
    this.baseOffset = baseOffset
  }

  get count(): number { return this.timestamps.length }
  get memoryBytes(): number { return this.timestamps.length * 16 }
  /** -1 without entries. */
  get lastTimestamp(): number { return this.timestamps.at(-1) ?? -1 }
  get lastOffset(): number { return this.baseOffset + (this.offsets.at(-1) ?? 0) }

  timestampAt(index: number): number { return this.timestamps[index]! }
  offsetAt(index: number): number { return this.baseOffset + this.offsets[index]! }

  /** Adds an entry if it says something new: the timestamp is larger than the last entry's. */
  add(timestamp: number, lastOffset: number): void {
    if (timestamp <= this.lastTimestamp) return
    this.timestamps.push(timestamp)
    this.offsets.push(lastOffset - this.baseOffset)
  }

  /** The last entry with a timestamp at or below; -1 without one. */
  floor(timestamp: number): number {
    return floorOf(this.timestamps, timestamp)
  }

  /** The last entry with an offset at or below; -1 without one. */
  floorByOffset(offset: number): number {
    return floorOf(this.offsets, offset - this.baseOffset)
  }

  /** Drops the entries with offsets at or above. */
  truncate(offset: number): void {
    while (this.offsets.length > 0 && this.offsets[this.offsets.length - 1]! >= offset - this.baseOffset) {
      this.offsets.pop()
      this.timestamps.pop()
    }
  }

  encode(first = 0): Uint8Array {
    const bytes = new Uint8Array((this.count - first) * timeEntryBytes)
    for (let index = first; index < this.count; index++) {
      putInt64(bytes, (index - first) * timeEntryBytes, this.timestamps[index]!)
      putInt32(bytes, (index - first) * timeEntryBytes + 8, this.offsets[index]!)
    }
    return bytes
  }

  /** Undefined when the bytes cannot be the time index of a segment that ends at `endOffset`. */
  static decode(baseOffset: number, bytes: Uint8Array, endOffset: number): TimeIndex | undefined {
    if (bytes.length % timeEntryBytes !== 0) return undefined
    const index = new TimeIndex(baseOffset)
    let lastRelative = -1
    for (let at = 0; at < bytes.length; at += timeEntryBytes) {
      const timestamp = readInt64(bytes, at)
      const relative = readInt32(bytes, at + 8)
      if (timestamp <= index.lastTimestamp || !Number.isSafeInteger(timestamp)) return undefined
      if (relative <= lastRelative || baseOffset + relative >= endOffset) return undefined
      index.add(timestamp, baseOffset + relative)
      lastRelative = relative
    }
    return index
  }
}

function floorOf(ascending: readonly number[], value: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}
