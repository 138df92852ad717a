import { assert } from '../../base/assert.ts'
import { TimerHeap, type TimerEntry } from '../../base/timer-heap.ts'
import { type Clock, type Timer, type Timers } from '../../kernel/ports/clock.ts'

/** 2024-01-01 UTC: a time that looks like one, and is the same in every test. */
export const testEpochMs = 1_704_067_200_000

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  private wall: number
  private monotonic = 0

  constructor(wallMs = testEpochMs) {
    this.wall = wallMs
  }

  wallMs(): number {
    return Math.floor(this.wall)
  }

  monotonicMs(): number {
    return this.monotonic
  }

  /** Time passes, on both clocks. Timers do not notice: use `ManualTimers.advance` where there are any. */
  advance(ms: number): void {
    assert(ms >= 0, 'time passes forward')
    this.wall += ms
    this.monotonic += ms
  }

  /** Somebody sets the wall clock, either way; no time passes. */
  setWall(wallMs: number): void {
    this.wall = wallMs
  }
}

/** Timers that fire when the test says that time has passed. */
export class ManualTimers implements Timers {
  readonly clock: ManualClock
  private readonly waiting = new TimerHeap<() => void>()
  private readonly ready: (() => void)[] = []

  constructor(clock = new ManualClock()) {
    this.clock = clock
  }

  after(delayMs: number, callback: () => void): Timer {
    return new ManualTimer(this.waiting, this.waiting.add(this.clock.monotonicMs() + Math.max(0, delayMs), callback))
  }

  soon(callback: () => void): void {
    this.ready.push(callback)
  }

  /**
   * Lets time pass: the clock stops at each timer that is due on the way, also those set meanwhile, and at the end `ms` later.
   * Everything asked for by `soon` runs before the next timer. `advance(0)` runs what is due now.
   */
  advance(ms: number): void {
    const endMs = this.clock.monotonicMs() + ms
    for (;;) {
      this.runSoon()
      const due = this.waiting.popDue(endMs)
      if (due === undefined) break
      this.clock.advance(Math.max(0, due.deadlineMs - this.clock.monotonicMs()))
      due.value()
    }
    this.clock.advance(Math.max(0, endMs - this.clock.monotonicMs()))
  }

  /** Runs what `soon` was asked for, until there is nothing more. No time passes. */
  runSoon(): void {
    for (let callback = this.ready.shift(); callback !== undefined; callback = this.ready.shift()) callback()
  }

  /** Timers set and neither fired nor cancelled. */
  get pending(): number {
    return this.waiting.size
  }

  /** Milliseconds until the next timer; undefined without one. */
  get nextInMs(): number | undefined {
    const first = this.waiting.peek()
    return first === undefined ? undefined : Math.max(0, first.deadlineMs - this.clock.monotonicMs())
  }
}

class ManualTimer implements Timer {
  private readonly heap: TimerHeap<() => void>
  private readonly entry: TimerEntry<() => void>

  constructor(heap: TimerHeap<() => void>, entry: TimerEntry<() => void>) {
    this.heap = heap
    this.entry = entry
  }

  cancel(): void {
    this.heap.remove(this.entry)
  }
}
