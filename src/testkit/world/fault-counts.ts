/** How often each kind of fault has happened: a test that relies on one asserts that it did. */
export class FaultCounts {
  private readonly counts = new Map<string, number>()

  add(kind: string, times = 1): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + times)
  }

  of(kind: string): number {
    return this.counts.get(kind) ?? 0
  }

  /** Kinds that happened, sorted, each with how often. */
  all(): (readonly [kind: string, times: number])[] {
    return [...this.counts].sort(([left], [right]) => left < right ? -1 : 1)
  }
}
