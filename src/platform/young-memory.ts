import { setFlagsFromString } from 'node:v8'

/** V8's own. */
const usualGrowth = 2

/**
 * Keeps the memory of young objects as small as it is, until the function that is returned is called: what a start throws away would
 * otherwise leave 10 MB behind that an idle broker never uses. Afterwards that memory grows with the load again. For a process of our own
 * only, since it holds for all of it. A Node that does not know the flag goes on as ever.
 */
export function keepYoungMemorySmall(): () => void {
  setFlagsFromString('--semi-space-growth-factor=1')
  return () => setFlagsFromString(`--semi-space-growth-factor=${usualGrowth}`)
}
