import { type Timer, type Timers } from '../kernel/ports/clock.ts'

/**
 * Looks at everything that may be done now, after each event that could change the answer, and at the next moment at which time alone will.
 * A look is never begun within another one, and never after the end.
 */
export class Lookout {
  isClosed = false
  private readonly timers: Timers
  private readonly look: () => void
  private timer: Timer | undefined
  private timerDueMs = Infinity
  private soon = false
  private looking = false

  constructor(timers: Timers, look: () => void) {
    this.timers = timers
    this.look = look
  }

  /** Looks at the end of this turn, once however often it is asked. */
  runSoon(): void {
    if (this.soon || this.isClosed) return
    this.soon = true
    this.timers.soon(() => {
      this.soon = false
      this.run()
    })
  }

  /** Looks now. What a look sets off, e.g. waiting records that find room, may ask for another: it comes soon. */
  run(): void {
    if (this.looking) {
      this.runSoon()
      return
    }
    this.looking = true
    try {
      if (!this.isClosed) this.look()
    } finally {
      this.looking = false
    }
  }

  /** The moment of the next look; Infinity for "an event will tell". It takes the place of the one before. */
  plan(atMs: number, nowMs: number): void {
    if (atMs === this.timerDueMs) return
    this.timer?.cancel()
    this.timer = undefined
    this.timerDueMs = atMs
    if (atMs === Infinity) return
    this.timer = this.timers.after(Math.max(0, atMs - nowMs), () => {
      this.timer = undefined
      this.timerDueMs = Infinity
      this.run()
    })
  }

  close(): void {
    this.isClosed = true
    this.timer?.cancel()
  }
}
