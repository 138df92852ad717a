import { assert } from '../../base/assert.ts'
import { type ActiveSegment } from '../../kernel/log/roll-policy.ts'
import { batchReaching } from '../../kernel/log/batch-walk.ts'
import { baseOffsetOf, batchBytesOf, lastOffsetOf, maxTimestampOf, newestTimestampOf } from '../../kernel/record/batch-header.ts'

const firstSlabBytes = 4096
const slabBytesMax = 1024 * 1024

/** An entry of a slab's index is made for the first batch that begins so far behind the last entry. */
const indexIntervalBytes = 4096

/**
 * Memory for whole batches, filled from the front and never moved or overwritten: views of it stay right for as long as somebody
 * holds them, also when the log is truncated or the slab dropped.
 */
export class Slab {
  readonly bytes: Uint8Array
  readonly baseOffset: number
  used = 0
  endOffset: number
  maxTimestamp = -1
  /** Nothing is appended any more: bytes behind `used` may have been given out before a truncation. */
  sealed = false
  private readonly offsets: number[] = []
  private readonly positions: number[] = []

  constructor(bytes: Uint8Array, baseOffset: number) {
    this.bytes = bytes
    this.baseOffset = baseOffset
    this.endOffset = baseOffset
  }

  append(bytes: Uint8Array, at: number, length: number): void {
    assert(!this.sealed && this.used + length <= this.bytes.length, 'a slab takes what fits it')
    if (this.used - (this.positions.at(-1) ?? 0) >= indexIntervalBytes) {
      this.offsets.push(baseOffsetOf(bytes, at))
      this.positions.push(this.used)
    }
    this.bytes.set(bytes.subarray(at, at + length), this.used)
    this.used += length
    this.endOffset = lastOffsetOf(bytes, at) + 1
    this.maxTimestamp = Math.max(this.maxTimestamp, newestTimestampOf(bytes, at))
  }

  /** Position of the first batch that reaches `offset`; `used` if there is none. */
  find(offset: number): number {
    let low = 0
    let high = this.offsets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.offsets[middle]! <= offset) low = middle + 1
      else high = middle
    }
    return batchReaching(this.bytes, low === 0 ? 0 : this.positions[low - 1]!, this.used, offset)
  }

  /** Drops the batches from `position` on, which is not the first one's. */
  cut(position: number): void {
    this.sealed = true
    this.used = position
    while (this.positions.length > 0 && this.positions[this.positions.length - 1]! >= position) {
      this.positions.pop()
      this.offsets.pop()
    }
    this.maxTimestamp = -1
    for (let at = 0; at < position; at += batchBytesOf(this.bytes, at)) {
      this.endOffset = lastOffsetOf(this.bytes, at) + 1
      this.maxTimestamp = Math.max(this.maxTimestamp, newestTimestampOf(this.bytes, at))
    }
  }
}

/** What retention drops at a time. A batch never lies in two slabs. */
export class MemorySegment implements ActiveSegment {
  readonly baseOffset: number
  readonly createdMs: number
  readonly jitterMs: number
  readonly indexFull = false
  readonly slabs: Slab[] = []
  sizeBytes = 0
  firstTimestamp = -1

  constructor(baseOffset: number, createdMs: number, jitterMs: number) {
    this.baseOffset = baseOffset
    this.createdMs = createdMs
    this.jitterMs = jitterMs
  }

  get endOffset(): number {
    return this.slabs.at(-1)?.endOffset ?? this.baseOffset
  }

  /** By their timestamps, or when the segment was made where they have none. */
  largestTimestamp(): number {
    let largest = -1
    for (const slab of this.slabs) largest = Math.max(largest, slab.maxTimestamp)
    return largest < 0 ? this.createdMs : largest
  }

  append(bytes: Uint8Array, at: number, length: number): void {
    let slab = this.slabs.at(-1)
    if (slab === undefined || slab.sealed || slab.used + length > slab.bytes.length) {
      const doubled = slab === undefined ? firstSlabBytes : Math.min(slabBytesMax, slab.bytes.length * 2)
      slab = new Slab(new Uint8Array(Math.max(doubled, length)), baseOffsetOf(bytes, at))
      this.slabs.push(slab)
    }
    if (this.sizeBytes === 0) this.firstTimestamp = maxTimestampOf(bytes, at)
    slab.append(bytes, at, length)
    this.sizeBytes += length
  }

  /** The slab that holds `offset`, or the first one behind. */
  slabFor(offset: number): Slab | undefined {
    return this.slabs.find(slab => slab.endOffset > offset)
  }

  /** Drops all batches that reach `offset` or begin above. */
  truncateTo(offset: number): void {
    while (this.slabs.length > 0) {
      const slab = this.slabs.at(-1)!
      if (slab.endOffset <= offset) break
      const position = slab.find(offset)
      this.sizeBytes -= slab.used - position
      if (position === 0) this.slabs.pop()
      else slab.cut(position)
    }
  }
}
