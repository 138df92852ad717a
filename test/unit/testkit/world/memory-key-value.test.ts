import { describe, expect, test } from 'vitest'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { MemoryKeyValueEngine } from '../../../../src/testkit/world/memory-key-value-engine.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)
const everything = { from: bytes(), to: bytes(255) }

describe('MemoryKeyValueEngine', () => {
  test('a power cut by chance leaves a prefix of the unsynced writes, whole ones', async () => {
    const seen = new Set<string>()
    for (let seed = 0; seed < 100; seed++) {
      const engine = new MemoryKeyValueEngine()
      const store = await engine.open('/s')
      await store.write([{ key: bytes(0), value: bytes() }], { sync: true })
      for (const index of [1, 3, 5]) {
        await store.write([{ key: bytes(index), value: bytes() }, { key: bytes(index + 1), value: bytes() }], { sync: false })
      }
      const found = await engine.afterCrash({ keepUnsynced: new SeededRandom(seed) }).open('/s')
      seen.add((await found.range(everything)).map(([key]) => key[0]).join())
    }
    expect([...seen].sort()).toEqual(['0', '0,1,2', '0,1,2,3,4', '0,1,2,3,4,5,6'])
  })

  test('a kill leaves all writes to the next process, and a power cut that comes later still takes those that were not synced', async () => {
    const engine = new MemoryKeyValueEngine()
    const store = await engine.open('/s')
    await store.write([{ key: bytes(1), value: bytes() }], { sync: true })
    await store.write([{ key: bytes(2), value: bytes() }], { sync: false })
    const killed = engine.afterCrash({ keepUnsynced: 'all' })
    const keysOf = async (found: MemoryKeyValueEngine) => (await (await found.open('/s')).range(everything)).map(([key]) => key[0])
    expect(await keysOf(killed.afterCrash({ keepUnsynced: 'none' }))).toEqual([1])
    const heir = await killed.open('/s')
    expect((await heir.range(everything)).map(([key]) => key[0])).toEqual([1, 2])
    await heir.write([{ key: bytes(3), value: bytes() }], { sync: true })
    expect(await keysOf(killed.afterCrash({ keepUnsynced: 'none' }))).toEqual([1, 2, 3])
  })

  test('a store goes with its directory', async () => {
    const files = new MemoryFileSystem()
    const engine = new MemoryKeyValueEngine({ files })
    const store = await engine.open('/data/s')
    await store.write([{ key: bytes(1), value: bytes(1) }], { sync: true })
    await store.close()
    expect(files.list('/data')).toEqual(['s'])
    const after = engine.afterCrash({ keepUnsynced: 'none' }, { files: files.afterCrash({ keepUnsynced: 'none' }) })
    expect(await (await after.open('/data/s')).get(bytes(1))).toEqual(bytes(1))
    files.remove('/data/s')
    expect(await (await engine.open('/data/s')).get(bytes(1))).toBe(undefined)
  })

  test('calls can be made to fail, and a failed write ends the store', async () => {
    const engine = new MemoryKeyValueEngine()
    const store = await engine.open('/s')
    engine.failWith = operation => operation.kind === 'write' && operation.sync === true ? 'EIO' : undefined
    await store.write([{ key: bytes(1), value: bytes() }], { sync: false })
    await expect(store.write([{ key: bytes(2), value: bytes() }], { sync: true })).rejects.toMatchObject({ code: 'MR_FILE_FAILED' })
    engine.failWith = undefined
    await expect(store.write([{ key: bytes(3), value: bytes() }], { sync: true })).rejects.toThrow('EIO')
    expect((await store.range(everything)).map(([key]) => key[0])).toEqual([1])
  })

  test('an older image put back is a disk that lost synced writes', async () => {
    const engine = new MemoryKeyValueEngine()
    const store = await engine.open('/s')
    await store.write([{ key: bytes(1), value: bytes() }], { sync: true })
    const image = engine.image('/s')
    await store.write([{ key: bytes(2), value: bytes() }], { sync: true })
    await store.close()
    engine.restore('/s', image)
    const again = await engine.open('/s')
    expect((await again.range(everything)).map(([key]) => key[0])).toEqual([1])
  })
})
