import { TimerHeap, type TimerEntry } from '../../base/timer-heap.ts'
import { type Clock, type Timer, type Timers } from '../../kernel/ports/clock.ts'

/** Something with a deadline. */
export interface Expiring {
  /**
   * The deadline has passed. `stalledMs` is how late it was noticed because the event loop stood still; 0 when it was in time. Who judges the
   * silence of others must not do so after a stall: nobody is expired for not having been heard.
   */
  expired(nowMs: number, stalledMs: number): void
}

export type Deadline = TimerEntry<Expiring>

/** A timer that fires so late was held up by this process, not by chance. */
const stallMsMin = 250

/**
 * All deadlines of this plugin in one heap, with one timer: a waiting fetch costs no timer of its own, and a fetch that is answered in time
 * only leaves the heap. The timer is set anew only for a deadline before the one it was set for.
 */
export class Deadlines {
  private readonly clock: Clock
  private readonly timers: Timers
  private readonly heap = new TimerHeap<Expiring>()
  private timer: Timer | undefined
  private setForMs = Infinity
  private stopped = false

  constructor(clock: Clock, timers: Timers) {
    this.clock = clock
    this.timers = timers
  }

  get size(): number {
    return this.heap.size
  }

  /** `waiter.expired` is called once, no sooner than `delayMs` from now, unless it is removed before. */
  after(delayMs: number, waiter: Expiring): Deadline {
    const deadlineMs = this.clock.monotonicMs() + Math.max(0, delayMs)
    const entry = this.heap.add(deadlineMs, waiter)
    if (deadlineMs < this.setForMs) this.set(deadlineMs)
    return entry
  }

  /** Fine when it has expired already. */
  remove(deadline: Deadline): void {
    this.heap.remove(deadline)
  }

  /** Nothing expires any more. */
  stop(): void {
    this.stopped = true
    this.timer?.cancel()
    this.heap.clear()
  }

  private set(deadlineMs: number): void {
    if (this.stopped) return
    this.timer?.cancel()
    this.setForMs = deadlineMs
    this.timer = this.timers.after(Math.max(0, deadlineMs - this.clock.monotonicMs()), this.fire)
  }

  private readonly fire = (): void => {
    const stalledMs = this.clock.monotonicMs() - this.setForMs
    if (stalledMs < stallMsMin) {
      this.expire(0)
      return
    }
    // What came in meanwhile is handled first: it may well be what the waiters wait for.
    this.timers.soon(() => { this.expire(stalledMs) })
  }

  private expire(stalledMs: number): void {
    this.setForMs = Infinity
    const nowMs = this.clock.monotonicMs()
    for (let due = this.heap.popDue(nowMs); due !== undefined; due = this.heap.popDue(nowMs)) due.value.expired(nowMs, stalledMs)
    const next = this.heap.peek()
    if (next !== undefined && next.deadlineMs < this.setForMs) this.set(next.deadlineMs)
  }
}
