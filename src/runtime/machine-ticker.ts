import { type Clock, type Timer, type Timers } from '../kernel/ports/clock.ts'
import { type MachineTime } from '../kernel/model/replay-machine.ts'

/** A timer that fires so late was held up by this process, not by chance. */
const stallMsMin = 250
/** While there is a deadline, the clock is looked at so often: a stall is known to this precision. */
const lookMs = 1000

export interface MachineTickerParts {
  readonly clock: Clock
  readonly timers: Timers
  /** The first deadline of all machines, in judged milliseconds; Infinity without one. */
  readonly nextDeadlineMs: () => number
  readonly tick: () => void
}

/**
 * The clock of machines, and one timer for all of their deadlines. Time in which the process stood still is left out of what it judges others by:
 * what they sent meanwhile lies in its sockets, and is handled first. Without a deadline there is no timer.
 */
export class MachineTicker {
  private readonly parts: MachineTickerParts
  private timer: Timer | undefined
  private firesAtMs = Infinity
  private stalledMs = 0
  private stopped = false

  constructor(parts: MachineTickerParts) {
    this.parts = parts
  }

  readonly now = (): MachineTime => {
    const { clock } = this.parts
    return { wallMs: clock.wallMs(), judgedMs: clock.monotonicMs() - this.stalledMs }
  }

  /** There is a deadline that may be before all others. */
  readonly deadlineMoved = (deadlineMs: number): void => {
    if (this.stopped || deadlineMs === Infinity) return
    const nowMs = this.parts.clock.monotonicMs()
    const atMs = Math.min(Math.max(nowMs, deadlineMs + this.stalledMs), nowMs + lookMs)
    if (this.timer !== undefined && this.firesAtMs <= atMs) return
    this.timer?.cancel()
    this.firesAtMs = atMs
    this.timer = this.parts.timers.after(atMs - nowMs, this.fire)
  }

  stop(): void {
    this.stopped = true
    this.timer?.cancel()
    this.timer = undefined
  }

  private readonly fire = (): void => {
    const lateMs = this.parts.clock.monotonicMs() - this.firesAtMs
    this.timer = undefined
    this.firesAtMs = Infinity
    if (lateMs < stallMsMin) {
      this.run()
      return
    }
    this.stalledMs += lateMs
    this.parts.timers.soon(this.run)
  }

  private readonly run = (): void => {
    if (this.stopped) return
    this.parts.tick()
    this.deadlineMoved(this.parts.nextDeadlineMs())
  }
}
