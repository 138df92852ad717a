import { describe, expect, test } from 'vitest'
import { Prng } from '../../../src/base/prng.ts'

const draw = (prng: Prng, count: number): number[] => Array.from({ length: count }, () => prng.uint32())

describe('Prng', () => {
  test('one seed gives one sequence, for ever', () => {
    // Fixed: stored seeds of the simulator mean these numbers.
    expect(draw(new Prng(1), 4)).toEqual([4241606922, 2297171361, 1412560267, 4234483075])
    expect(draw(new Prng(7), 50)).toEqual(draw(new Prng(7), 50))
    expect(draw(new Prng(7), 4)).not.toEqual(draw(new Prng(8), 4))
    expect(draw(new Prng(2 ** 40 + 7), 4)).not.toEqual(draw(new Prng(7), 4))
  })

  test('below gives every value about equally often', () => {
    const prng = new Prng(11)
    const counts = new Array<number>(7).fill(0)
    for (let index = 0; index < 70_000; index++) counts[prng.below(7)]!++
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500)
  })

  test('float stays in [0, 1) with a mean of a half', () => {
    const prng = new Prng(12)
    let sum = 0
    for (let index = 0; index < 10_000; index++) {
      const value = prng.float()
      expect(value >= 0 && value < 1).toBe(true)
      sum += value
    }
    expect(Math.abs(sum / 10_000 - 0.5)).toBeLessThan(0.02)
  })

  test('between includes both ends and chance keeps to its probability', () => {
    const prng = new Prng(13)
    const seen = new Set(Array.from({ length: 200 }, () => prng.between(-1, 1)))
    expect([...seen].sort()).toEqual([-1, 0, 1])
    const hits = Array.from({ length: 10_000 }, () => prng.chance(0.1)).filter(Boolean).length
    expect(Math.abs(hits - 1000)).toBeLessThan(150)
  })

  test('shuffle keeps the values and pick takes one of them', () => {
    const prng = new Prng(14)
    const values = Array.from({ length: 20 }, (_, index) => index)
    const shuffled = prng.shuffle([...values])
    expect(shuffled).not.toEqual(values)
    expect([...shuffled].sort((left, right) => left - right)).toEqual(values)
    expect(values).toContain(prng.pick(values))
    expect(() => prng.pick([])).toThrow(RangeError)
  })

  test('a fork is a stream of its own by name and does not move its parent', () => {
    const parent = new Prng(15)
    const left = draw(parent.fork('disk'), 5)
    expect(draw(parent.fork('disk'), 5)).toEqual(left)
    expect(draw(parent.fork('network'), 5)).not.toEqual(left)
    expect(draw(parent, 5)).toEqual(draw(new Prng(15), 5))
  })

  test('bytes fills any length', () => {
    expect(new Prng(16).bytes(7)).toHaveLength(7)
    expect(new Prng(16).bytes(7)).toEqual(new Prng(16).bytes(8).subarray(0, 7))
  })
})
