/** The seeds of a random test: fixed ones, or so many new ones as `CRASH_SEEDS` says, or the one of `SEED`. */
export function seedsOf(fixed: readonly number[]): readonly number[] {
  const { SEED: one, CRASH_SEEDS: count } = process.env
  if (one !== undefined) return [Number(one)]
  return count === undefined ? fixed : Array.from({ length: Number(count) }, () => Math.floor(Math.random() * 2 ** 31))
}
