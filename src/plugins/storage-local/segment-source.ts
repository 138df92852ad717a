import { batchBytesOf, batchHeaderBytes, crcValid, lastOffsetOf, magicOf } from '../../kernel/record/batch-header.ts'
import { type File } from '../../kernel/ports/file-system.ts'
import { type HeaderCheck } from './io/batch-scan.ts'
import { offsetProblem } from './io/index-file.ts'

/** A closed segment that is read through: in its log, or in a thread that knows its file alone. */
export interface ReadSegment {
  readonly baseOffset: number
  readonly endOffset: number
  readonly sizeBytes: number
  /** Not once it was deleted or cut: then nothing more of it is read. */
  readonly isThere: boolean
  readonly check: HeaderCheck
  /** Its file; every `use` is followed by a `done`. */
  use(): File
  done(): void
  /** The batch at a position is as it was written. */
  right(position: number): void
  /** It is not, by this read; `end`: where what is before it ends. Throws what ends the reading; else it is read once more. */
  wrong(position: number, reason: string, end: number): void
}

/** Whole batches of a segment, in memory. */
export interface SourceChunk {
  readonly bytes: Uint8Array
  /** Behind the last of them; the first begins at 0. */
  readonly end: number
  /** In the segment. */
  readonly position: number
}

/** Reads the batches of a closed segment one chunk after another, each batch checked against its checksum and its CRC. */
export class SegmentSource {
  /** What is read into: it grows for a batch that does not fit. */
  buffer: Uint8Array
  private readonly segment: ReadSegment
  private position = 0
  private end: number

  constructor(segment: ReadSegment, buffer: Uint8Array) {
    this.segment = segment
    this.buffer = buffer
    this.end = segment.baseOffset
  }

  /** Undefined at the end of the segment, and when that was deleted or cut. The bytes are valid until the next call. */
  async next(): Promise<SourceChunk | undefined> {
    const { segment } = this
    while (this.position < segment.sizeBytes && segment.isThere) {
      const { position } = this
      const read = await this.read()
      if (!segment.isThere) return undefined
      const end = this.checked(read)
      if (end > 0) {
        this.position += end
        return { bytes: this.buffer, end, position }
      }
      if (end < 0) this.buffer = new Uint8Array(-end)
    }
    return undefined
  }

  private read(): Promise<number> {
    const { segment, buffer, position } = this
    const file = segment.use()
    return new Promise((resolve, reject) => {
      file.readLater(buffer, 0, Math.min(buffer.length, segment.sizeBytes - position), position, (error, read) => {
        segment.done()
        if (error === undefined) resolve(read)
        else reject(error as Error)
      })
    })
  }

  /** Where the whole batches of what was read end; 0 when something is to be read once more, and less when the first one needs so large a buffer. */
  private checked(read: number): number {
    const { buffer, segment } = this
    if (read < Math.min(buffer.length, segment.sizeBytes - this.position)) return this.wrong(0, 'the file is shorter than it was')
    let at = 0
    while (at + batchHeaderBytes <= read) {
      const problem = this.headerProblem(at)
      if (problem !== undefined) return this.wrong(at, problem)
      const size = batchBytesOf(buffer, at)
      if (at + size > read) {
        if (this.position + at + size > segment.sizeBytes) return this.wrong(at, 'the batch is longer than the segment')
        return at > 0 ? at : -size
      }
      if (!crcValid(buffer, at)) return this.wrong(at, 'the CRC of the batch does not match')
      segment.right(this.position + at)
      this.end = lastOffsetOf(buffer, at) + 1
      at += size
    }
    return at > 0 ? at : this.wrong(0, 'no whole batch is left')
  }

  private headerProblem(at: number): string | undefined {
    const { buffer, segment, position } = this
    const problem = segment.check(buffer, at, position + at)
    if (problem !== undefined) return problem
    if (magicOf(buffer, at) !== 2 || batchBytesOf(buffer, at) < batchHeaderBytes) return 'no batch begins there'
    return offsetProblem({ bytes: buffer, at }, this.end, segment.baseOffset)
  }

  /** What is before it is given first, if anything is. */
  private wrong(at: number, reason: string): number {
    if (at === 0) this.segment.wrong(this.position, reason, this.end)
    return at
  }
}
