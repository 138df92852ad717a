/** Somebody who holds bytes of requests that can not be handled yet or whose bytes are still needed: a connection. */
export interface MemoryHolder {
  /** Set by the budget alone. */
  heldBytes: number
  /** It may read on. Called at most once after each `hold` that returned false, never within it. */
  memoryFreed(): void
}

/**
 * `queued.max.request.bytes`: a bound on the bytes of requests in memory, over all connections. Counted are parts of frames that have not
 * arrived in full, bytes kept for work off the loop, and frames that arrived while their connection takes none. A request that is handled
 * at once holds nothing, so small requests pass while large ones wait.
 *
 * Above the bound holders stop reading, in a queue; the first of it goes on, alone, so that half-sent frames of many connections can not
 * block one another for ever. The bound is thereby exceeded by one frame at most.
 */
export class MemoryBudget {
  readonly limitBytes: number
  usedBytes = 0
  private readonly waiting = new Set<MemoryHolder>()
  private runner: MemoryHolder | undefined

  /** -1: without bound. */
  constructor(limitBytes: number) {
    this.limitBytes = limitBytes < 0 ? Infinity : limitBytes
  }

  /** How many stand in the queue. */
  get waitingCount(): number {
    return this.waiting.size
  }

  /** States what the holder holds now. False: it should stop reading until `memoryFreed`. */
  hold(holder: MemoryHolder, bytes: number): boolean {
    const less = bytes < holder.heldBytes
    this.usedBytes += bytes - holder.heldBytes
    holder.heldBytes = bytes
    // It got through a frame: the next in the queue goes on.
    if (less && this.runner === holder) this.runner = undefined
    if (bytes === 0) this.waiting.delete(holder)
    if (less && this.waiting.size > 0) this.admit()
    if (bytes > 0 && this.usedBytes > this.limitBytes && this.runner !== holder) {
      if (this.runner !== undefined || this.waiting.size > 0) {
        this.waiting.add(holder)
        return false
      }
      this.runner = holder
    }
    this.waiting.delete(holder)
    return true
  }

  /** The holder is gone. */
  forget(holder: MemoryHolder): void {
    this.waiting.delete(holder)
    this.hold(holder, 0)
  }

  private admit(): void {
    while (this.waiting.size > 0) {
      const [next] = this.waiting
      if (this.usedBytes > this.limitBytes) {
        if (this.runner !== undefined) return
        this.runner = next
      }
      this.waiting.delete(next!)
      next!.memoryFreed()
    }
  }
}
