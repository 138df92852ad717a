import { TimerHeap, type TimerEntry } from '../base/timer-heap.ts'
import { type Timer, type Timers } from '../kernel/ports/clock.ts'

/** Node fires timers of more than 2^31 - 1 ms at once; longer waits are cut into pieces. */
const nativeDelayMsMax = 0x7fff_ffff

/**
 * All timers of the process behind one native timer. Node's own keep no order between timers of different delays that are due
 * together, may fire up to one millisecond early, and overflow after 24.8 days: a heap of due times has none of these.
 * A waiting timer keeps the process alive, since the work behind it would be lost otherwise.
 */
export class SystemTimers implements Timers {
  private readonly waiting = new TimerHeap<() => void>()
  private native: NodeJS.Timeout | undefined
  private nativeDueMs = Infinity

  after(delayMs: number, callback: () => void): Timer {
    const entry = this.waiting.add(performance.now() + Math.max(0, delayMs), callback)
    if (entry.deadlineMs < this.nativeDueMs) this.arm()
    return new SystemTimer(this, entry)
  }

  soon(callback: () => void): void {
    setImmediate(callback)
  }

  cancel(entry: TimerEntry<() => void>): void {
    if (!this.waiting.remove(entry) || this.waiting.size > 0) return
    clearTimeout(this.native)
    this.native = undefined
    this.nativeDueMs = Infinity
  }

  /** Sets the native timer for the first deadline. One that is set for an earlier, cancelled deadline finds nothing due and comes here. */
  private arm(): void {
    clearTimeout(this.native)
    this.native = undefined
    this.nativeDueMs = Infinity
    const first = this.waiting.peek()
    if (first === undefined) return
    const delayMs = Math.min(nativeDelayMsMax, Math.max(1, Math.ceil(first.deadlineMs - performance.now())))
    this.nativeDueMs = first.deadlineMs
    this.native = setTimeout(this.fire, delayMs)
  }

  /** A callback that throws ends this turn; the others keep their place and fire in the next. */
  private readonly fire = (): void => {
    const nowMs = performance.now()
    try {
      // Timers that a callback sets are due after `nowMs` and wait for the next turn, so this loop ends.
      for (let due = this.waiting.popDue(nowMs); due !== undefined; due = this.waiting.popDue(nowMs)) due.value()
    } finally {
      this.arm()
    }
  }
}

class SystemTimer implements Timer {
  private readonly timers: SystemTimers
  private readonly entry: TimerEntry<() => void>

  constructor(timers: SystemTimers, entry: TimerEntry<() => void>) {
    this.timers = timers
    this.entry = entry
  }

  cancel(): void {
    this.timers.cancel(this.entry)
  }
}
