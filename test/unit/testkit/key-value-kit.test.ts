import { describe, expect, test } from 'vitest'
import { type KeyValueEngine, type KeyValueStore } from '../../../src/kernel/ports/key-value-store.ts'
import { keyValueConformance } from '../../../src/testkit/conformance/key-value.ts'
import { failuresOf } from '../../../src/testkit/conformance/kit.ts'
import { MemoryKeyValueEngine } from '../../../src/testkit/world/memory-key-value-engine.ts'

const run = (breakStore: (real: KeyValueStore) => Partial<KeyValueStore>, engineOver = (real: KeyValueEngine): KeyValueEngine => real) =>
  failuresOf(declare => {
    keyValueConformance({
      test: declare,
      create: () => {
        const real = new MemoryKeyValueEngine()
        const wrapped: KeyValueEngine = {
          takesSpace: false,
          open: async (path, how) => {
            const store = await real.open(path, how)
            const whole: KeyValueStore = {
              get: key => store.get(key), range: range => store.range(range),
              write: (puts, options) => store.write(puts, options), close: () => store.close(),
            }
            return { ...whole, ...breakStore(store) }
          },
        }
        return { engine: engineOver(wrapped), path: '/d/store', powerCut: () => real.afterCrash({ keepUnsynced: 'none' }) }
      },
    })
  })

describe('keyValueConformance', () => {
  test('an unbroken engine passes', async () => {
    expect(await run(() => ({}))).toEqual([])
  })

  const cases: Readonly<Record<string, () => Promise<string[]>>> = {
    'missing keys have empty values': () => run(real => ({ get: async key => await real.get(key) ?? new Uint8Array(0) })),
    'empty values are missing': () => run(real => ({
      get: async key => {
        const found = await real.get(key)
        return found?.length === 0 ? undefined : found
      },
    })),
    'a write is applied backwards': () => run(real => ({ write: (puts, options) => real.write([...puts].reverse(), options) })),
    'removals are ignored': () => run(real => ({ write: (puts, options) => real.write(puts.filter(put => put.value !== undefined), options) })),
    'ranges are limited to a thousand': () => run(real => ({ range: range => real.range({ ...range, limit: Math.min(range.limit ?? 1000, 1000) }) })),
    'ranges never go backwards': () => run(real => ({ range: range => real.range({ ...range, reverse: false }) })),
    'the upper bound is part of the range': () => run(real => ({
      range: range => real.range({ ...range, to: Uint8Array.from([...range.to, 0]) }),
    })),
    'reads do not wait for writes': () => run(real => {
      let last = Promise.resolve()
      return {
        write: (puts, options) => {
          last = last.then(() => Promise.resolve()).then(() => Promise.resolve()).then(() => real.write(puts, options))
          return last
        },
      }
    }),
    'nothing is synced': () => run(real => ({ write: (puts, options) => real.write(puts, { ...options, sync: false }) })),
    'everything is synced': () => run(real => ({ write: puts => real.write(puts, { sync: true }) })),
    'values are handed out uncopied': () => run(real => {
      const cache = new Map<string, Uint8Array>()
      return {
        get: async key => {
          const name = key.join()
          const found = cache.get(name) ?? await real.get(key)
          if (found !== undefined && name === '97') cache.set(name, found)
          return found
        },
      }
    }),
    'a closed store goes on': () => run(() => ({ close: () => Promise.resolve() })),
    'a second open is let in': () => run(() => ({}), real => {
      const open = new Map<string, Promise<KeyValueStore>>()
      return {
        takesSpace: false,
        open: path => {
          const found = open.get(path) ?? real.open(path)
          open.set(path, found)
          return found
        },
      }
    }),
    'a store is made that had to be there': () => run(() => ({}), real => ({ takesSpace: false, open: path => real.open(path) })),
    'all paths are one store': () => run(() => ({}), real => {
      let only: Promise<KeyValueStore> | undefined
      return { takesSpace: false, open: path => only ??= real.open(path) }
    }),
  }
  for (const [defect, failing] of Object.entries(cases)) {
    test(`an engine fails where ${defect}`, async () => {
      expect(await failing()).not.toEqual([])
    })
  }
})
