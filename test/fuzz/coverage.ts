import { Session, type Profiler } from 'node:inspector'

/**
 * Which blocks of the product's code have run, asked of V8's own coverage. It counts blocks only in functions that are compiled after it was
 * started: begin before the product is loaded. Everything is slower while it runs, so a run is guided at its beginning alone.
 */
export class Coverage {
  private readonly session = new Session()
  private readonly seen = new Set<string>()
  private readonly fresh = new Set<string>()

  start(): void {
    this.session.connect()
    this.post('Profiler.enable')
    this.session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** How many blocks have run since the last call that never had before. `fresh` says which they are. */
  takeNew(): number {
    this.fresh.clear()
    for (const key of this.take()) {
      if (this.seen.has(key)) continue
      this.seen.add(key)
      this.fresh.add(key)
    }
    return this.fresh.size
  }

  /** Of the blocks that were new at the last call: how many have run since, that `reached` has not told of yet. */
  reached(): number {
    let found = 0
    if (this.fresh.size === 0) return 0
    for (const key of this.take()) if (this.fresh.delete(key)) found++
    return found
  }

  get blocks(): number {
    return this.seen.size
  }

  stop(): void {
    this.post('Profiler.stopPreciseCoverage')
    this.session.disconnect()
  }

  private take(): string[] {
    const ran: string[] = []
    this.session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error
      for (const script of result) {
        if (!isProduct(script)) continue
        for (const { ranges } of script.functions) {
          for (const { startOffset, endOffset, count } of ranges) if (count > 0) ran.push(`${script.scriptId} ${startOffset} ${endOffset}`)
        }
      }
    })
    return ran
  }

  private post(method: 'Profiler.enable' | 'Profiler.stopPreciseCoverage'): void {
    this.session.post(method)
  }
}

/** Codecs that are compiled from definitions have no address, and are the product's too. */
function isProduct({ url }: Profiler.ScriptCoverage): boolean {
  return url === '' || url.includes('/src/')
}
