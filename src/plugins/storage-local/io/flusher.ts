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
 * Group commit. A sync starts in the turn of the event loop in which something was written, after all requests that came with it, when none
 * is in flight for the target and fewer than `syncsMax` are in flight in all; what is written meanwhile waits for the next one, which
 * covers all of it. Targets take turns. What the redo log of the directory takes is synced there, and here only when a segment is closed or the
 * redo log needs the room.
 */
export class Flusher {
  private readonly syncsMax: number
  private readonly soon: (callback: () => void) => void
  private readonly failed: (error: unknown) => void
  private readonly waiting: FlushTarget[] = []
  private inFlight = 0
  private startsSoon = false
  private stopped = false

  /**
   * `soon` calls back after the I/O events at hand. `failed` is told of the first sync that fails. No sync starts afterwards: a second try
   * would succeed and prove nothing.
   */
  constructor(syncsMax: number, soon: (callback: () => void) => void, failed: (error: unknown) => void) {
    this.syncsMax = syncsMax
    this.soon = soon
    this.failed = failed
  }

  /** Something of the target was written. */
  appended(target: FlushTarget): void {
    if (target.queued || this.stopped || !target.needsSync) return
    target.queued = true
    this.waiting.push(target)
    if (this.startsSoon || this.inFlight >= this.syncsMax) return
    this.startsSoon = true
    this.soon(this.startWaiting)
  }

  private start(target: FlushTarget): void {
    this.inFlight++
    try {
      target.sync(error => this.finished(target, error))
    } catch (error) {
      // Whoever appended has appended: it hears of this like of any sync that fails.
      this.finished(target, error)
    }
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
    this.startWaiting()
  }

  private readonly startWaiting = (): void => {
    this.startsSoon = false
    while (this.inFlight < this.syncsMax && !this.stopped) {
      const next = this.waiting.shift()
      if (next === undefined) return
      // It may have been closed while it waited.
      if (next.needsSync) this.start(next)
      else next.queued = false
    }
  }
}
