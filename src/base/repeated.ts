/** The items that occur more than once. */
export function repeated<T>(items: Iterable<T>): ReadonlySet<T> {
  const once = new Set<T>()
  const more = new Set<T>()
  for (const item of items) (once.has(item) ? more : once).add(item)
  return more
}
