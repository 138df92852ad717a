import { MillraceError } from '../../../kernel/errors/index.ts'
import { type Clock } from '../../../kernel/ports/clock.ts'
import { type MemoryBudget } from '../core/memory-budget.ts'
import { type MemoryHolder } from '../core/memory-holder.ts'
import { turnMs } from '../core/memory-lane.ts'
import { type Deadline, type Deadlines, type Expiring } from '../deadlines.ts'

/** The budget with the time: while somebody waits for memory it is swept each second, otherwise there is no timer. */
export class MemoryWatch implements Expiring {
  private readonly budget: MemoryBudget
  private readonly clock: Clock
  private readonly deadlines: Deadlines
  private deadline: Deadline | undefined

  constructor(budget: MemoryBudget, clock: Clock, deadlines: Deadlines) {
    this.budget = budget
    this.clock = clock
    this.deadlines = deadlines
  }

  /** As `MemoryBudget.hold`. */
  hold(holder: MemoryHolder, bytes: number): boolean {
    const mayReadOn = this.budget.hold(holder, bytes, this.clock.monotonicMs())
    this.arm()
    return mayReadOn
  }

  forget(holder: MemoryHolder): void {
    this.budget.forget(holder, this.clock.monotonicMs())
    this.arm()
  }

  expired(nowMs: number, stalledMs: number): void {
    this.deadline = undefined
    // While this process stood still nobody could be heard.
    if (stalledMs > 0) this.budget.pardon(nowMs)
    this.budget.sweep(nowMs)
    this.arm()
  }

  private arm(): void {
    const isNeeded = this.budget.waitingCount > 0
    if (isNeeded === (this.deadline !== undefined)) return
    if (this.deadline === undefined) this.deadline = this.deadlines.after(turnMs, this)
    else this.deadlines.remove(this.deadline)
    if (!isNeeded) this.deadline = undefined
  }
}

/** What the connection of half a request is closed for, of which `bytes` are there. */
export function starvedRequest(bytes: number): MillraceError {
  return new MillraceError('MR_PROTOCOL_REQUEST_SLOW', { bytes }, undefined,
    `half a request, of which ${bytes} bytes are there, came no further while others waited for memory; raise queued.max.request.bytes if the client is right`)
}
