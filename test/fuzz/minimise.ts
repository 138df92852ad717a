import { type FuzzInput } from './target.ts'

/** Runs that looking for a smaller input may take. */
const runsMax = 600

/**
 * A smaller input that still fails: parts are cut out, from halves to single bytes, then bytes become zero. `fails` runs an input on a target
 * that knows of no other.
 */
export async function minimise(input: FuzzInput, fails: (input: FuzzInput) => Promise<boolean>): Promise<FuzzInput> {
  let best = input
  let runs = 0
  const untilMs = performance.now() + 30_000
  const tryOne = async (bytes: Uint8Array): Promise<boolean> => {
    if (runs++ >= runsMax || performance.now() > untilMs) return false
    if (!await fails({ ...input, bytes })) return false
    best = { ...input, bytes }
    return true
  }
  if (!await fails(input)) return input
  for (let size = best.bytes.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < best.bytes.length && runs < runsMax;) {
      const { bytes } = best
      const without = new Uint8Array(bytes.length - Math.min(size, bytes.length - at))
      without.set(bytes.subarray(0, at))
      without.set(bytes.subarray(at + size), at)
      if (!await tryOne(without)) at += size
    }
  }
  for (let at = 0; at < best.bytes.length && runs < runsMax; at++) {
    if (best.bytes[at] === 0) continue
    const zeroed = best.bytes.slice()
    zeroed[at] = 0
    await tryOne(zeroed)
  }
  return best
}
