import { backoffMs } from '../../base/backoff.ts'
import { isMillraceError } from '../../kernel/errors/index.ts'
import { compactionFailure } from '../../kernel/log/compaction-memory.ts'
import { compactionNeed, type CompactionNeed } from '../../kernel/log/compaction-policy.ts'
import { type CompactionReport, type LogCompaction } from '../../kernel/ports/log-compaction.ts'
import { type CompactionState } from '../../kernel/ports/partition-log.ts'
import { type Timer } from '../../kernel/ports/clock.ts'
import { type Threads } from '../../kernel/ports/threads.ts'
import { CleanerFigures } from './core/cleaner-figures.ts'
import { CleaningEnded, LogCleaning } from './log-cleaning.ts'
import { type Segment } from './io/segment.ts'
import { type LogState } from './log-state.ts'
import { type LogWorld } from './log-world.ts'
import { type RoundFacts, type RoundWork } from './round-work.ts'
import { SegmentInLog } from './segment-in-log.ts'
import { CompactionThread, ThreadEnded } from './work-aside.ts'
import { WorkInSlices } from './work-in-slices.ts'

export interface CleanerOptions {
  /** `log.cleaner.enable`: whether it runs by itself. */
  readonly enabled: boolean
  /** `log.cleaner.backoff.ms`: from the end of a look for logs that are due to the next. */
  readonly backoffMs: number
  /** `log.cleaner.dedupe.buffer.size` */
  readonly mapBytesMax: number
  /** `log.cleaner.io.buffer.load.factor` */
  readonly loadFactor: number
  /** `log.cleaner.io.buffer.size` */
  readonly ioBytes: number
  /** `log.cleaner.io.max.bytes.per.second`; Infinity for no bound. */
  readonly bytesPerSecond: number
  readonly logs: () => Iterable<LogState>
  readonly threads: Threads | undefined
}

/** A log that fails is tried again, and again. */
const retries = { initialMs: 30_000, maxMs: 3_600_000, multiplier: 2, jitter: 0 }

/** A log that is smaller is compacted on the event loop: that takes less than to start a thread. */
const asideBytesMin = 1_048_576

/** Bytes that are looked at on the event loop before others have their turn. */
const sliceBytes = 65_536

/** No wait for the budget of bytes is shorter: timers are coarse. */
const pauseMsMin = 20

interface Failed {
  readonly failures: number
  readonly nextTryMs: number
  readonly reason: string
}

/** Compacts logs, one at a time: the one with the largest dirty share first. */
export class Cleaner implements LogCompaction {
  readonly figures = new CleanerFigures()
  private readonly world: LogWorld
  private readonly options: CleanerOptions
  private readonly failed = new Map<LogState, Failed>()
  private readonly rounds = new WeakMap<LogState, number>()
  private timer: Timer | undefined
  private underway: Promise<CompactionReport> | undefined
  private stopped = false
  private owedMs = 0
  private thread: CompactionThread | undefined
  /** One has ended by itself. */
  private hasNoThreads = false
  /** Ends the pause that is under way. */
  private wake: (() => void) | undefined

  constructor(world: LogWorld, options: CleanerOptions) {
    this.world = world
    this.options = options
  }

  start(): void {
    if (this.options.enabled) this.later()
  }

  /** Resolves when nothing is under way any more. What a round has written and not swapped in is removed. */
  async stop(): Promise<void> {
    this.stopped = true
    this.timer?.cancel()
    this.wake?.()
    await this.underway
  }

  compact(): Promise<CompactionReport> {
    this.underway ??= this.compactAll().finally(() => { this.underway = undefined })
    return this.underway
  }

  /** Of a log of a compacted topic. */
  stateOf(log: LogState): CompactionState | undefined {
    if (!log.settings.compact || log.failure !== undefined) return undefined
    const failed = this.failed.get(log)
    const { dirtyBytes, ratio } = this.needOf(log)
    return {
      cleanedTo: log.cleanedTo, dirtyBytes, dirtyRatio: ratio, lastRoundMs: this.rounds.get(log) ?? -1,
      failure: failed === undefined ? undefined : { reason: failed.reason, nextTryMs: failed.nextTryMs },
    }
  }

  /** Logs that failed and are waited for, with the bytes in them. */
  uncleanable(): readonly { readonly log: LogState, readonly reason: string }[] {
    return [...this.failed].flatMap(([log, { reason }]) => log.failure === undefined && log.settings.compact ? [{ log, reason }] : [])
  }

  /** Of all logs, as they are now: the largest dirty share, and the longest time that a record has been dirty beyond what its topic allows. */
  backlog(): { readonly dirtyRatio: number, readonly overdueMs: number } {
    let [dirtyRatio, overdueMs] = [0, 0]
    for (const log of this.candidates()) {
      const need = this.needOf(log)
      dirtyRatio = Math.max(dirtyRatio, need.ratio)
      overdueMs = Math.max(overdueMs, need.overdueMs)
    }
    return { dirtyRatio, overdueMs }
  }

  private later(): void {
    if (this.stopped) return
    this.timer = this.world.timers.after(this.options.backoffMs, () => { void this.compact().finally(() => this.later()) })
  }

  private async compactAll(): Promise<CompactionReport> {
    let [logsCompacted, logsFailed, bytesRead, bytesWritten] = [0, 0, 0, 0]
    // A round that came to nothing is not tried again at once, and neither is one that had no room for all: others come first.
    const tried = new Set<LogState>()
    for (let due = this.filthiest(tried); due !== undefined && !this.stopped; due = this.filthiest(tried)) {
      const [log, need] = due
      const beganMs = this.world.clock.monotonicMs()
      const before = log.cleanedTo
      try {
        const report = await new LogCleaning(log, need, { ...this.options, work: (facts, pause) => this.work(log, need, facts, pause), pause: bytes => this.pause(bytes) }).run()
        this.figures.rounds(report, this.world.clock.monotonicMs() - beganMs, this.world.clock.monotonicMs())
        this.failed.delete(log)
        this.rounds.set(log, this.world.clock.wallMs())
        logsCompacted++
        bytesRead += report.bytesRead
        bytesWritten += report.bytesWritten
        log.home.cleaned()
        // One whose map got full goes on, when its turn comes.
        if (log.cleanedTo >= need.end || log.cleanedTo === before) tried.add(log)
      } catch (error) {
        tried.add(log)
        if (this.tellFailure(log, error)) logsFailed++
      }
    }
    for (const log of this.failed.keys()) if (log.failure !== undefined) this.failed.delete(log)
    this.thread?.stop()
    this.thread = undefined
    return { logsCompacted, logsFailed, bytesRead, bytesWritten }
  }

  /** In a thread, where there are threads and it is worth one: that of this look for logs that are due. */
  private work(log: LogState, { cleanBytes, dirtyBytes }: CompactionNeed, facts: RoundFacts, pause: (bytes: number) => Promise<void>): RoundWork {
    const { files, compression, logger } = this.world
    const { threads } = this.options
    if (threads !== undefined && !this.hasNoThreads && cleanBytes + dirtyBytes >= asideBytesMin) {
      const ended = (error: unknown): void => {
        this.thread = undefined
        this.hasNoThreads = true
        logger.warn('the thread of compaction has ended; logs are compacted on the event loop from here on, until the broker is started again', { error })
      }
      try {
        this.thread ??= new CompactionThread(threads, ended)
      } catch (error) {
        // The system gives no more threads.
        ended(error)
      }
      if (this.thread !== undefined) return this.thread.begin(facts, pause)
    }
    return new WorkInSlices(facts, { files, logger, compression, chunkBytes: this.options.ioBytes, sliceBytes, isAside: false, read: (segment: Segment) => new SegmentInLog(log, segment), pause })
  }

  /** Gives whether it is one. */
  private tellFailure(log: LogState, error: unknown): boolean {
    if (error instanceof CleaningEnded || error instanceof ThreadEnded || this.stopped) return false
    const told = log.home.fault(compactionFailure(error, log.id))
    if (!isMillraceError(told)) throw error
    if (log.failure !== undefined) return false
    const failures = (this.failed.get(log)?.failures ?? 0) + 1
    const waitMs = backoffMs(failures, retries, () => 0)
    this.failed.set(log, { failures, nextTryMs: this.world.clock.wallMs() + waitMs, reason: told.message })
    const { topic, partition } = log.id
    this.world.logger.warn('a log could not be compacted; it is tried again', { topic, partition, reason: told.message, failures, againInMs: waitMs })
    return true
  }

  private *candidates(): IterableIterator<LogState> {
    for (const log of this.options.logs()) if (log.failure === undefined && log.configured && log.settings.compact) yield log
  }

  private filthiest(tried: ReadonlySet<LogState>): readonly [LogState, CompactionNeed] | undefined {
    const nowMs = this.world.clock.wallMs()
    let best: readonly [LogState, CompactionNeed] | undefined
    for (const log of this.candidates()) {
      if (tried.has(log) || (this.failed.get(log)?.nextTryMs ?? 0) > nowMs) continue
      const need = this.needOf(log)
      if (need.isDue && (best === undefined || need.ratio > best[1].ratio)) best = [log, need]
    }
    return best
  }

  /** Where a segment cannot be looked at there is nothing to do: its directory is out of service then. */
  private needOf(log: LogState): CompactionNeed {
    const open = log.producers.firstOpenTransaction()
    const bound = Math.min(log.watermark, log.recoveryPoint(), open < 0 ? Infinity : open)
    try {
      return this.need(log, bound)
    } catch (error) {
      if (!isMillraceError(log.home.fault(error))) throw error
      return compactionNeed([], { cleanedTo: log.cleanedTo, bound, nextHorizonMs: Infinity, nowMs: 0 }, log.settings)
    }
  }

  private need(log: LogState, bound: number): CompactionNeed {
    return compactionNeed(log.segments.slice(0, -1), { cleanedTo: log.cleanedTo, bound, nextHorizonMs: log.nextHorizonMs, nowMs: this.world.clock.wallMs() }, log.settings)
  }

  /** Others have their turn; no sooner than the budget allows does it end. */
  private pause(bytes: number): Promise<void> {
    // What is read is written again, as a rule.
    this.owedMs += bytes * 2000 / this.options.bytesPerSecond
    return new Promise((resolve, reject) => {
      const goOn = (): void => {
        this.wake = undefined
        if (this.stopped) reject(new CleaningEnded('the cleaner stops'))
        else resolve()
      }
      if (this.stopped || this.owedMs < pauseMsMin) return this.world.timers.soon(goOn)
      const timer = this.world.timers.after(this.owedMs, goOn)
      this.owedMs = 0
      this.wake = () => {
        timer.cancel()
        goOn()
      }
    })
  }
}
