/** Durations in milliseconds, and what share of them was how short. */
export class Latencies {
  readonly #all: number[] = []

  add(ms: number): void {
    this.#all.push(ms)
  }

  /** The shortest time that `share` of all (0.5, 0.99) did not exceed; NaN without any. */
  quantile(share: number): number {
    const sorted = Float64Array.from(this.#all).sort()
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
  }
}
