import { batchReaching, lengthIsSound, run, runEnd } from '../../kernel/log/batch-walk.ts'
import { type ReadRequest, type ReadSink } from '../../kernel/ports/partition-log.ts'
import { baseOffsetOf, batchBytesOf, batchHeaderBytes, lastOffsetOf, magicOf } from '../../kernel/record/batch-header.ts'
import { type PooledBuffer } from './core/buffer-pool.ts'
import { entryHolds } from './io/index-file.ts'
import { type Segment } from './io/segment.ts'
import { type LogState } from './log-state.ts'

const nothing = new Uint8Array(0)
const noRelease = (): void => {}

/** Up to here a read takes an index interval more than it was asked for, so that the batches before the offset cost it nothing. */
const largeReadBytes = 65_536

/** Ends of the last reads: a reader that goes on finds its place without the index and without a byte too many. */
const hintsKept = 8

/**
 * Reads of one log: the index says where to begin, one positioned read brings the bytes into a pooled buffer, a walk over their headers
 * cuts out the batches that were asked for. What this process wrote lately is read on the event loop, the rest off it.
 *
 * The CRC of a stored batch is not checked here: at the rate of fetches that costs more than the rest of the read. Every client checks
 * it; recovery does for what was not synced.
 *
 * While a read off the loop is under way its log may be cut, its segment deleted, or all of it closed. It then ends with the data, begins
 * anew, or fails with MR_LOG_OFFSET_OUT_OF_RANGE or why the log is out of service; a segment that was given up is not opened again.
 */
export class LogReader {
  private readonly log: LogState
  private readonly pending = new Set<ReadRun>()
  private readonly hintOffsets = new Float64Array(hintsKept).fill(-1)
  private readonly hintPositions = new Float64Array(hintsKept)
  private readonly hintSegments: (Segment | undefined)[] = new Array<undefined>(hintsKept).fill(undefined)
  private nextHint = 0

  constructor(log: LogState) {
    this.log = log
    log.onFailure.push(error => {
      for (const reading of [...this.pending]) reading.end(error)
    })
  }

  read(request: ReadRequest, sink: ReadSink): (() => void) | undefined {
    const { log } = this
    if (log.failure !== undefined) return void sink.failed(log.failure)
    const { offset, endOffset } = request
    if (offset < log.start || offset > log.end) return void sink.failed(log.outOfRange(offset))
    if (offset >= endOffset || offset === log.end) return void sink.read(nothing, noRelease)
    const reading = new ReadRun(this, log, request, sink)
    reading.begin()
    return reading.ended ? undefined : () => reading.cancel()
  }

  /** The position where the batch at `offset` begins, if a read ended right before it; -1 otherwise. */
  hint(segment: Segment, offset: number): number {
    for (let index = 0; index < hintsKept; index++) {
      if (this.hintOffsets[index] === offset && this.hintSegments[index] === segment) return this.hintPositions[index]!
    }
    return -1
  }

  remember(segment: Segment, offset: number, position: number): void {
    this.hintSegments[this.nextHint] = segment
    this.hintOffsets[this.nextHint] = offset
    this.hintPositions[this.nextHint] = position
    this.nextHint = (this.nextHint + 1) % hintsKept
  }

  /** The log was truncated. */
  forgetHints(): void {
    this.hintOffsets.fill(-1)
    this.hintSegments.fill(undefined)
  }

  waits(reading: ReadRun): void { this.pending.add(reading) }
  over(reading: ReadRun): void { this.pending.delete(reading) }
}

/** One read, from its place in the index to the sink. */
class ReadRun {
  ended = false
  private readonly reader: LogReader
  private readonly log: LogState
  private readonly request: ReadRequest
  private readonly sink: ReadSink
  private segment: Segment
  private position = 0
  /** The last offset of the batch that the index says begins at `position`; -1 when the position comes from elsewhere. */
  private entryOffset = -1
  private truncations = 0
  private distrusted = false

  constructor(reader: LogReader, log: LogState, request: ReadRequest, sink: ReadSink) {
    this.reader = reader
    this.log = log
    this.request = request
    this.sink = sink
    this.segment = log.active
  }

  begin(): void {
    const { log, request } = this
    this.truncations = log.truncations
    const index = log.segmentOf(request.offset)
    if (index < 0) return this.finish(nothing, noRelease)
    this.segment = log.segments[index]!
    try {
      this.bring(this.locate())
    } catch (error) {
      this.end(log.home.fault(error))
    }
  }

  cancel(): void {
    this.ended = true
    this.reader.over(this)
  }

  end(error: unknown): void {
    if (this.ended) return
    this.cancel()
    this.sink.failed(error)
  }

  /** Finds the position to read from; gives how many bytes to read there. */
  private locate(): number {
    const { segment, request } = this
    const wanted = Math.max(request.maxBytes, batchHeaderBytes)
    this.entryOffset = -1
    this.position = this.reader.hint(segment, request.offset)
    if (this.position >= 0) return wanted
    const { offsets } = segment.indexes()
    const entry = offsets.floor(request.offset)
    this.position = entry < 0 ? 0 : offsets.positionAt(entry)
    if (entry >= 0) this.entryOffset = offsets.offsetAt(entry)
    // The batch is up to an interval behind; for a large read a little less at its end is better than a buffer of twice the size.
    return wanted > largeReadBytes ? wanted : wanted + segment.intervalBytes
  }

  /** Reads up to so many bytes from `position`, now or later, and goes on with them. */
  private bring(bytes: number): void {
    const { segment, position } = this
    const length = Math.min(bytes, segment.sizeBytes - position)
    if (length <= 0) return this.goOn(bytes)
    const buffer = this.log.world.buffers.lend(length)
    if (this.isResident()) return this.arrived(buffer, length, segment.read(buffer.bytes, length, position))
    this.reader.waits(this)
    const file = segment.handle.use()
    file.readLater(buffer.bytes, 0, length, position, (error, read) => {
      segment.handle.done()
      if (this.ended) return buffer.release()
      if (error === undefined && this.truncations === this.log.truncations && !segment.released) return this.arrived(buffer, length, read)
      buffer.release()
      if (error === undefined) this.restart()
      else this.end(this.log.home.fault(error))
    })
  }

  /** No batch of the segment reaches the offset: those behind a gap that compaction left are in the next one. */
  private goOn(bytes: number): void {
    const next = this.log.segments[this.log.segments.indexOf(this.segment) + 1]
    if (next === undefined) return this.finish(nothing, noRelease)
    this.segment = next
    this.position = 0
    this.entryOffset = -1
    this.bring(bytes)
  }

  private restart(): void {
    const { log, request } = this
    if (request.offset < log.start || request.offset > log.end) return this.end(log.outOfRange(request.offset))
    this.begin()
  }

  private isResident(): boolean {
    const { log, segment, position } = this
    if (position < segment.residentFrom) return false
    let distance = segment.sizeBytes - position
    for (let index = log.segments.length - 1; log.segments[index] !== segment && index >= 0; index--) distance += log.segments[index]!.sizeBytes
    return distance <= log.world.residentBytes
  }

  private arrived(buffer: PooledBuffer, length: number, read: number): void {
    const { request } = this
    const { bytes } = buffer
    if (read < length) return this.damaged(buffer, 'the file is shorter than it was')
    if (this.entryOffset >= 0 && !(length >= batchHeaderBytes && entryHolds(bytes, 0, this.entryOffset))) return this.distrust(buffer)
    const at = batchReaching(bytes, 0, length, request.offset)
    if (at + batchHeaderBytes > length) return this.again(buffer, at, batchHeaderBytes, Math.max(request.maxBytes, batchHeaderBytes))
    if (magicOf(bytes, at) !== 2 || !lengthIsSound(bytes, at)) return this.damaged(buffer, `no batch begins at byte ${this.position + at}`)
    const first = batchBytesOf(bytes, at)
    const wanted = baseOffsetOf(bytes, at) < request.endOffset && (first <= request.maxBytes || request.atLeastOneBatch)
    if (wanted && at + first > length) return this.again(buffer, at, first, first)
    const end = runEnd(bytes, at, length, request.endOffset, request.maxBytes, request.atLeastOneBatch)
    if (end === at) {
      buffer.release()
      return this.finish(nothing, noRelease)
    }
    this.reader.remember(this.segment, lastOffsetOf(bytes, run.lastAt) + 1, this.position + end)
    this.finish(bytes.subarray(at, end), buffer.release)
  }

  /** The batch begins at `at` of what was read, and at least `needed` bytes of it have to be there. */
  private again(buffer: PooledBuffer, at: number, needed: number, bytes: number): void {
    this.position += at
    this.entryOffset = -1
    const left = this.segment.sizeBytes - this.position
    if (left > 0 && left < needed) return this.damaged(buffer, `the batch at byte ${this.position} is longer than the segment`)
    buffer.release()
    try {
      this.bring(bytes)
    } catch (error) {
      this.end(this.log.home.fault(error))
    }
  }

  private damaged(buffer: PooledBuffer, reason: string): void {
    buffer.release()
    this.end(this.log.corrupt(this.request.offset, this.segment.path('.log'), reason))
  }

  /** The index led to no batch: once more with one made from the batches. */
  private distrust(buffer: PooledBuffer): void {
    if (this.distrusted) return this.damaged(buffer, `no batch begins at byte ${this.position}`)
    buffer.release()
    this.distrusted = true
    try {
      this.segment.distrustIndexes()
    } catch (error) {
      return this.end(this.log.home.fault(error))
    }
    this.begin()
  }

  private finish(bytes: Uint8Array, release: () => void): void {
    this.ended = true
    this.reader.over(this)
    this.sink.read(bytes, release)
  }
}
