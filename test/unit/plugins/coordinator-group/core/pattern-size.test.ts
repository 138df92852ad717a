import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../../src/base/prng.ts'
import { patternSize } from '../../../../../src/plugins/coordinator-group/core/consumer/pattern-size.ts'

/** A pattern by chance, with repetitions in one another. */
function randomPattern(prng: Prng, depth: number): string {
  const atoms = ['a', '.', '[abc]', '[^]x]', '[[:alpha:]_]', '\\d', '\\.', '\\pL', 'order', '^', '$']
  const repeats = ['', '', '*', '+', '?', '{2}', '{3,}', '{2,7}', '{0,4}']
  const piece = (): string => (depth > 0 && prng.chance(0.4) ? `(${randomPattern(prng, depth - 1)})` : prng.pick(atoms)) + prng.pick(repeats)
  return Array.from({ length: prng.between(1, 4) }, piece).join(prng.chance(0.2) ? '|' : '')
}

describe('the size of a pattern', () => {
  it('is never far below what the compiler makes of it, whatever is repeated in what', () => {
    const prng = new Prng(1051)
    let compiled = 0
    for (let count = 0; count < 3000; count++) {
      const pattern = randomPattern(prng, 3)
      let size: number
      try {
        size = RE2JS.compile(pattern).programSize()
      } catch {
        continue
      }
      compiled++
      expect(2 * patternSize(pattern) + 20, pattern).toBeGreaterThanOrEqual(size)
    }
    expect(compiled).toBeGreaterThan(2000)
  })

  it('is small for what people write', () => {
    for (const pattern of ['orders', 'orders-.*', '(orders|parcels)\\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', '.*']) expect(patternSize(pattern)).toBeLessThan(200)
  })
})
