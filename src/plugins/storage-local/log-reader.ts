import { batchReaching, lengthIsSound, run, runEnd } from '../../kernel/log/batch-walk.ts'
import { type ReadRequest, type ReadSink } from '../../kernel/ports/partition-log.ts'
import { baseOffsetOf, batchBytesOf, batchHeaderBytes, crcValid, lastOffsetOf, magicOf } from '../../kernel/record/batch-header.ts'
import { type PooledBuffer } from './core/buffer-pool.ts'
import { entryHolds, offsetProblem } from './io/index-file.ts'
import { type Segment } from './io/segment.ts'
import { type LogState } from './log-state.ts'
import { Doubt } from './second-look.ts'

const nothing = new Uint8Array(0)
const noRelease = (): void => {}

/** Up to here a read takes an index interval more than it was asked for, so that the batches before the offset cost it nothing. */
const largeReadBytes = 65_536

/** A read that has to check what it gives ends behind so much of it. */
const checkedBytesMax = 1 << 20

/** Ends of the last reads: a reader that goes on finds its place without the index and without a byte too many. */
const hintsKept = 8

/**
 * Reads of one log: the index says where to begin, one positioned read brings the bytes into a pooled buffer, a walk over their headers
 * cuts out the batches that were asked for. What this process wrote lately is read on the event loop, the rest off it.
 *
 * What was there before this process began is checked when it is read for the first time: each batch against its checksum and its CRC, so many
 * bytes at a time that the event loop is not held up. A read ends before what is damaged, and one that begins there fails with MR_LOG_ROTTEN; whatever lies
 * behind is served. What is damaged by one read is read once more first. What this process wrote, or has checked once, is not checked again: at the rate of fetches that costs more than the
 * rest of the read.
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
  /** The checksums say that a batch begins at `position`. */
  private placedBySums = false
  private truncations = 0
  private distrusted = false
  private problem = ''
  /** Was not as it was written, and is read once more. */
  private doubt: Doubt | undefined

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
    this.placedBySums = false
    this.position = this.reader.hint(segment, request.offset)
    if (this.position >= 0) return wanted
    if (request.offset < segment.trustedOffset) {
      this.position = segment.sums.placeOf(request.offset)
      this.placedBySums = this.position >= 0
      if (this.placedBySums) return wanted
    }
    const { offsets } = segment.indexes()
    const entry = offsets.floor(request.offset)
    this.position = entry < 0 ? 0 : offsets.positionAt(entry)
    if (entry >= 0) this.entryOffset = offsets.offsetAt(entry)
    // Whatever is wrong with what was there before is not in the way of what this process wrote behind it.
    if (request.offset >= segment.trustedOffset && this.position < segment.trustedFrom) {
      this.position = segment.trustedFrom
      this.entryOffset = -1
    }
    // The batch is up to an interval behind; for a large read a little less at its end is better than a buffer of twice the size.
    return wanted > largeReadBytes ? wanted : wanted + segment.intervalBytes
  }

  /** Reads up to so many bytes from `position`, now or later, and goes on with them. */
  private bring(bytes: number): void {
    const { segment, position } = this
    const length = Math.min(bytes, segment.sizeBytes - position)
    if (length <= 0) return this.atEnd(bytes)
    const buffer = this.log.world.buffers.lend(length)
    if (this.isResident()) return this.take(buffer, length, () => segment.read(buffer.bytes, length, position))
    this.reader.waits(this)
    const file = segment.handle.use()
    file.readLater(buffer.bytes, 0, length, position, (error, read) => {
      segment.handle.done()
      if (this.ended) return buffer.release()
      if (error === undefined && this.truncations === this.log.truncations && !segment.released) return this.take(buffer, length, () => read)
      buffer.release()
      if (error === undefined) this.restart()
      else this.end(this.log.home.fault(error))
    })
  }

  /** Nothing is left of the segment: whether that is as it should be is asked of one that was there before. */
  private atEnd(bytes: number): void {
    const { log, segment } = this
    const nextBase = log.segments[log.segments.indexOf(segment) + 1]?.baseOffset
    const problem = segment.endSure && !this.placedBySums ? undefined
      : this.checked(() => segment.sums.endProblem(segment.sizeBytes, nextBase, this.placedBySums ? this.position : -1))
    if (problem === 'begin anew') return this.begin()
    if (problem !== undefined) return this.condemn(this.placedBySums ? this.position : segment.sizeBytes, problem)
    segment.endSure = true
    this.goOn(bytes)
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

  private take(buffer: PooledBuffer, length: number, read: () => number): void {
    try {
      this.arrived(buffer, length, read())
    } catch (error) {
      if (buffer.lent) buffer.release()
      this.end(this.log.home.fault(error))
    }
  }

  private arrived(buffer: PooledBuffer, length: number, read: number): void {
    const { request } = this
    const { bytes } = buffer
    if (read < length) return this.suspect(buffer, 0, 'the file is shorter than it was')
    if (this.entryOffset >= 0 && !(length >= batchHeaderBytes && entryHolds(bytes, 0, this.entryOffset))) return this.distrust(buffer)
    this.placedBySums = false
    const at = this.reaching(bytes, length)
    if (at < 0) return this.rotten(buffer, -at - 1)
    if (at + batchHeaderBytes > length) return this.again(buffer, at, batchHeaderBytes, Math.max(request.maxBytes, batchHeaderBytes))
    if (magicOf(bytes, at) !== 2 || !lengthIsSound(bytes, at)) return this.suspect(buffer, at, 'no batch begins there')
    const first = batchBytesOf(bytes, at)
    const wanted = baseOffsetOf(bytes, at) < request.endOffset && (first <= request.maxBytes || request.atLeastOneBatch)
    if (wanted && at + first > length) return this.again(buffer, at, first, first)
    const found = runEnd(bytes, at, length, request.endOffset, request.maxBytes, request.atLeastOneBatch)
    if (found === at) {
      buffer.release()
      return this.finish(nothing, noRelease)
    }
    const end = this.segment.isProven(this.position + at, this.position + found) ? found : this.prove(bytes, at, found)
    if (end < 0) return this.rotten(buffer, -end - 1)
    this.reader.remember(this.segment, lastOffsetOf(bytes, run.lastAt) + 1, this.position + end)
    this.finish(bytes.subarray(at, end), buffer.release)
  }

  /**
   * Where the first batch begins that reaches the offset, or where its header would; headers that were there before are checked on the way. `-1 - at`
   * when something is wrong with the one at `at`; `problem` says what.
   */
  private reaching(bytes: Uint8Array, length: number): number {
    const { segment, position, request } = this
    if (position >= segment.trustedFrom) return batchReaching(bytes, 0, length, request.offset)
    let at = 0
    let end = segment.baseOffset
    while (at + batchHeaderBytes <= length) {
      const problem = this.checked(() => segment.check(bytes, at, position + at))
      if (problem !== undefined) return this.problemAt(at, problem)
      // What is no batch says nothing of where the next one begins.
      if (magicOf(bytes, at) !== 2 || !lengthIsSound(bytes, at)) break
      const unfit = offsetProblem({ bytes, at }, end, segment.baseOffset)
      if (unfit !== undefined) return this.problemAt(at, this.judged(unfit))
      end = lastOffsetOf(bytes, at) + 1
      if (end > request.offset) break
      at += batchBytesOf(bytes, at)
    }
    return at
  }

  /** Checks whole batches from `at` on. Gives where they end, before what is damaged; `-1 - at` when that is the first. */
  private prove(bytes: Uint8Array, at: number, found: number): number {
    const { segment, position, log } = this
    let end = at
    while (end < found && (end === at || end - at < checkedBytesMax)) {
      const problem = this.checked(() => segment.check(bytes, end, position + end)) ?? (crcValid(bytes, end) ? undefined : end > at ? 'not this time' : this.judged('the CRC of the batch does not match'))
      if (problem !== undefined && end === at) return this.problemAt(end, problem)
      if (problem !== undefined) break
      run.lastAt = end
      end += batchBytesOf(bytes, end)
    }
    log.world.integrity.firstReadBytes += end - at
    segment.prove(position + at, position + end)
    log.intact(segment, position + at, position + end)
    return end
  }

  /** Asks the checksums something. When they turn out to be wrong themselves, and have led here, the read begins anew without them. */
  private checked(ask: () => string | undefined): string | undefined {
    const { sums } = this.segment
    const wereKept = sums.isKept
    const problem = ask()
    return wereKept && !sums.isKept ? 'begin anew' : problem
  }

  /** What is wrong, unless the checksums are, by which it was found. */
  private judged(reason: string): string {
    return this.checked(() => this.segment.sums.judge(reason)) ?? 'begin anew'
  }

  private problemAt(at: number, problem: string): number {
    this.problem = problem
    return -1 - at
  }

  /** The batch begins at `at` of what was read, and at least `needed` bytes of it have to be there. */
  private again(buffer: PooledBuffer, at: number, needed: number, bytes: number): void {
    this.position += at
    this.entryOffset = -1
    const left = this.segment.sizeBytes - this.position
    if (left !== 0 && left < needed) return this.suspect(buffer, 0, 'the batch is longer than the segment')
    buffer.release()
    try {
      this.bring(bytes)
    } catch (error) {
      this.end(this.log.home.fault(error))
    }
  }

  private suspect(buffer: PooledBuffer, at: number, reason: string): void {
    this.problem = this.judged(reason)
    this.rotten(buffer, at)
  }

  /** What was asked of the checksums has come to `problem`. */
  private rotten(buffer: PooledBuffer, at: number): void {
    if (this.problem !== 'begin anew') return this.damaged(buffer, at, this.problem)
    buffer.release()
    this.begin()
  }

  private damaged(buffer: PooledBuffer, at: number, reason: string): void {
    buffer.release()
    this.condemn(this.position + at, reason)
  }

  private condemn(position: number, reason: string): void {
    const { log, segment } = this
    if (this.doubt !== undefined || !log.suspects(segment, position)) return this.end(log.damaged(segment, position, reason, this.request.offset))
    this.doubt = new Doubt(segment, position, reason)
    this.begin()
  }

  /** The index led to no batch: once more with one made from the batches. */
  private distrust(buffer: PooledBuffer): void {
    if (this.distrusted) return this.suspect(buffer, 0, 'no batch begins there')
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
    if (this.doubt !== undefined) this.log.cleared(this.doubt)
    this.reader.over(this)
    this.sink.read(bytes, release)
  }
}
