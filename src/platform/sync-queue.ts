import { type SystemFileCalls } from './system-file-calls.ts'

type SyncDone = (error: NodeJS.ErrnoException | null) => void

interface WaitingSync {
  readonly descriptor: number
  readonly done: SyncDone[]
}

/**
 * Syncs of all files of the process, at most three in the thread pool at once. The pool has four threads: reads that wait for the
 * disk always find one, however slow the syncs are. First come, first served; a file that waits already is synced once for all who ask.
 */
export class SyncQueue {
  private readonly calls: SystemFileCalls
  private readonly inFlightMax: number
  private readonly waiting: WaitingSync[] = []
  private inFlight = 0

  constructor(calls: SystemFileCalls, inFlightMax = 3) {
    this.calls = calls
    this.inFlightMax = inFlightMax
  }

  /** The descriptor must stay open until `done`. */
  sync(descriptor: number, done: SyncDone): void {
    if (this.inFlight < this.inFlightMax) return this.start(descriptor, [done])
    const same = this.waiting.find(each => each.descriptor === descriptor)
    if (same === undefined) this.waiting.push({ descriptor, done: [done] })
    else same.done.push(done)
  }

  private start(descriptor: number, done: readonly SyncDone[]): void {
    this.inFlight++
    this.calls.fdatasync(descriptor, error => {
      this.inFlight--
      const next = this.waiting.shift()
      if (next !== undefined) this.start(next.descriptor, next.done)
      for (const each of done) each(error)
    })
  }
}
