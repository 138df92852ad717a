import { type Prng } from '../../../src/base/prng.ts'
import { type Timers } from '../../../src/kernel/ports/clock.ts'

/** What waits for the disk ends when it is said so, in any order: what is under way goes on while the next steps are done. */
export class SlowDisk implements Pick<Timers, 'after'> {
  private readonly waiting: (() => void)[] = []
  private isSlow = true

  after(_delayMs: number, callback: () => void): { cancel: () => void } {
    if (this.isSlow) this.waiting.push(callback)
    else queueMicrotask(callback)
    return { cancel: () => {} }
  }

  soon(callback: () => void): void {
    queueMicrotask(callback)
  }

  /** One of those that wait, by chance. */
  endOne(prng: Prng): void {
    if (this.waiting.length > 0) this.waiting.splice(prng.below(this.waiting.length), 1)[0]!()
  }

  /** Nobody is left who would hear of it. */
  forget(): void {
    this.waiting.length = 0
  }

  /** From now on nothing waits for long. */
  goOn(): void {
    this.isSlow = false
    for (const callback of this.waiting.splice(0)) callback()
  }
}
