import { type WatermarkWaiter } from '../../../kernel/ports/replicator.ts'

/**
 * Waiters in the order of their offsets, those of equal offset in the order they came. They mostly come with rising offsets, which costs
 * nothing; a late one is moved to its place. Nothing is allocated for a waiter.
 */
export class WaiterQueue {
  private readonly waiters: WatermarkWaiter[] = []
  /** Taken out and not called yet: one that is called may still cancel those behind it. */
  private readonly taken: (WatermarkWaiter | undefined)[] = []

  get size(): number {
    return this.waiters.length
  }

  /** Whether there is somebody for this watermark. */
  hasReached(watermark: number): boolean {
    return this.waiters.length > 0 && this.waiters[0]!.offset <= watermark
  }

  add(waiter: WatermarkWaiter): void {
    let at = this.waiters.length
    while (at > 0 && this.waiters[at - 1]!.offset > waiter.offset) at--
    if (at === this.waiters.length) this.waiters.push(waiter)
    else this.waiters.splice(at, 0, waiter)
  }

  /** Fine when it is not there. */
  remove(waiter: WatermarkWaiter): void {
    for (let at = this.lowest(waiter.offset); at < this.waiters.length && this.waiters[at]!.offset === waiter.offset; at++) {
      if (this.waiters[at] === waiter) {
        this.waiters.splice(at, 1)
        return
      }
    }
    const at = this.taken.indexOf(waiter)
    if (at >= 0) this.taken[at] = undefined
  }

  /** Takes out and calls all up to the watermark. They may add and remove others. */
  reach(watermark: number): void {
    let count = 0
    while (count < this.waiters.length && this.waiters[count]!.offset <= watermark) count++
    this.take(count)
    for (let at = 0; at < this.taken.length; at++) {
      const waiter = this.taken[at]
      this.taken[at] = undefined
      waiter?.reached()
    }
    this.taken.length = 0
  }

  /** Takes out and fails all. Those added meanwhile stay. */
  fail(error: unknown): void {
    this.take(this.waiters.length)
    for (let at = 0; at < this.taken.length; at++) {
      const waiter = this.taken[at]
      this.taken[at] = undefined
      waiter?.failed(error)
    }
    this.taken.length = 0
  }

  private take(count: number): void {
    for (let at = 0; at < count; at++) this.taken.push(this.waiters[at])
    this.waiters.copyWithin(0, count)
    this.waiters.length -= count
  }

  /** First place of an offset that is not below. */
  private lowest(offset: number): number {
    let low = 0
    let high = this.waiters.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.waiters[middle]!.offset < offset) low = middle + 1
      else high = middle
    }
    return low
  }
}
