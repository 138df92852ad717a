import { type Clock, type Timers } from '../../kernel/ports/clock.ts'

/** A slice that has taken so long is ended. */
const sliceMs = 3
/** A clock that does not move by itself must not make a slice endless. */
const unitsPerSliceMax = 16

export interface SlicedWorkParts<Unit> {
  readonly clock: Clock
  readonly timers: Timers
  /** Does one unit. It must not throw: nobody waits for it. */
  readonly run: (unit: Unit) => void
}

/**
 * Work that blocks, cut into units, of which each turn of the event loop does one slice: at least one unit, and further ones while the slice
 * has taken less than a few milliseconds. So whoever else needs the loop waits for no more than that, or for one unit.
 *
 * Units of one lane are done in the order in which they were added. Lanes take turns, unit by unit, so that a long one holds up no other.
 */
export class SlicedWork<Unit> {
  private readonly parts: SlicedWorkParts<Unit>
  /** None is empty; the first one is next. */
  private readonly lanes = new Map<string, Unit[]>()
  /** A slice is being done in this turn, or was. */
  private turnUsed = false
  private stopped = false

  constructor(parts: SlicedWorkParts<Unit>) {
    this.parts = parts
  }

  /** Not done before `begin`. */
  add(lane: string, unit: Unit): void {
    if (this.stopped) return
    const units = this.lanes.get(lane)
    if (units === undefined) this.lanes.set(lane, [unit])
    else units.push(unit)
  }

  /** Those that match are not done; the others keep their order. */
  drop(lane: string, matches: (unit: Unit) => boolean): void {
    const units = this.lanes.get(lane)
    if (units === undefined) return
    const kept = units.filter((unit) => !matches(unit))
    // Set, not deleted and set again: the lane keeps its place.
    if (kept.length > 0) this.lanes.set(lane, kept)
    else this.lanes.delete(lane)
  }

  /** The first slice is done now, within the call, unless this turn has had one: work of a few units is over when this returns. */
  begin(): void {
    if (!this.turnUsed) this.slice()
  }

  /** Units that are not done yet. */
  get left(): number {
    let left = 0
    for (const units of this.lanes.values()) left += units.length
    return left
  }

  /** Nothing more is done. */
  stop(): void {
    this.stopped = true
    this.lanes.clear()
  }

  private readonly slice = (): void => {
    this.turnUsed = false
    if (this.lanes.size === 0) return
    const { clock, timers } = this.parts
    const beganMs = clock.monotonicMs()
    this.turnUsed = true
    for (let units = 0; units < unitsPerSliceMax && this.lanes.size > 0; units++) {
      this.runNext()
      if (clock.monotonicMs() - beganMs >= sliceMs) break
    }
    // Also when all is done: what is added before the turn is over belongs to the next one.
    timers.soon(this.slice)
  }

  private runNext(): void {
    const [lane, units] = this.lanes.entries().next().value!
    this.lanes.delete(lane)
    const unit = units.shift()!
    if (units.length > 0) this.lanes.set(lane, units)
    this.parts.run(unit)
  }
}
