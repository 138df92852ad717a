import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffMs } from '../../../src/base/backoff.ts'

const plain = { initialMs: 100, maxMs: 1000, multiplier: 2, jitter: 0 }

test('waits double from the initial one up to the maximum', () => {
  expect([1, 2, 3, 4, 5, 50, 5000].map((failures) => backoffMs(failures, plain, () => 0.5))).toEqual([100, 200, 400, 800, 1000, 1000, 1000])
})

test('jitter moves a wait by its share at most, and never above the maximum', () => {
  const options = { ...plain, jitter: 0.2 }
  expect(backoffMs(1, options, () => 0)).toBe(80)
  expect(backoffMs(1, options, () => 0.999999)).toBe(120)
  fc.assert(fc.property(fc.integer({ min: 1, max: 100 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (failures, random) => {
    const nominal = backoffMs(failures, plain, () => 0.5)
    const wait = backoffMs(failures, options, () => random)
    expect(wait).toBeGreaterThanOrEqual(Math.floor(nominal * 0.8))
    expect(wait).toBeLessThanOrEqual(Math.min(1000, Math.ceil(nominal * 1.2)))
  }))
})
