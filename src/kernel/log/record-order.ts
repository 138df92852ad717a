import { MillraceError } from '../errors/index.ts'
import { baseOffsetOf, lastOffsetOf } from '../record/batch-header.ts'

/**
 * Whether the records of a batch have offsets of their own that grow within those of its header. A broker checks it of what is produced (`batch.check=records`); with `header`, and in logs
 * that others wrote, a batch with a right CRC may say anything.
 */
export class RecordOrder {
  private before = -1
  private last = -1

  open(bytes: Uint8Array, at: number): this {
    this.before = baseOffsetOf(bytes, at) - 1
    this.last = lastOffsetOf(bytes, at)
    return this
  }

  /** The next record has this offset. Throws MR_RECORD_CORRUPT when it cannot have. */
  check(offset: number): void {
    if (offset <= this.before || offset > this.last) throw new MillraceError('MR_RECORD_CORRUPT', { reason: `a record at offset ${offset} behind ${this.before}, in a batch up to ${this.last}` })
    this.before = offset
  }
}
