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
  private advancing = false

  constructor(owner: RecoveryPointsOwner) {
    this.owner = owner
  }

  advance(logs: Iterable<LogState>): void {
    for (const log of logs) this.due.add(log)
    if (!this.advancing) this.begin()
  }

  private begin(): void {
    if (this.owner.ended) return this.due.clear()
    const logs = [...this.due].filter(log => log.failure === undefined)
    this.due.clear()
    this.advancing = true
    try {
      for (const log of logs) {
        log.writeEpochs()
        checkpointProducers(log)
      }
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
    if (error !== undefined) this.owner.pointsFailed(error)
    else if (this.due.size > 0) this.begin()
  }
}
