import { backoffMs } from '../../base/backoff.ts'
import { isMillraceError } from '../../kernel/errors/index.ts'
import { compactionFailure } from '../../kernel/log/compaction-memory.ts'
import { type Clock, type Random, type Timer, type Timers } from '../../kernel/ports/clock.ts'
import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type CompactionReport, type LogCompaction } from '../../kernel/ports/log-compaction.ts'
import { type CompactionFailure, type MemoryLog } from './memory-log.ts'

/** A log that failed is tried again, and again. */
const retries = { initialMs: 30_000, maxMs: 3_600_000, multiplier: 2, jitter: 0 }

export interface MemoryCompactionWorld {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly logs: () => Iterable<MemoryLog>
}

/** Compacts the logs of a store in memory, one after another, the one with the largest dirty share first. */
export class MemoryCompaction implements LogCompaction {
  private readonly world: MemoryCompactionWorld
  private readonly settings: BrokerSettings
  private timer: Timer | undefined
  private underway: Promise<CompactionReport> | undefined
  private stopped = false
  /** Ends the pause that is under way. */
  private wake: (() => void) | undefined

  constructor(world: MemoryCompactionWorld, settings: BrokerSettings) {
    this.world = world
    this.settings = settings
  }

  start(): void {
    if (this.settings.flag('log.cleaner.enable')) this.later()
  }

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

  private later(): void {
    if (this.stopped) return
    this.timer = this.world.timers.after(Math.max(1, this.settings.integer('log.cleaner.backoff.ms')), () => { void this.compact().finally(() => this.later()) })
  }

  private async compactAll(): Promise<CompactionReport> {
    const report = { logsCompacted: 0, logsFailed: 0, bytesRead: 0, bytesWritten: 0 }
    const tried = new Set<MemoryLog>()
    for (let log = this.filthiest(tried); log !== undefined && !this.stopped; log = this.filthiest(tried)) {
      try {
        const round = await log.compact({
          secret: this.world.random.bytes(16), mapBytesMax: this.settings.integer('log.cleaner.dedupe.buffer.size'),
          loadFactor: Number(this.settings.text('log.cleaner.io.buffer.load.factor')), pause: () => this.pause(),
        })
        if (round === undefined || !round.goesOn) tried.add(log)
        if (round === undefined) continue
        log.compactionFailure = undefined
        report.logsCompacted++
        report.bytesRead += round.bytesRead
        report.bytesWritten += round.bytesWritten
      } catch (error) {
        const told = compactionFailure(error, log.id)
        if (!isMillraceError(told)) throw error
        tried.add(log)
        log.compactionFailure = this.failureAfter(log.compactionFailure, told.message)
        report.logsFailed++
      }
    }
    return report
  }

  private pause(): Promise<void> {
    return new Promise(resolve => {
      this.wake = resolve
      if (this.stopped) resolve()
      else this.world.timers.soon(resolve)
    })
  }

  private failureAfter(before: CompactionFailure | undefined, reason: string): CompactionFailure {
    const failures = (before?.failures ?? 0) + 1
    return { failures, reason, nextTryMs: this.world.clock.wallMs() + backoffMs(failures, retries, () => 0) }
  }

  private filthiest(tried: ReadonlySet<MemoryLog>): MemoryLog | undefined {
    const nowMs = this.world.clock.wallMs()
    let best: MemoryLog | undefined
    let ratio = -1
    for (const log of this.world.logs()) {
      if (tried.has(log) || (log.compactionFailure?.nextTryMs ?? 0) > nowMs) continue
      const need = log.compactionNeed()
      if (need?.isDue !== true || need.ratio <= ratio) continue
      best = log
      ratio = need.ratio
    }
    return best
  }
}
