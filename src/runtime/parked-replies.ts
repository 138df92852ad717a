import { BoundedQueue } from '../base/bounded-queue.ts'
import { type Clock, type Timer, type Timers } from '../kernel/ports/clock.ts'
import { type Replica, type WatermarkWaiter } from '../kernel/ports/replicator.ts'

interface Parked<Reply> {
  /** What the answer rests on is below it. */
  readonly offset: number
  readonly asker: number
  readonly error: unknown
  readonly reply: Reply | undefined
  readonly untilMs: number
}

export interface ParkedRepliesParts<Reply> {
  readonly replica: Pick<Replica, 'highWatermark' | 'wait' | 'cancel'>
  readonly clock: Clock
  readonly timers: Timers
  /** So long an answer may wait for the watermark. */
  readonly timeoutMs: number
  readonly send: (asker: number, error: unknown, reply: Reply | undefined) => void
  /** The answer has waited for too long. It is sent no more; what it rests on may be committed yet. */
  readonly late: (asker: number) => void
  /** The watermark will not come any more. */
  readonly lost: (error: unknown) => void
}

/**
 * Answers in the order in which they were decided, each held back until the high watermark has reached what it rests on. One waiter at the
 * replica and at most one timer stand for all of them.
 */
export class ParkedReplies<Reply> implements WatermarkWaiter {
  offset = 0
  private readonly parts: ParkedRepliesParts<Reply>
  private readonly parked = new BoundedQueue<Parked<Reply>>(Number.MAX_SAFE_INTEGER)
  private waits = false
  private timer: Timer | undefined
  private closed = false

  constructor(parts: ParkedRepliesParts<Reply>) {
    this.parts = parts
  }

  get size(): number {
    return this.parked.size
  }

  /** Sends it at once where the watermark is there already and nothing is before it. */
  add(offset: number, asker: number, error: unknown, reply: Reply | undefined): void {
    const { replica, clock, timeoutMs, send } = this.parts
    if (this.parked.size === 0 && offset <= replica.highWatermark) {
      send(asker, error, reply)
      return
    }
    this.parked.push({ offset, asker, error, reply, untilMs: clock.monotonicMs() + timeoutMs })
    this.wait()
    if (this.timer === undefined) this.expireAfter(timeoutMs)
  }

  /** Those whose answer is decided. */
  askers(): Set<number> {
    return new Set(Array.from(this.parked, ({ asker }) => asker))
  }

  reached(): void {
    this.waits = false
    const { replica, send } = this.parts
    while (!this.closed) {
      const first = this.parked.peek()
      if (first === undefined || first.offset > replica.highWatermark) break
      this.parked.shift()
      send(first.asker, first.error, first.reply)
    }
    this.wait()
  }

  failed(error: unknown): void {
    this.waits = false
    if (!this.closed) this.parts.lost(error)
  }

  /** Nothing is sent any more. */
  close(): void {
    this.closed = true
    this.parked.clear()
    this.timer?.cancel()
    if (this.waits) this.parts.replica.cancel(this)
    this.waits = false
  }

  private wait(): void {
    const first = this.parked.peek()
    if (this.waits || this.closed || first === undefined) return
    this.waits = true
    this.offset = first.offset
    this.parts.replica.wait(this)
  }

  private expireAfter(delayMs: number): void {
    this.timer = this.parts.timers.after(delayMs, () => {
      this.timer = undefined
      const nowMs = this.parts.clock.monotonicMs()
      let next: number | undefined
      for (const { asker, untilMs } of [...this.parked]) {
        if (this.closed) return
        if (untilMs <= nowMs) this.parts.late(asker)
        else next ??= untilMs
      }
      if (next !== undefined && this.timer === undefined) this.expireAfter(next - nowMs)
    })
  }
}
