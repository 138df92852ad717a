/**
 * The seed of a random test, to be named in its title or its failure: always the same, or the one of `SEED`, or a new one where `CRASH_SEEDS` asks
 * for such.
 */
export const seedOf = (fixed: number): number => seedsOf([fixed])[0]!

/** The seeds of a random test: fixed ones, or so many new ones as `CRASH_SEEDS` says, or the one of `SEED`. */
export function seedsOf(fixed: readonly number[]): readonly number[] {
  const { SEED: one, CRASH_SEEDS: count } = process.env
  if (one !== undefined) return [Number(one)]
  return count === undefined ? fixed : Array.from({ length: Math.max(1, Number(count)) }, () => Math.floor(Math.random() * 2 ** 31))
}
