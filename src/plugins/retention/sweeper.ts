import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type Clock, type Random, type Timer, type Timers } from '../../kernel/ports/clock.ts'
import { type AdminRoute, type HttpResponse } from '../../kernel/ports/http.ts'
import { type Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { type LogStore, type SweepReport as Slice } from '../../kernel/ports/log-store.ts'
import { type Counter, type Logger, type Metrics } from '../../kernel/ports/telemetry.ts'
import { type RetentionConfig } from './config.ts'
import { intervalDelayMs, waitMs } from './core/sweep-times.ts'
import { type NextDate } from './io/cron-dates.ts'

/** What a round over all logs did. */
type SweepReport = Omit<Slice, 'left'>

interface Round extends Mutable<SweepReport> {
  /** Told when it is over, or given up. */
  readonly waiting: ((report: SweepReport) => void)[]
}
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export interface SweeperParts {
  readonly store: LogStore
  readonly settings: BrokerSettings
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Has the store look for what retention gives up: at its times, and whenever somebody asks by its route. */
export class Sweeper implements Lifecycle, AdminRoute {
  readonly method = 'POST'
  readonly path = '/retention/sweep'
  readonly summary = 'looks now for what retention gives up, and answers how much went'
  private readonly parts: SweeperParts
  private readonly config: RetentionConfig
  private readonly intervalMs: number
  private readonly segments: Counter
  private readonly bytes: Counter
  private timer: Timer | undefined
  private next: NextDate | undefined
  private running = false
  private lastMs = NaN
  /** Under way. */
  private round: Round | undefined
  /** Asked for while one was under way, which may be past the logs that it is about. */
  private readonly asked: Round['waiting'] = []

  constructor(parts: SweeperParts, config: RetentionConfig) {
    this.parts = parts
    this.config = config
    this.intervalMs = parts.settings.integer('log.retention.check.interval.ms')
    this.segments = parts.metrics.counter('millrace_retention_deleted_segments_total', 'Segments that retention has given up.')
    this.bytes = parts.metrics.counter('millrace_retention_deleted_bytes_total', 'Bytes of the segments that retention has given up.')
    parts.metrics.gauge('millrace_retention_last_sweep_age_seconds', 'Seconds since the last look for what retention gives up; none before the first.',
      () => Number.isNaN(this.lastMs) ? [] : [{ labels: {}, value: (parts.clock.monotonicMs() - this.lastMs) / 1000 }])
  }

  /** Rejects with MR_HOST_SETTING for a schedule that cannot be read. */
  async start(): Promise<void> {
    // Loaded only where it is used: a start without it is faster.
    if (this.config.schedule !== '') this.next = (await import('./io/cron-dates.ts')).cronDates(this.config.schedule, this.parts.clock.wallMs())
    this.running = true
    this.plan()
  }

  stop(): Promise<void> {
    this.running = false
    this.timer?.cancel()
    this.timer = undefined
    const { round } = this
    this.round = undefined
    for (const done of [...round?.waiting ?? [], ...this.asked.splice(0)]) done(reportOf(round))
    return Promise.resolve()
  }

  /** What goes would go at the next look anyway. */
  handle(): Promise<HttpResponse> {
    return new Promise(resolve => {
      this.sweep(report => { resolve({ status: 200, contentType: 'application/json', body: `${JSON.stringify(report)}\n` }) })
    })
  }

  /**
   * Looks now; the times of the others stay. The first slice is done within the call. Asked for while a round is under way, another one follows it. A stop
   * ends it early: what is left goes at the next look.
   */
  sweep(done: (report: SweepReport) => void): void {
    if (this.round !== undefined) {
      this.asked.push(done)
      return
    }
    this.round = { segmentsDeleted: 0, bytesDeleted: 0, segmentsRolled: 0, waiting: [done] }
    this.slice(this.round)
  }

  private slice(round: Round): void {
    // Stopped
    if (this.round !== round) return
    const { store, timers } = this.parts
    const { left, ...slice } = store.sweep()
    round.segmentsDeleted += slice.segmentsDeleted
    round.bytesDeleted += slice.bytesDeleted
    round.segmentsRolled += slice.segmentsRolled
    this.segments.add(slice.segmentsDeleted)
    this.bytes.add(slice.bytesDeleted)
    if (left > 0) timers.soon(() => { this.slice(round) })
    else this.over(round)
  }

  private over(round: Round): void {
    this.round = undefined
    this.lastMs = this.parts.clock.monotonicMs()
    const report = reportOf(round)
    if (report.segmentsDeleted > 0) this.parts.logger.info('retention has deleted segments', { ...report })
    for (const done of round.waiting) done(report)
    const asked = this.asked.splice(0)
    if (asked.length > 0) this.sweep(again => { for (const done of asked) done(again) })
  }

  private plan(): void {
    const { clock, random } = this.parts
    if (this.next === undefined) {
      this.after(intervalDelayMs(this.intervalMs, this.config.jitterMs, random.fraction()), () => this.run())
      return
    }
    const nowMs = clock.wallMs()
    const dueMs = this.next(nowMs) + random.fraction() * this.config.jitterMs
    this.waitUntil(dueMs, dueMs - nowMs)
  }

  private waitUntil(dueMs: number, plannedMs: number): void {
    const wait = waitMs(dueMs - this.parts.clock.wallMs(), plannedMs)
    if (wait === 'again') this.plan()
    else if (wait === 0) this.run()
    else this.after(wait, () => this.waitUntil(dueMs, plannedMs))
  }

  private run(): void {
    this.sweep(() => { this.plan() })
  }

  private after(delayMs: number, callback: () => void): void {
    if (this.running) this.timer = this.parts.timers.after(delayMs, callback)
  }
}

const reportOf = (round: SweepReport | undefined): SweepReport =>
  ({ segmentsDeleted: round?.segmentsDeleted ?? 0, bytesDeleted: round?.bytesDeleted ?? 0, segmentsRolled: round?.segmentsRolled ?? 0 })
