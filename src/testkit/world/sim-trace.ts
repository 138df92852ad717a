import { TraceHash } from './trace-hash.ts'

const recentMax = 200

/** What happened in a simulation: a hash of all of it, and the last events in words. Two runs of one seed have equal hashes. */
export class SimTrace {
  private readonly hash = new TraceHash()
  private readonly recent: { readonly nowMs: number, readonly event: string }[] = []
  private next = 0
  private count = 0

  /** An event whose words are not worth keeping. */
  tick(nowMs: number, lane: string): void {
    this.hash.addNumber(nowMs)
    this.hash.addText(lane)
    this.count++
  }

  add(nowMs: number, event: string): void {
    this.hash.addNumber(nowMs)
    this.hash.addText(event)
    this.count++
    this.recent[this.next] = { nowMs, event }
    this.next = (this.next + 1) % recentMax
  }

  /** Events so far. */
  get events(): number {
    return this.count
  }

  digest(): string {
    return this.hash.digest()
  }

  /** The last events, oldest first; at most 200. */
  lastEvents(limit = recentMax): string[] {
    return [...this.recent.slice(this.next), ...this.recent.slice(0, this.next)].slice(-limit).map(({ nowMs, event }) => `${nowMs.toFixed(3)} ${event}`)
  }
}
