import { isMillraceError } from '../../kernel/errors/index.ts'
import { type Uuid } from '../../kernel/model/ids.ts'
import { type Timer, type Timers } from '../../kernel/ports/clock.ts'
import { type Controller } from '../../kernel/ports/controller.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'

/** Removals of so long are confirmed together: nobody waits for it, and each confirmation is a write of the metadata. */
const gatherMs = 1000
/** Between two tries to tell it. */
const retryMs = 5000

/**
 * Tells the controller which deleted topics have no log here any more. Until then the metadata names them, so that a log which comes up at a
 * later start, for the removal was cut short, is known as a deleted topic's. What is not told before a stop is told after the next start.
 */
export class RemovalConfirmations {
  private readonly nodeId: number
  private readonly controller: Pick<Controller, 'confirmRemovals'>
  private readonly timers: Timers
  private readonly log: Logger
  private waiting = new Set<Uuid>()
  private timer: Timer | undefined
  private telling = false
  private stopped = false

  constructor(nodeId: number, controller: Pick<Controller, 'confirmRemovals'>, timers: Timers, log: Logger) {
    this.nodeId = nodeId
    this.controller = controller
    this.timers = timers
    this.log = log
  }

  add(topicId: Uuid): void {
    this.waiting.add(topicId)
    this.tellAfter(gatherMs)
  }

  stop(): void {
    this.stopped = true
    this.timer?.cancel()
    this.timer = undefined
  }

  private tellAfter(delayMs: number): void {
    if (this.stopped || this.telling || this.waiting.size === 0) return
    this.timer ??= this.timers.after(delayMs, () => {
      this.timer = undefined
      void this.tell()
    })
  }

  private async tell(): Promise<void> {
    const told = [...this.waiting]
    this.waiting.clear()
    this.telling = true
    let delayMs = gatherMs
    try {
      await this.controller.confirmRemovals(this.nodeId, told)
    } catch (error) {
      for (const id of told) this.waiting.add(id)
      delayMs = retryMs
      if (!isMillraceError(error, 'MR_CLUSTER_STOPPED')) this.log.warn('removed logs could not be confirmed to the controller; it is tried again', { topics: told.length, error })
    }
    this.telling = false
    this.tellAfter(delayMs)
  }
}
