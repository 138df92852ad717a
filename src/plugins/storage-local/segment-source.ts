import { batchBytesOf, batchHeaderBytes, crcValid, lastOffsetOf, magicOf } from '../../kernel/record/batch-header.ts'
import { offsetProblem } from './io/index-file.ts'
import { type Segment } from './io/segment.ts'
import { type LogState } from './log-state.ts'
import { Doubt } from './second-look.ts'

/** Whole batches of a segment, in memory. */
export interface SourceChunk {
  readonly bytes: Uint8Array
  /** Behind the last of them; the first begins at 0. */
  readonly end: number
  /** In the segment. */
  readonly position: number
}

/**
 * Reads the batches of a closed segment one chunk after another, off the event loop, each batch checked against its checksum and its CRC: what is wrong by two reads is told as
 * damage and ends it with MR_LOG_ROTTEN.
 */
export class SegmentSource {
  private readonly log: LogState
  private readonly segment: Segment
  private readonly memory: Uint8Array[]
  private readonly more: (bytes: number) => Uint8Array
  private buffer: Uint8Array
  private position: number
  private end: number
  private doubt: Doubt | undefined
  private readonly truncations: number

  /** `memory` is read into in turn; `more` gives a larger piece for a batch that does not fit, which takes the place of the smaller one. */
  constructor(log: LogState, segment: Segment, memory: Uint8Array[], more: (bytes: number) => Uint8Array) {
    this.log = log
    this.segment = segment
    this.memory = memory
    this.more = more
    this.buffer = memory[0]!
    this.position = 0
    this.end = segment.baseOffset
    this.truncations = segment.truncations
  }

  /** Undefined at the end of the segment, and when that was deleted or cut. The bytes are valid for as many calls more as there are pieces of memory. */
  async next(): Promise<SourceChunk | undefined> {
    const { segment } = this
    while (this.position < segment.sizeBytes && this.isThere) {
      const { position } = this
      const read = await this.read()
      if (!this.isThere) return undefined
      const end = this.checked(read)
      if (end > 0) {
        this.position += end
        const bytes = this.buffer
        this.buffer = this.memory[(this.memory.indexOf(bytes) + 1) % this.memory.length]!
        return { bytes, end, position }
      }
      if (end < 0) this.buffer = this.memory[this.memory.indexOf(this.buffer)] = this.more(-end)
    }
    return undefined
  }

  private get isThere(): boolean { return !this.segment.released && this.segment.truncations === this.truncations }

  private read(): Promise<number> {
    const { segment, buffer, position } = this
    const file = segment.handle.use()
    return new Promise((resolve, reject) => {
      file.readLater(buffer, 0, Math.min(buffer.length, segment.sizeBytes - position), position, (error, read) => {
        segment.handle.done()
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
      if (this.doubt?.position === this.position + at) this.log.cleared(this.doubt)
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

  /** What is before it is given first, if anything is; then it is read once more. */
  private wrong(at: number, reason: string): number {
    if (at > 0) return at
    const { log, segment, position } = this
    if (this.doubt?.position === position || !log.suspects(segment, position)) throw log.damaged(segment, position, reason, this.end)
    this.doubt = new Doubt(segment, position, reason)
    return 0
  }
}
