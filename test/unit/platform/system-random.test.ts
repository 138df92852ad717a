import { describe, expect, test } from 'vitest'
import { SystemRandom } from '../../../src/platform/system-random.ts'

describe('SystemRandom', () => {
  test('fractions lie in [0, 1) and fill every tenth of it', () => {
    const random = new SystemRandom()
    const tenths = new Array<number>(10).fill(0)
    for (let round = 0; round < 10_000; round++) {
      const value = random.fraction()
      expect(value >= 0 && value < 1).toBe(true)
      tenths[Math.floor(value * 10)]!++
    }
    // 1000 expected in each; 700 is ten standard deviations away.
    expect(Math.min(...tenths)).toBeGreaterThan(700)
  })

  test('bytes are the caller\'s own, and no two draws are equal', () => {
    const random = new SystemRandom()
    const seen = new Set<string>()
    for (let round = 0; round < 2000; round++) {
      const bytes = random.bytes(16)
      expect(bytes.length).toBe(16)
      expect(bytes.byteLength).toBe(bytes.buffer.byteLength)
      seen.add(bytes.join())
    }
    expect(seen.size).toBe(2000)
    expect(random.bytes(10_000).length).toBe(10_000)
    expect(random.bytes(0).length).toBe(0)
  })
})
