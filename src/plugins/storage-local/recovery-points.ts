import { type LogState } from './log-state.ts'
import { checkpointProducers } from './producer-recovery.ts'
import { syncIndexesOf } from './sync-indexes.ts'

export interface RecoveryPointsOwner {
  /** Whether nothing is to be written any more. */
  readonly ended: boolean
  /** Writes the checkpoint of the recovery points as they are now. `done` is called once the file is in place, or cannot be. */
  writePoints(done: (error: unknown) => void): void
  /** A round failed. */
  pointsFailed(error: unknown): void
}

/**
 * Moves the recovery points of the logs of one directory on: what a point is to pass has to be on the disk, with the epochs and the index
 * entries of the part below it. One round at a time; logs that ask meanwhile are in the next one together.
 */
export class RecoveryPoints {
  private readonly owner: RecoveryPointsOwner
  private readonly due = new Set<LogState>()
  /** Who waits for the round that is next. */
  private waiting: ((error: unknown) => void)[] = []
  private told: ((error: unknown) => void)[] = []
  private advancing = false

  constructor(owner: RecoveryPointsOwner) {
    this.owner = owner
  }

  /** `done` is called when the points of these logs are on the disk, with what kept them from it. */
  advance(logs: Iterable<LogState>, done?: (error: unknown) => void): void {
    for (const log of logs) this.due.add(log)
    if (done !== undefined) this.waiting.push(done)
    if (!this.advancing) this.begin()
  }

  private begin(): void {
    this.told = this.waiting
    this.waiting = []
    if (this.owner.ended) return this.due.clear()
    const logs = [...this.due].filter(log => log.failure === undefined)
    this.due.clear()
    this.advancing = true
    try {
      for (const log of logs) checkpointProducers(log)
    } catch (error) {
      return this.finished(error)
    }
    syncIndexesOf(logs, error => {
      if (error !== undefined || this.owner.ended) return this.finished(error)
      try {
        this.owner.writePoints(failure => { this.finished(failure) })
      } catch (failure) {
        this.finished(failure)
      }
    })
  }

  private finished(error: unknown): void {
    this.advancing = false
    const { told } = this
    this.told = []
    if (error !== undefined) this.owner.pointsFailed(error)
    for (const done of told) done(error)
    if (error === undefined && !this.advancing && (this.due.size > 0 || this.waiting.length > 0)) this.begin()
  }
}
