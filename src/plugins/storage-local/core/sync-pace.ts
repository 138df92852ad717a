/** Syncs that take no longer may be waited for on the event loop: a hop to the thread pool and back costs about as much. */
const quickMs = 0.2
/** After one that takes so long none is waited for until others have been quick again. */
const stallMs = 2
/** The share of syncs that may be slower: a 99th percentile, over about the last hundred. */
const slowShareMax = 0.01
const memory = 0.02
/** After so many in the pool one is tried on the loop, where a callback's way back is not part of its time. */
const probeEvery = 64

export type SyncMode = 'adaptive' | 'inline' | 'pooled'

/** Decides whether a sync is waited for on the event loop or done in the thread pool, by how long the last ones took. */
export class SyncPace {
  private readonly mode: SyncMode
  private slowShare = 1
  private slowestPooledMs = Infinity
  private pooled = 0

  constructor(mode: SyncMode) {
    this.mode = mode
  }

  /** Whether the next one is waited for. */
  get inline(): boolean {
    if (this.mode !== 'adaptive') return this.mode === 'inline'
    return this.slowShare <= slowShareMax || (this.pooled >= probeEvery && this.slowestPooledMs < stallMs)
  }

  took(inline: boolean, durationMs: number): void {
    if (inline) {
      const isSlow = durationMs > quickMs
      this.slowShare = durationMs >= stallMs ? 1 : this.slowShare + memory * ((isSlow ? 1 : 0) - this.slowShare)
      // Tries on the loop go on while they are quick; the first slow one ends them.
      if (isSlow && this.slowShare > slowShareMax) this.pooled = 0
      return
    }
    this.slowestPooledMs = this.pooled % probeEvery === 0 ? durationMs : Math.max(this.slowestPooledMs, durationMs)
    this.pooled++
  }
}
