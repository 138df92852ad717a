import { type Timers } from '../kernel/ports/clock.ts'

/** Loads under way at a time: one is replayed while others wait for the disk. More would only hold more memory, and all end late. */
const loadsMax = 4

export interface SlicedLoad {
  /** It may begin: called once, where it has not left before. */
  begin(): void
  /** It has asked for a turn. Work of some milliseconds at most. */
  goOn(): void
}

/** Shares the event loop among the loads of a host: so many are under way at a time, in the order in which they came, and each turn of the loop has one slice of one of them. */
export class LoadTurns {
  private readonly timers: Timers
  private readonly waiting = new Set<SlicedLoad>()
  private readonly underway = new Set<SlicedLoad>()
  private readonly slices: SlicedLoad[] = []
  private admitting = false

  constructor(timers: Timers) {
    this.timers = timers
  }

  /** Its `begin` is called now, or when another has left. */
  enter(load: SlicedLoad): void {
    this.waiting.add(load)
    this.admit()
  }

  /** It has ended, or never begins. Leaving twice does nothing. */
  leave(load: SlicedLoad): void {
    this.waiting.delete(load)
    if (this.underway.delete(load)) this.admit()
  }

  /** Its `goOn` is called, in a turn of the loop of its own. */
  soon(load: SlicedLoad): void {
    this.slices.push(load)
    if (this.slices.length === 1) this.timers.soon(this.next)
  }

  private readonly next = (): void => {
    const load = this.slices.shift()!
    if (this.slices.length > 0) this.timers.soon(this.next)
    load.goOn()
  }

  /** One that ends at once, as of an empty log, makes room within this loop. */
  private admit(): void {
    if (this.admitting) return
    this.admitting = true
    try {
      for (const load of this.waiting) {
        if (this.underway.size >= loadsMax) break
        this.waiting.delete(load)
        this.underway.add(load)
        load.begin()
      }
    } finally {
      this.admitting = false
    }
  }
}
