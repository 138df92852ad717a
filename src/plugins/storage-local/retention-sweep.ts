import { isMillraceError } from '../../kernel/errors/index.ts'
import { partitionName } from '../../kernel/log/checkpoint-text.ts'
import { type Clock } from '../../kernel/ports/clock.ts'
import { type SweepReport } from '../../kernel/ports/log-store.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { type LogDirectory } from './log-directory.ts'
import { finishSweep, raiseStarts, type SweepPlan } from './log-trim.ts'
import { type SegmentedLog } from './segmented-log.ts'

/** A slice that has taken so long is ended. */
const sliceMs = 3
/** A clock that does not move by itself must not make a slice endless. */
const changesPerSliceMax = 64

interface Placed {
  readonly log: SegmentedLog
  readonly home: LogDirectory
}

interface Planned extends Placed {
  readonly plan: SweepPlan
}

export interface RetentionSweepParts {
  readonly clock: Clock
  readonly logger: Logger
  /** Directories in service. */
  readonly serving: () => readonly LogDirectory[]
  /** Runs work on a directory; what fails has taken it out of service, or is tried again next time. */
  readonly attempt: (home: LogDirectory, run: () => void) => void
}

/**
 * Rounds over all logs, in slices: a thousand logs that roll, or lose segments, at the same moment are thousands of calls on files. A round decides what
 * goes, log by log; raises the starts of those logs, durably and at once; then takes the files out of sight, log by log. A crash in between leaves
 * files that the next start takes away. Between two slices logs go on, and everything else may be done with them.
 */
export class RetentionSweep {
  private readonly parts: RetentionSweepParts
  private looking: Placed[] = []
  /** Decided, and nothing done. */
  private expired: Planned[] = []
  /** Their log starts are durable, and their files there. */
  private freeing: Planned[] = []

  constructor(parts: RetentionSweepParts) {
    this.parts = parts
  }

  /** Begins a round when none is under way, and goes on with it. */
  slice(): SweepReport {
    const { clock } = this.parts
    const beganMs = clock.monotonicMs()
    if (this.left === 0) this.looking = this.parts.serving().flatMap(home => [...home.logs.values()].map(log => ({ log, home }))).reverse()
    const done = { segmentsDeleted: 0, bytesDeleted: 0, segmentsRolled: 0 }
    for (let changes = 0; this.left > 0 && changes < changesPerSliceMax;) {
      if (this.step(done)) changes++
      if (clock.monotonicMs() - beganMs >= sliceMs) break
    }
    return { ...done, left: this.left }
  }

  private get left(): number {
    return this.looking.length + this.expired.length + this.freeing.length
  }

  /** Gives whether files were touched. */
  private step(done: { segmentsDeleted: number, bytesDeleted: number, segmentsRolled: number }): boolean {
    const next = this.looking.pop()
    if (next !== undefined) return isInService(next) && this.look(next, done)
    if (this.expired.length > 0) {
      this.raise()
      return true
    }
    const { log, home, plan } = this.freeing.shift()!
    if (isInService({ log, home })) this.attempt(log, () => {
      const { segments, bytes } = finishSweep(plan)
      done.segmentsDeleted += segments
      done.bytesDeleted += bytes
    })
    return true
  }

  private look({ log, home }: Placed, done: { segmentsRolled: number }): boolean {
    let plan: SweepPlan | undefined
    this.attempt(log, () => { plan = log.beginSweep(this.parts.clock.wallMs()) })
    if (plan?.rolled === true) done.segmentsRolled++
    if (plan?.start !== undefined) this.expired.push({ log, home, plan })
    return plan !== undefined
  }

  private raise(): void {
    const expired = this.expired.filter(isInService)
    this.expired = []
    for (const home of new Set(expired.map(each => each.home))) {
      const ours = expired.filter(each => each.home === home)
      // Where that fails all stays, and the next round asks for the same.
      this.parts.attempt(home, () => {
        const raised = new Set(raiseStarts(ours.map(({ plan }) => plan), () => { home.writeCheckpoint('log starts') }))
        this.freeing.push(...ours.filter(({ plan }) => raised.has(plan)))
      })
    }
  }

  private attempt(log: SegmentedLog, run: () => void): void {
    try {
      run()
    } catch (error) {
      if (!isMillraceError(error)) throw error
      this.parts.logger.warn('retention of a log failed', { topic: log.id.topic, partition: log.id.partition, reason: error.message })
    }
  }
}

/** It may have been removed since the round began, or its directory have failed. */
function isInService({ log, home }: Placed): boolean {
  return home.offline === undefined && home.logs.get(partitionName(log.id)) === log
}
