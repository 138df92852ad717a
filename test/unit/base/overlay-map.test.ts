import { describe, expect, it } from 'vitest'
import { OverlayMap } from '../../../src/base/overlay-map.ts'
import { Prng } from '../../../src/base/prng.ts'
import { seedOf } from '../../integration/seeds.ts'

const seed = seedOf(1)

describe('OverlayMap', () => {
  it(`agrees with a Map through random changes, and no version changes afterwards (seed ${seed})`, () => {
    const random = new Prng(seed)
    const model = new Map<number, number>()
    let map = new OverlayMap<number, number>()
    const versions: { map: OverlayMap<number, number>, expected: Map<number, number> }[] = []
    for (let step = 0; step < 400; step++) {
      const changes = new Map<number, number | undefined>()
      for (let count = random.below(6); count > 0; count--) changes.set(random.below(700), random.chance(0.3) ? undefined : step)
      map = map.with(changes)
      for (const [key, value] of changes) {
        if (value === undefined) model.delete(key)
        else model.set(key, value)
      }
      if (step % 40 === 0) versions.push({ map, expected: new Map(model) })
    }
    versions.push({ map, expected: model })
    for (const version of versions) {
      expect(new Map(version.map), `seed ${seed}`).toEqual(version.expected)
      expect(version.map.size, `seed ${seed}`).toBe(version.expected.size)
      for (let key = 0; key < 700; key++) expect(version.map.get(key), `seed ${seed}`).toBe(version.expected.get(key))
      expect([...version.map.keys()].length).toBe([...version.map.values()].length)
    }
  })

  it('keeps the order of insertion', () => {
    const map = new OverlayMap<string, number>(new Map([['a', 1], ['b', 2]])).with(new Map([['c', 3], ['a', 4]]))
    expect([...map]).toEqual([['a', 4], ['b', 2], ['c', 3]])
    expect([...map.with(new Map([['b', undefined]])).keys()]).toEqual(['a', 'c'])
  })
})
