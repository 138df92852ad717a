import { type TimerEntry } from '../../base/timer-heap.ts'
import { type Clock, type Timer, type Timers } from '../../kernel/ports/clock.ts'
import { testEpochMs } from './manual-clock.ts'
import { type SimEvent, type SimScheduler } from './sim-scheduler.ts'

/** The clocks of one simulated machine. Steady time is the simulation's; the wall clock may be wrong. */
export class SimClock implements Clock {
  private readonly scheduler: SimScheduler
  /** How far the wall clock is ahead of the simulation's time. Change it to step the clock. */
  offsetMs: number

  constructor(scheduler: SimScheduler, offsetMs = 0) {
    this.scheduler = scheduler
    this.offsetMs = offsetMs
  }

  wallMs(): number {
    return Math.floor(testEpochMs + this.offsetMs + this.scheduler.nowMs)
  }

  monotonicMs(): number {
    return this.scheduler.nowMs
  }
}

/**
 * The timers of one process on a simulated machine, and the gate through which everything comes that happens to it: when the
 * process is dead nothing happens to it any more, and while it is paused everything waits.
 */
export class SimTimers implements Timers {
  private readonly scheduler: SimScheduler
  private readonly lane: string
  /** What came due while the process was paused, in order; for each there is one event that lets the first of them pass. */
  private readonly held: SimTimer[] = []
  private dead = false
  private pausedUntilMs = 0

  constructor(scheduler: SimScheduler, lane: string) {
    this.scheduler = scheduler
    this.lane = lane
  }

  after(delayMs: number, callback: () => void): Timer {
    const timer = new SimTimer(this.scheduler, callback)
    if (!this.dead) timer.entry = this.scheduler.after(delayMs, this.lane, () => this.pass(timer))
    return timer
  }

  soon(callback: () => void): void {
    this.after(0, callback)
  }

  /** The process stands still for so long, then finds everything late. */
  pause(ms: number): void {
    this.pausedUntilMs = Math.max(this.pausedUntilMs, this.scheduler.nowMs + ms)
  }

  /** The process is gone: nothing it waits for happens. */
  kill(): void {
    this.dead = true
  }

  private pass(timer: SimTimer): void {
    if (this.dead) return
    const lateMs = this.pausedUntilMs - this.scheduler.nowMs
    if (lateMs <= 0 && this.held.length === 0) return timer.fire()
    this.held.push(timer)
    this.scheduler.after(Math.max(0, lateMs), this.lane, this.release)
  }

  private readonly release = (): void => {
    if (this.dead) return
    const lateMs = this.pausedUntilMs - this.scheduler.nowMs
    if (lateMs > 0) this.scheduler.after(lateMs, this.lane, this.release)
    else this.held.shift()!.fire()
  }
}

class SimTimer implements Timer {
  entry: TimerEntry<SimEvent> | undefined
  private readonly scheduler: SimScheduler
  private callback: (() => void) | undefined

  constructor(scheduler: SimScheduler, callback: () => void) {
    this.scheduler = scheduler
    this.callback = callback
  }

  /** Also one that was held while its process was paused. */
  cancel(): void {
    this.callback = undefined
    if (this.entry !== undefined) this.scheduler.cancel(this.entry)
  }

  fire(): void {
    const { callback } = this
    this.callback = undefined
    callback?.()
  }
}
