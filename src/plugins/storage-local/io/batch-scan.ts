import { type File } from '../../../kernel/ports/file-system.ts'
import { batchBytesOf, batchHeaderBytes, magicOf } from '../../../kernel/record/batch-header.ts'

/**
 * Steps through the batches of a segment in order. Only headers are read while they lie apart; `load` brings in the whole of a batch. What
 * is checked of a header is that its length and magic can be a batch's and that the file holds so many bytes.
 */
export class BatchScan {
  /** The current batch begins at `bytes[at]`, with its header at least. Both change with every step. */
  bytes: Uint8Array
  at = 0
  /** Where the current batch begins in the file; where the scan ended, once `next` was false. */
  position: number
  /** Of the current batch. */
  sizeBytes = 0
  /** Why the scan ended before the end of the range, in words for the log. */
  problem: string | undefined
  private readonly file: File
  private readonly end: number
  private bufferStart: number
  private filled = 0

  /** Scans the range from `position`, where a batch begins, to `end`. */
  constructor(file: File, position: number, end: number, buffer = new Uint8Array(65_536)) {
    this.file = file
    this.position = position
    this.end = end
    this.bytes = buffer
    this.bufferStart = position
  }

  /** Moves to the next batch; false at the end of the range, and at what is no batch. */
  next(): boolean {
    this.position += this.sizeBytes
    this.sizeBytes = 0
    const left = this.end - this.position
    if (left === 0) return false
    if (left < batchHeaderBytes) return this.stop(`${left} bytes are left, less than a header`)
    if (!this.bring(batchHeaderBytes)) return this.stop('the file ends before its size')
    if (magicOf(this.bytes, this.at) !== 2) return this.stop(`the magic is ${magicOf(this.bytes, this.at)}, not 2`)
    const size = batchBytesOf(this.bytes, this.at)
    if (size < batchHeaderBytes) return this.stop(`the length says ${size} bytes`)
    if (size > left) return this.stop(`the length says ${size} bytes and ${left} are left`)
    this.sizeBytes = size
    return true
  }

  /** Makes the whole of the current batch be in `bytes`. False when the file has become shorter. */
  load(): boolean {
    return this.bring(this.sizeBytes)
  }

  private bring(length: number): boolean {
    this.at = this.position - this.bufferStart
    if (this.at >= 0 && this.at + length <= this.filled) return true
    if (length > this.bytes.length) this.bytes = new Uint8Array(2 ** Math.ceil(Math.log2(length)))
    const wanted = Math.min(this.bytes.length, this.end - this.position)
    this.filled = this.file.read(this.bytes, 0, wanted, this.position)
    this.bufferStart = this.position
    this.at = 0
    return this.filled >= length
  }

  private stop(problem: string): false {
    this.problem = problem
    return false
  }
}
