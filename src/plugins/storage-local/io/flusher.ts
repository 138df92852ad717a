/** Something that syncs what was written of it, in order: a log. */
export interface FlushTarget {
  /** The flusher's own: whether it has the target in its hands. */
  queued: boolean
  /** Whether anything waits for a sync. */
  readonly needsSync: boolean
  /**
   * Starts one sync of the oldest that waits; it covers everything that was written of it before this call. `done` is called later, once.
   */
  sync(done: (error: unknown) => void): void
}

/**
 * Group commit. A sync starts at once when none is in flight for the target and fewer than `syncsMax` are in flight in all; what is
 * written meanwhile waits for the next one, which covers all of it. Targets take turns. This is the only place where the data of logs is
 * synced in the run of things: a shared redo log would take its place here.
 */
export class Flusher {
  private readonly syncsMax: number
  private readonly failed: (error: unknown) => void
  private readonly waiting: FlushTarget[] = []
  private inFlight = 0
  private stopped = false

  /** `failed` is told of the first sync that fails. No sync starts afterwards: a second try would succeed and prove nothing. */
  constructor(syncsMax: number, failed: (error: unknown) => void) {
    this.syncsMax = syncsMax
    this.failed = failed
  }

  /** Something of the target was written. */
  appended(target: FlushTarget): void {
    if (target.queued || this.stopped || !target.needsSync) return
    target.queued = true
    if (this.inFlight < this.syncsMax) this.start(target)
    else this.waiting.push(target)
  }

  private start(target: FlushTarget): void {
    this.inFlight++
    target.sync(error => this.finished(target, error))
  }

  private finished(target: FlushTarget, error: unknown): void {
    this.inFlight--
    target.queued = false
    if (this.stopped) return
    if (error !== undefined) {
      this.stopped = true
      this.waiting.length = 0
      this.failed(error)
      return
    }
    if (target.needsSync) {
      target.queued = true
      this.waiting.push(target)
    }
    while (this.inFlight < this.syncsMax) {
      const next = this.waiting.shift()
      if (next === undefined) return
      // It may have been closed while it waited.
      if (next.needsSync) this.start(next)
      else next.queued = false
    }
  }
}
