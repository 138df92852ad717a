import { crc32c } from '../../../base/crc32c.ts'
import { type File } from '../../../kernel/ports/file-system.ts'
import { batchBytesOf, batchChecksumStart, batchHeaderBytes, crcOf, magicOf } from '../../../kernel/record/batch-header.ts'

/** What is wrong with the header at `bytes[at]`, which was read at a position of the file; undefined when nothing is known to be. */
export type HeaderCheck = (bytes: Uint8Array, at: number, position: number) => string | undefined

/** Chunks that stay in a processor's cache between the read and the CRC. */
export const scanChunkBytes = 262_144

/**
 * Steps through the batches of a segment in order. Only headers are read while they lie apart; `load` brings in the whole of a batch. What
 * is checked of a header is that its length and magic can be a batch's and that the file holds so many bytes.
 */
export class BatchScan {
  /** The current batch begins at `bytes[at]`, with its header at least. Both change with every step, and with `crcValid`. */
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
  private readonly check: HeaderCheck | undefined
  private buffer: Uint8Array
  private bufferStart: number
  private filled = 0
  /** Of a batch whose bytes have passed through the buffer. */
  private readonly header = new Uint8Array(batchHeaderBytes)

  /** Scans the range from `position`, where a batch begins, to `end`. Most ranges are short: a fresh buffer is no longer than its range. */
  constructor(file: File, position: number, end: number, buffer = new Uint8Array(Math.min(65_536, Math.max(0, end - position))), check?: HeaderCheck) {
    this.file = file
    this.position = position
    this.end = end
    this.check = check
    this.bytes = this.buffer = buffer
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
    const problem = this.check?.(this.bytes, this.at, this.position)
    if (problem !== undefined) return this.stop(problem)
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

  /** Whether the CRC of the current batch is that of its bytes. They are read once, however long it is; its header is at `bytes[at]` afterwards. */
  crcValid(): boolean {
    const { bytes, at, sizeBytes } = this
    const crc = crcOf(bytes, at)
    const there = this.filled - at
    if (there >= sizeBytes) return crc32c(bytes, at + batchChecksumStart, at + sizeBytes) === crc
    this.header.set(bytes.subarray(at, at + batchHeaderBytes))
    let found = crc32c(bytes, at + batchChecksumStart, this.filled)
    const end = this.position + sizeBytes
    for (let position = this.position + there; position < end;) {
      this.fill(position)
      const length = Math.min(this.filled, end - position)
      if (length === 0) return false
      found = crc32c(this.buffer, 0, length, found)
      position += length
    }
    this.bytes = this.header
    this.at = 0
    return found === crc
  }

  private bring(length: number): boolean {
    this.bytes = this.buffer
    this.at = this.position - this.bufferStart
    if (this.at >= 0 && this.at + length <= this.filled) return true
    if (length > this.buffer.length) this.bytes = this.buffer = new Uint8Array(2 ** Math.ceil(Math.log2(length)))
    this.fill(this.position)
    this.at = 0
    return this.filled >= length
  }

  private fill(position: number): void {
    this.filled = this.file.read(this.buffer, 0, Math.min(this.buffer.length, this.end - position), position)
    this.bufferStart = position
  }

  private stop(problem: string): false {
    this.problem = problem
    return false
  }
}
