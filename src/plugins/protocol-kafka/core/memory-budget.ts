import { type MemoryHolder } from './memory-holder.ts'
import { MemoryLane } from './memory-lane.ts'

export interface MemoryBudgetOptions {
  /** A holder of at most this many bytes may also take what is kept for small ones. Zero: nothing is kept. */
  readonly smallBytes?: number
  /** So much over the bound those let go that lost their turn: about the longest frame. */
  readonly overrunBytes?: number
}

/** So much of the bound no large frame takes. */
const keptShare = 0.25
/** Small holders that go on above their bound at a time. */
const smallTurns = 16

/**
 * `queued.max.request.bytes`: a bound on the bytes of requests in memory, over all connections. Counted are parts of frames that have not
 * arrived in full, bytes kept for work off the loop, and frames that arrived while their connection takes none. A request that is handled
 * at once holds nothing, so small requests pass while large ones wait.
 *
 * Above the bound holders stop reading, in a queue; the first of it goes on, alone, so that half-sent frames of many connections can not
 * block one another for ever. A peer may also stop in the middle of a frame, or send a byte now and then: who goes on and makes no headway
 * loses its turn, and who holds half a frame for long and sends nothing, while others wait, is closed. `sweep` does both.
 *
 * A part of the bound is kept for small holders, which have a queue of their own: large half frames, however many, do not stop small requests.
 * Of that queue several go on at a time. The bound is exceeded by one large frame and the small ones that have their turn, and for turns that were
 * lost by `overrunBytes`.
 */
export class MemoryBudget {
  readonly limitBytes: number
  usedBytes = 0
  private readonly smallBytes: number
  private readonly small: MemoryLane
  private readonly large: MemoryLane

  /** -1: without bound. */
  constructor(limitBytes: number, { smallBytes = 0, overrunBytes = Infinity }: MemoryBudgetOptions = {}) {
    this.limitBytes = limitBytes < 0 ? Infinity : limitBytes
    this.smallBytes = smallBytes
    const kept = smallBytes === 0 || this.limitBytes === Infinity ? 0 : Math.floor(this.limitBytes * keptShare)
    this.small = new MemoryLane((used, slack) => used > kept + slack && this.usedBytes > this.limitBytes + slack, overrunBytes, smallTurns)
    this.large = new MemoryLane((used, slack) => used > this.limitBytes - kept + slack || this.usedBytes > this.limitBytes + slack, overrunBytes, 1)
  }

  /** How many stand in the queues. */
  get waitingCount(): number {
    return this.small.waitingCount + this.large.waitingCount
  }

  /** States what the holder holds now. False: it should stop reading until `memoryFreed`. */
  hold(holder: MemoryHolder, bytes: number, nowMs: number): boolean {
    const before = holder.heldBytes
    const from = this.laneOf(before)
    const to = this.laneOf(bytes)
    holder.heldBytes = bytes
    this.usedBytes += bytes - before
    if (from !== to) from.leave(holder, before, nowMs)
    const mayReadOn = to.hold(holder, from === to ? before : 0, bytes, nowMs)
    // What one queue gives back the other may have waited for.
    if (bytes < before) (to === this.small ? this.large : this.small).admit(nowMs)
    return mayReadOn
  }

  /** The holder is gone. */
  forget(holder: MemoryHolder, nowMs: number): void {
    const before = holder.heldBytes
    const lane = this.laneOf(before)
    holder.heldBytes = 0
    this.usedBytes -= before
    lane.leave(holder, before, nowMs)
    ;(lane === this.small ? this.large : this.small).admit(nowMs)
  }

  /** Takes turns away and closes. To be called now and then while somebody waits. */
  sweep(nowMs: number): void {
    this.small.sweep(nowMs)
    this.large.sweep(nowMs)
  }

  /** Nobody could be heard for a while: nobody is to blame for that. */
  pardon(nowMs: number): void {
    this.small.pardon(nowMs)
    this.large.pardon(nowMs)
  }

  private laneOf(bytes: number): MemoryLane {
    return bytes <= this.smallBytes ? this.small : this.large
  }
}
