/** A set of ranges of bytes, kept as few and sorted: which parts of a file something is known of. */
export class ByteRanges {
  /** Starts and ends, ascending. */
  private readonly edges: number[] = []

  get count(): number { return this.edges.length / 2 }

  /** Whether all of `[start, end)` is in the set. */
  covers(start: number, end: number): boolean {
    const at = this.firstEndingAfter(start)
    return at < this.edges.length && this.edges[at]! <= start && end <= this.edges[at + 1]!
  }

  add(start: number, end: number): void {
    if (start >= end) return
    const { edges } = this
    let first = this.firstEndingAfter(start)
    // One that ends where this begins is joined too.
    if (first > 0 && edges[first - 1] === start) first -= 2
    let last = first
    let [from, to] = [start, end]
    while (last < edges.length && edges[last]! <= end) {
      from = Math.min(from, edges[last]!)
      to = Math.max(to, edges[last + 1]!)
      last += 2
    }
    edges.splice(first, last - first, from, to)
  }

  /** Takes everything from `position` on out of the set. */
  cut(position: number): void {
    const { edges } = this
    while (edges.length > 0 && edges[edges.length - 2]! >= position) edges.length -= 2
    if (edges.length > 0) edges[edges.length - 1] = Math.min(edges[edges.length - 1]!, position)
  }

  /** Index of the start of the first range that ends behind `position`. */
  private firstEndingAfter(position: number): number {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.edges[middle * 2 + 1]! <= position) low = middle + 1
      else high = middle
    }
    return low * 2
  }
}
