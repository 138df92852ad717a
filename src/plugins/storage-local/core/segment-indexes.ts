import { lastOffsetOf, newestTimestampOf } from '../../../kernel/record/batch-header.ts'
import { OffsetIndex, offsetEntryBytes } from './offset-index.ts'
import { TimeIndex, timeEntryBytes } from './time-index.ts'

/**
 * Both indexes of a segment, and when they get entries: before a batch is counted, if more than `index.interval.bytes` were counted since
 * the last entry. So the first batch never has one, and from any entry to the next no more than the interval and a batch lie.
 */
export class SegmentIndexes {
  readonly offsets: OffsetIndex
  readonly times: TimeIndex
  /** Of the segment; -1 without records or timestamps. */
  largestTimestamp = -1
  /** Last offset of the first batch that has it. */
  largestOffset: number
  /** Bytes counted since the last entry of `offsets`. */
  bytesSinceEntry = 0

  constructor(offsets: OffsetIndex, times: TimeIndex) {
    this.offsets = offsets
    this.times = times
    this.largestTimestamp = times.lastTimestamp
    this.largestOffset = times.lastOffset
  }

  static empty(baseOffset: number): SegmentIndexes {
    return new SegmentIndexes(new OffsetIndex(baseOffset), new TimeIndex(baseOffset))
  }

  get memoryBytes(): number {
    return this.offsets.memoryBytes + this.times.memoryBytes
  }

  /** Whether `segment.index.bytes` has no room for another entry; the time index keeps room for one when it is closed. */
  isFull(indexBytesMax: number): boolean {
    return this.offsets.count >= Math.floor(indexBytesMax / offsetEntryBytes) || this.times.count >= Math.floor(indexBytesMax / timeEntryBytes) - 1
  }

  /** The batch at `bytes[at]`, of so many bytes, lies at `position` in the segment: adds entries if they are due. */
  count(bytes: Uint8Array, at: number, sizeBytes: number, position: number, intervalBytes: number): void {
    const timestamp = newestTimestampOf(bytes, at)
    if (timestamp > this.largestTimestamp) {
      this.largestTimestamp = timestamp
      this.largestOffset = lastOffsetOf(bytes, at)
    }
    if (this.bytesSinceEntry > intervalBytes) {
      this.offsets.add(lastOffsetOf(bytes, at), position)
      this.times.add(this.largestTimestamp, this.largestOffset)
      this.bytesSinceEntry = 0
    }
    this.bytesSinceEntry += sizeBytes
  }

  /**
   * The batches from `position` on, which have offsets from `offset` on, are gone. The caller counts again those that are left behind
   * the last entry, with an interval that adds none.
   */
  truncate(position: number, offset: number): void {
    this.offsets.truncate(position)
    this.times.truncate(offset)
    this.largestTimestamp = this.times.lastTimestamp
    this.largestOffset = this.times.lastOffset
    this.bytesSinceEntry = 0
  }

  /** The segment is complete: its last time entry becomes its largest timestamp. */
  close(): void {
    this.times.add(this.largestTimestamp, this.largestOffset)
  }
}
