/**
 * The candidate that is nearest to a mistyped name, by edits (insert, delete, replace, swap of neighbours; case costs nothing), if one is
 * near enough to be what was meant: within a third of the name's length. Ties go to the first.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase()
  let nearest: string | undefined
  let limit = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= limit) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < limit) {
      nearest = candidate
      limit = distance
    }
  }
  return nearest
}

/** For the end of a message about an unknown name: `; did you mean retention.ms?`, or nothing. */
export function suggestion(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates)
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}

/** Edits that turn one text into the other, a swap of two neighbours counted as one (optimal string alignment). */
export function editDistance(left: string, right: string): number {
  let twoBack: number[] = []
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      let cost = Math.min(current[column - 1]! + 1, previous[column]! + 1, previous[column - 1]! + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      if (swapped) cost = Math.min(cost, twoBack[column - 2]! + 1)
      current.push(cost)
    }
    twoBack = previous
    previous = current
  }
  return previous[right.length]!
}
