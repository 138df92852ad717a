/**
 * The one table of the versions that this plugin serves. A version is a promise: it is listed when its semantics are in. Handlers take their ranges
 * from here and docs/protocol.md repeats them; a test keeps the three equal. Lower bounds are those of Kafka 4, and never to be raised (quirk 7).
 */
export const versionRanges: readonly { readonly key: number, readonly min: number, readonly max: number }[] = [
  { key: 8, min: 2, max: 10 },
  { key: 9, min: 1, max: 10 },
  { key: 11, min: 0, max: 9 },
  { key: 12, min: 0, max: 4 },
  { key: 13, min: 0, max: 5 },
  { key: 14, min: 0, max: 5 },
  { key: 15, min: 0, max: 6 },
  { key: 16, min: 0, max: 5 },
  { key: 42, min: 0, max: 3 },
  { key: 47, min: 0, max: 0 },
  { key: 68, min: 0, max: 1 },
  { key: 69, min: 0, max: 1 },
]

export function rangeOf(key: number): { readonly minVersion: number, readonly maxVersion: number } {
  const { min, max } = versionRanges.find((range) => range.key === key)!
  return { minVersion: min, maxVersion: max }
}
