import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LruCache } from '../../../src/base/lru-cache.ts'

test('what was used longest ago makes room', () => {
  const gone: string[] = []
  const cache = new LruCache<string, number>({ weightMax: 2, onEvict: (key) => gone.push(key) })
  cache.set('a', 1)
  cache.set('b', 2)
  cache.get('a')
  cache.peek('b')
  cache.set('c', 3)
  expect(gone).toEqual(['b'])
  expect([...cache.keys()]).toEqual(['a', 'c'])
})

test('a value heavier than the bound is refused and drops the old one of its key', () => {
  const cache = new LruCache<string, string>({ weightMax: 5, weigh: (value) => value.length })
  expect(cache.set('a', 'xx')).toBe(true)
  expect(cache.set('b', 'xxx')).toBe(true)
  expect(cache.set('a', 'xxxxxx')).toBe(false)
  expect(cache.has('a')).toBe(false)
  expect([cache.get('b'), cache.weight, cache.size]).toEqual(['xxx', 3, 1])
  cache.clear()
  expect([cache.weight, cache.size]).toEqual([0, 0])
})

test('the weight is always the sum of what is held and within the bound', () => {
  fc.assert(fc.property(fc.array(fc.tuple(fc.nat(9), fc.nat(6), fc.boolean()), { maxLength: 100 }), (steps) => {
    const cache = new LruCache<number, number>({ weightMax: 10, weigh: (value) => value })
    for (const [key, weight, remove] of steps) {
      if (remove) cache.delete(key)
      else expect(cache.set(key, weight)).toBe(true)
      const held = [...cache.keys()].map((each) => cache.peek(each)!)
      expect(cache.weight).toBe(held.reduce((sum, each) => sum + each, 0))
      expect(cache.weight).toBeLessThanOrEqual(10)
      expect(cache.size).toBe(held.length)
    }
  }))
})
