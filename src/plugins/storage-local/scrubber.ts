import { isMillraceError } from '../../kernel/errors/index.ts'
import { type Timer } from '../../kernel/ports/clock.ts'
import { batchBytesOf, batchHeaderBytes, crcValid, lastOffsetOf, magicOf } from '../../kernel/record/batch-header.ts'
import { SegmentIndexes } from './core/segment-indexes.ts'
import { offsetProblem } from './io/index-file.ts'
import { type Segment } from './io/segment.ts'
import { type LogState } from './log-state.ts'
import { type LogWorld } from './log-world.ts'
import { Doubt } from './second-look.ts'

export interface ScrubberOptions {
  /** 0: nothing is read. */
  readonly bytesPerSecond: number
  /** From the beginning of a pass to that of the next, at least. */
  readonly intervalMs: number
  readonly logs: () => Iterable<LogState>
}

const chunkBytes = 256 * 1024
/** Whoever has just started has better things to read. */
const firstPassMs = 600_000

/**
 * Reads closed segments again and again, one at a time and no faster than it is told, off the event loop, and checks every batch: against its
 * checksum, or, where a segment has none, by its CRC; then its checksums and indexes are made anew. What is damaged is told once and refused from then on. What the page cache
 * has comes from there: rot below it is seen when it has been dropped.
 */
export class Scrubber {
  private readonly world: LogWorld
  private readonly options: ScrubberOptions
  private timer: Timer | undefined
  private stopped = false

  constructor(world: LogWorld, options: ScrubberOptions) {
    this.world = world
    this.options = options
  }

  start(): void {
    if (this.options.bytesPerSecond > 0) this.after(Math.min(firstPassMs, this.options.intervalMs), () => this.pass())
  }

  stop(): void {
    this.stopped = true
    this.timer?.cancel()
  }

  /** Calls back later, unless the scrubber was stopped. */
  after(ms: number, run: () => void): void {
    if (!this.stopped) this.timer = this.world.timers.after(ms, () => { if (!this.stopped) run() })
  }

  private pass(): void {
    const { clock, integrity } = this.world
    const beganMs = clock.monotonicMs()
    const due: (readonly [LogState, Segment])[] = []
    for (const log of this.options.logs()) for (const segment of log.segments) if (!segment.isActive) due.push([log, segment])
    const next = (): void => {
      let place = due.shift()
      // Those that were replaced, cut or deleted since the pass began say nothing of what is there now.
      while (place !== undefined && !isClosed(...place)) place = due.shift()
      const [log, segment] = place ?? []
      if (log !== undefined && segment !== undefined) return new SegmentScrub(this.world, log, segment).run(bytes => this.paceMs(bytes), (ms, go) => this.after(ms, go), next)
      integrity.passes++
      integrity.lastPassMs = clock.monotonicMs()
      this.after(Math.max(1000, beganMs + this.options.intervalMs - integrity.lastPassMs), () => this.pass())
    }
    next()
  }

  private paceMs(bytes: number): number {
    return Math.ceil(bytes * 1000 / this.options.bytesPerSecond)
  }
}

/** Still a closed segment of a log in service. */
const isClosed = (log: LogState, segment: Segment): boolean => log.failure === undefined && !segment.released && !segment.isActive

/** One segment, from its first byte to its last. */
class SegmentScrub {
  private readonly world: LogWorld
  private readonly log: LogState
  private readonly segment: Segment
  private position = 0
  /** No longer than the segment: there may be thousands of small ones. */
  private buffer: Uint8Array
  /** Of a segment that has no checksums: what they are made from. */
  private made: { readonly indexes: SegmentIndexes, end: number } | undefined
  /** Is not as it was written, and is read once more. */
  private doubt: Doubt | undefined
  private readonly truncations: number

  constructor(world: LogWorld, log: LogState, segment: Segment) {
    this.world = world
    this.log = log
    this.segment = segment
    this.truncations = segment.truncations
    this.buffer = new Uint8Array(Math.min(chunkBytes, segment.sizeBytes))
  }

  run(paceMs: (bytes: number) => number, after: (ms: number, go: () => void) => void, done: () => void): void {
    const step = (): void => {
      if (!this.isThere) return done()
      if (this.position >= this.segment.sizeBytes) {
        this.attempt(() => this.finish())
        return done()
      }
      this.read(bytes => { after(paceMs(bytes), step) }, done)
    }
    this.attempt(() => this.begin())
    step()
  }

  /** One that was cut, and may be closed again, is another one: the next pass has it. */
  private get isThere(): boolean { return isClosed(this.log, this.segment) && this.segment.truncations === this.truncations }

  private get nextBase(): number | undefined {
    return this.log.segments[this.log.segments.indexOf(this.segment) + 1]?.baseOffset
  }

  private begin(): void {
    const { segment, log } = this
    const { sums } = segment
    const problem = sums.endProblem(segment.sizeBytes, this.nextBase)
    if (problem !== undefined) log.damaged(segment, segment.sizeBytes, problem)
    if (sums.isKept && sums.soundSeal() !== undefined) return
    sums.reset(true)
    this.made = { indexes: SegmentIndexes.empty(segment.baseOffset), end: segment.baseOffset }
  }

  private read(went: (bytes: number) => void, done: () => void): void {
    const { segment, position } = this
    const length = Math.min(this.buffer.length, segment.sizeBytes - position)
    let file
    try {
      file = segment.handle.use()
    } catch (error) {
      this.told(error)
      return done()
    }
    file.readLater(this.buffer, 0, length, position, (error, read) => {
      segment.handle.done()
      if (error !== undefined) {
        this.told(error)
        return done()
      }
      if (!this.isThere) return done()
      this.attempt(() => this.check(read))
      this.world.integrity.scrubbedBytes += read
      went(read)
    })
  }

  /** Checks whole batches, and moves on behind them. */
  private check(read: number): void {
    const { segment, buffer } = this
    let at = 0
    const prove = (): void => {
      segment.prove(this.position, this.position + at)
      this.log.intact(segment, this.position, this.position + at)
    }
    while (at + batchHeaderBytes <= read) {
      const problem = this.headerProblem(at)
      const size = batchBytesOf(buffer, at)
      if (problem === undefined && at + size > read && this.position + at + size <= segment.sizeBytes) break
      const wrong = problem ?? (at + size <= read && crcValid(buffer, at) ? undefined : 'the CRC of the batch does not match')
      if (wrong === undefined) {
        if (this.doubt?.position === this.position + at) this.log.cleared(this.doubt)
        this.take(at, size)
        at += size
        continue
      }
      prove()
      this.position += at
      return this.refuse(wrong)
    }
    prove()
    if (at === 0) return this.larger(read)
    this.position += at
  }

  private headerProblem(at: number): string | undefined {
    const { segment, buffer, made } = this
    const place = this.position + at
    if (made === undefined) {
      const problem = segment.sums.headerProblem(buffer, at, place)
      if (problem !== undefined || segment.sums.isKept) return problem
      // They were wrong, and are given up: this pass goes on by the CRCs, the next one makes them anew.
      return magicOf(buffer, at) === 2 && batchBytesOf(buffer, at) >= batchHeaderBytes ? undefined : 'no batch begins there'
    }
    if (magicOf(buffer, at) !== 2 || batchBytesOf(buffer, at) < batchHeaderBytes) return 'no batch begins there'
    return offsetProblem({ bytes: buffer, at }, made.end, segment.baseOffset)
  }

  private take(at: number, size: number): void {
    const { made, segment, buffer } = this
    if (made === undefined) return
    segment.sums.append(buffer, at, this.position + at)
    made.indexes.count(buffer, at, size, this.position + at, segment.intervalBytes)
    made.end = lastOffsetOf(buffer, at) + 1
  }

  /** The next read begins at the same place, or, where that has been done, behind what is damaged. */
  private refuse(reason: string): void {
    const { segment, position, log } = this
    if (this.doubt?.position === position || !log.suspects(segment, position)) this.position = this.condemn(position, reason)
    else this.doubt = new Doubt(segment, position, reason)
  }

  /** Gives where the next batch begins, as far as that is known: else the end of the segment. */
  private condemn(position: number, reason: string): number {
    const { segment, log } = this
    const behind = segment.sums.offsetsAt(position)?.end ?? segment.sizeBytes
    log.damaged(segment, position, reason, this.made?.end)
    if (this.made !== undefined) segment.sums.giveUp(`a batch of the segment is damaged: ${reason}`)
    this.made = undefined
    return behind > position ? behind : segment.sizeBytes
  }

  /** A batch does not fit the buffer, or what is left is no batch. */
  private larger(read: number): void {
    const wanted = read < batchHeaderBytes ? 0 : batchBytesOf(this.buffer, 0)
    if (wanted > this.buffer.length) this.buffer = new Uint8Array(wanted)
    else this.refuse('no whole batch is left')
  }

  private finish(): void {
    const { made, segment, nextBase, world } = this
    if (made === undefined || nextBase === undefined) return
    segment.takeMade(made.indexes, nextBase)
    world.integrity.sumsMade++
    segment.syncSides(error => { if (error !== undefined) this.log.home.fault(error) })
  }

  /** Reading and checking is no work that has to succeed: what fails is told, and tried at the next pass. */
  private attempt(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.position = this.segment.sizeBytes
      if (!isMillraceError(error)) throw error
      this.told(error)
    }
  }

  private told(error: unknown): void {
    const told = this.log.home.fault(error)
    this.world.logger.warn('a segment could not be checked; it is tried again at the next pass', { segment: this.segment.path('.log'), reason: String(told) })
  }
}
