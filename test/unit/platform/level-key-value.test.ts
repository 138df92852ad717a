import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { LevelKeyValueEngine } from '../../../src/platform/level-key-value-engine.ts'
import { LevelKeyValueStore, type LevelDatabase } from '../../../src/platform/level-key-value-store.ts'
import { NodeFileSystem } from '../../../src/platform/node-file-system.ts'

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)

/** A database that takes batches when it is told to. */
class HeldDatabase {
  readonly batches: { readonly keys: number[], readonly sync: boolean }[] = []
  private readonly held: { readonly resolve: () => void, readonly reject: (error: Error) => void }[] = []

  batch(operations: readonly { readonly key: Uint8Array }[], options: { readonly sync: boolean }): Promise<void> {
    this.batches.push({ keys: operations.map(each => each.key[0]!), sync: options.sync })
    return new Promise((resolve, reject) => this.held.push({ resolve, reject }))
  }

  async next(error?: Error): Promise<void> {
    const { resolve, reject } = this.held.shift()!
    if (error === undefined) resolve()
    else reject(error)
    // The store starts its next batch in the microtasks that follow.
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }
}

const storeOver = (database: HeldDatabase): LevelKeyValueStore =>
  new LevelKeyValueStore('/store', database as unknown as LevelDatabase, () => {})

describe('LevelKeyValueStore', () => {
  test('writes that wait for one on its way go together, and one sync covers them', async () => {
    const database = new HeldDatabase()
    const store = storeOver(database)
    const writes = [1, 2, 3].map(index => store.write([{ key: bytes(index), value: bytes() }], { sync: index === 2 }))
    expect(database.batches).toEqual([{ keys: [1], sync: false }])
    await database.next()
    // The first, not durable yet, goes along again with the sync.
    expect(database.batches[1]).toEqual({ keys: [1, 2, 3], sync: true })
    await database.next()
    await Promise.all(writes)
    const after = store.write([{ key: bytes(4), value: bytes() }], { sync: true })
    expect(database.batches[2]).toEqual({ keys: [4], sync: true })
    await database.next()
    await after
  })

  test('more than a mebibyte without a sync is synced', async () => {
    const database = new HeldDatabase()
    const store = storeOver(database)
    for (let index = 0; index < 4; index++) {
      const written = store.write([{ key: bytes(index), value: new Uint8Array(300_000) }], { sync: false })
      await database.next()
      await written
    }
    expect(database.batches.map(each => each.sync)).toEqual([false, false, false, true])
    expect(database.batches[3]!.keys).toEqual([0, 1, 2, 3])
  })

  test('a failed write ends the store: no later one is applied without it', async () => {
    const database = new HeldDatabase()
    const store = storeOver(database)
    const first = store.write([{ key: bytes(1), value: bytes() }], { sync: true })
    const second = store.write([{ key: bytes(2), value: bytes() }], { sync: true })
    const refused = Promise.all([first, second].map(each => expect(each).rejects.toMatchObject({ code: 'MR_FILE_FAILED' })))
    await database.next(new Error('bad disk'))
    await refused
    await expect(store.write([{ key: bytes(3), value: bytes() }], { sync: true })).rejects.toThrow(/bad disk/)
    expect(database.batches.length).toBe(1)
  })
})

describe('LevelKeyValueEngine', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'millrace-level-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  test('a refused second open does not let another process in', { timeout: 30_000 }, async () => {
    const engine = new LevelKeyValueEngine()
    const path = join(directory, 'store')
    const store = await engine.open(path)
    await expect(engine.open(path)).rejects.toMatchObject({ code: 'MR_LOG_DIRECTORY_LOCKED' })
    const script = fileURLToPath(new URL('fixtures/open-store.ts', import.meta.url))
    const other = async (): Promise<string> => (await promisify(execFile)(process.execPath, ['--import', 'tsx', script, path])).stdout
    expect(await other()).toBe('MR_LOG_DIRECTORY_LOCKED')
    await store.close()
    expect(await other()).toBe('opened')
  })

  test.each(['a', 'a/b', 'a/b/store', undefined])('the names on the way to a new store are durable, also those that a killed process has made up to %s', async (made) => {
    if (made !== undefined) mkdirSync(join(directory, made), { recursive: true })
    const sync = vi.spyOn(NodeFileSystem.prototype, 'syncDirectory')
    try {
      const path = join(directory, 'a/b/store')
      await (await new LevelKeyValueEngine().open(path)).close()
      const first = sync.mock.calls.map(([synced]) => synced)
      expect(first).toEqual(expect.arrayContaining(['a/b/store', 'a/b', 'a', ''].map((each) => join(directory, each).replace(/\/$/, ''))))
      sync.mockClear()
      await (await new LevelKeyValueEngine().open(path)).close()
      expect(sync.mock.calls).toEqual([[path]])
    } finally {
      sync.mockRestore()
    }
  })

  test.each(['CURRENT', 'LOCK', 'LOG', 'LOG.old', 'MANIFEST-000002', '000009.log', '000009.ldb', '000009.dbtmp'])(
    'a pipe or a directory in the place of %s is refused before LevelDB opens it, which would wait for ever', { timeout: 30_000 }, async (name) => {
      const engine = new LevelKeyValueEngine()
      for (const make of [(at: string) => execFileSync('mkfifo', [at]), (at: string) => mkdirSync(at)]) {
        const path = mkdtempSync(join(directory, 'store-'))
        await (await engine.open(path)).close()
        rmSync(join(path, name), { force: true })
        make(join(path, name))
        for (const create of [true, false]) {
          await expect(engine.open(path, { create })).rejects.toMatchObject({ code: 'MR_FILE_FAILED', message: expect.stringContaining(`${name} in it is no regular file; `) })
        }
        rmSync(join(path, name), { recursive: true })
      }
    })

  test('a store without CURRENT is refused and keeps its files; one that was never finished is made', async () => {
    const engine = new LevelKeyValueEngine()
    const path = join(directory, 'store')
    const store = await engine.open(path)
    await store.write([{ key: bytes(1), value: bytes(2) }], { sync: true })
    await store.close()
    rmSync(join(path, 'CURRENT'))
    const before = readdirSync(path)
    for (const create of [true, false]) await expect(engine.open(path, { create })).rejects.toMatchObject({ code: 'MR_FILE_FAILED', details: { path } })
    expect(readdirSync(path)).toEqual(before)
    const unfinished = join(directory, 'unfinished')
    mkdirSync(unfinished)
    for (const name of ['LOCK', 'LOG', 'MANIFEST-000001']) writeFileSync(join(unfinished, name), '')
    await (await engine.open(unfinished)).close()
  })

  test('a directory that is no store, and one that cannot be made, are refused with the reason', async () => {
    writeFileSync(join(directory, 'CURRENT'), 'rubbish')
    await expect(new LevelKeyValueEngine().open(directory)).rejects.toMatchObject({ code: 'MR_FILE_FAILED' })
    writeFileSync(join(directory, 'CURRENT'), 'MANIFEST-000099\n')
    const error = await new LevelKeyValueEngine().open(directory).catch((reason: unknown) => reason) as Error
    expect([error.message, error.message.split(directory).length]).toEqual([expect.stringContaining('MANIFEST-000099'), 2])
    writeFileSync(join(directory, 'file'), '')
    await expect(new LevelKeyValueEngine().open(join(directory, 'file'))).rejects.toMatchObject({ code: 'MR_FILE_EXISTS' })
  })
})
