/** What is served of one API. */
export interface VersionRange {
  readonly key: number
  /** The lowest version that is answered. */
  readonly min: number
  readonly max: number
  /** The lowest version that ApiVersions names; `min` unless said otherwise. */
  readonly advertisedMin?: number
}

/**
 * The one table of the versions that this plugin serves. A version is a promise: it is listed when its semantics are in. Handlers take their
 * ranges from here and docs/protocol.md repeats them; a test keeps the three equal.
 *
 * The lower bounds are those of Kafka 4: enough for every client that still works with it, and never to be raised (quirk 7). The set has
 * to stay coherent: some clients infer the release of a broker from single versions (quirk 10), and topic ids (Produce 13, Fetch 13)
 * need Metadata 12 (quirk 16).
 */
export const versionRanges: readonly VersionRange[] = [
  // Quirk 8: older librdkafka turns compression off unless Produce is advertised from 0 on. 0 to 2 are refused all the same.
  { key: 0, min: 3, max: 11, advertisedMin: 0 },
  { key: 1, min: 4, max: 16 },
  { key: 2, min: 1, max: 9 },
  { key: 3, min: 0, max: 12 },
  { key: 10, min: 0, max: 6 },
  { key: 18, min: 0, max: 4 },
  { key: 19, min: 2, max: 7 },
  { key: 20, min: 1, max: 6 },
  { key: 21, min: 0, max: 2 },
  { key: 22, min: 0, max: 5 },
  { key: 23, min: 2, max: 4 },
  { key: 32, min: 1, max: 4 },
  { key: 33, min: 0, max: 2 },
  { key: 35, min: 1, max: 5 },
  { key: 37, min: 0, max: 3 },
  { key: 43, min: 0, max: 2 },
  { key: 44, min: 0, max: 1 },
  { key: 45, min: 0, max: 1 },
  { key: 46, min: 0, max: 0 },
  { key: 60, min: 0, max: 2 },
  { key: 61, min: 0, max: 0 },
  { key: 74, min: 0, max: 1 },
  { key: 75, min: 0, max: 0 },
]

const byKey = new Map(versionRanges.map((range) => [range.key, range]))

/** The range of an API of this plugin. */
export function rangeOf(key: number): VersionRange {
  return byKey.get(key)!
}

/** What ApiVersions says as the lowest version of an API that a handler serves from `min` on. */
export function advertisedMin(key: number, min: number): number {
  return byKey.get(key)?.advertisedMin ?? min
}
