import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import snappy from 'snappy'
import { Prng } from '../../../src/base/prng.ts'
import { batchPairs, filesInUse, logRecords, readTable } from '../../../src/platform/level-files.ts'
import { LevelKeyValueEngine, repairLevel } from '../../../src/platform/level-key-value-engine.ts'
import { snappyUncompress } from '../../../src/platform/level-snappy.ts'

const base = mkdtempSync(join(tmpdir(), 'millrace-level-files-'))
const everything = { from: new Uint8Array(0), to: new Uint8Array(20).fill(255) }
let stores = 0
afterAll(() => rmSync(base, { recursive: true }))

/** A store of several lives, so that it has tables, with removals and words that were said anew; closed. */
async function written(lives: number): Promise<{ readonly path: string, readonly content: ReadonlyMap<string, string> }> {
  const path = join(base, `store-${++stores}`)
  const prng = new Prng(stores)
  const content = new Map<string, string>()
  for (let life = 0; life < lives; life++) {
    const store = await new LevelKeyValueEngine().open(path)
    for (let index = 0; index < 60; index++) {
      const key = prng.bytes(1 + prng.below(3))
      const value = prng.chance(0.2) ? undefined : prng.chance(0.5) ? prng.bytes(prng.below(300)) : new Uint8Array(prng.below(900)).fill(life)
      await store.write([{ key, value }], { sync: index % 20 === 19 })
      if (value === undefined) content.delete(hex(key))
      else content.set(hex(key), hex(value))
    }
    if (life === lives - 1) await store.write([{ key: Uint8Array.of(255, 1), value: new Uint8Array(100_000).fill(7) }], { sync: true })
    await store.close()
  }
  content.set('ff01', '07'.repeat(100_000))
  return { path, content }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const named = (path: string, pattern: RegExp): string[] => readdirSync(path).filter((name) => pattern.test(name)).map((name) => join(path, name))

async function contentOf(path: string): Promise<Map<string, string>> {
  const store = await new LevelKeyValueEngine().open(path, { create: false })
  const found = new Map((await store.range(everything)).map(([key, value]) => [hex(key), hex(value)]))
  await store.close()
  return found
}

describe('the files of a LevelDB', () => {
  test('read without it hold what it holds: tables and logs, the newest word counting', async () => {
    const { path, content } = await written(4)
    const newest = new Map<string, { readonly value: Uint8Array | undefined, readonly sequence: number }>()
    const tables = named(path, /\.ldb$/)
    const pairs = [
      ...tables.flatMap((table) => readTable(readFileSync(table), snappyUncompress).pairs),
      ...named(path, /^\d+\.log$/).flatMap((log) => [...logRecords(readFileSync(log))].flatMap((record) => batchPairs(record) ?? [])),
    ]
    for (const pair of pairs) if (pair.sequence >= (newest.get(hex(pair.key))?.sequence ?? 0)) newest.set(hex(pair.key), pair)
    const found = new Map([...newest].filter(([, { value }]) => value !== undefined).map(([key, { value }]) => [key, hex(value!)]))
    expect([...found].sort()).toEqual([...content].sort())
    const manifest = named(path, /^MANIFEST-/)[0]!
    const inUse = filesInUse(readFileSync(manifest))!
    expect(named(path, /\.log$/)).toEqual([join(path, `${String(inUse.log).padStart(6, '0')}.log`)])
    expect([...inUse.tables].map((number) => join(path, `${String(number).padStart(6, '0')}.ldb`)).sort()).toEqual(tables.sort())
    expect(tables.length).toBeGreaterThan(1)
  })

  test('a table with any bit of a block changed says so, and gives none but right pairs', async () => {
    const { path } = await written(2)
    const table = readFileSync(named(path, /\.ldb$/)[0]!)
    const { pairs, fault } = readTable(table, snappyUncompress)
    expect(fault).toBeUndefined()
    const right = new Set(pairs.map((pair) => `${hex(pair.key)} ${pair.sequence} ${pair.value === undefined ? '' : hex(pair.value)}`))
    // Behind the blocks lies the footer, part of which is unused.
    for (let position = 0; position < table.length - 48; position += 11) {
      const changed = Uint8Array.from(table)
      changed[position]! ^= 1 << (position % 8)
      const read = readTable(changed, snappyUncompress)
      expect(read.fault, `byte ${position}`).toBeDefined()
      expect(read.pairs.every((pair) => right.has(`${hex(pair.key)} ${pair.sequence} ${pair.value === undefined ? '' : hex(pair.value)}`))).toBe(true)
    }
  })

  test('with a damaged table in use are refused before LevelDB has them, by the name of the table', async () => {
    const { path } = await written(2)
    const table = named(path, /\.ldb$/)[0]!
    const bytes = readFileSync(table)
    bytes[10]! ^= 4
    writeFileSync(table, bytes)
    await expect(new LevelKeyValueEngine().open(path)).rejects.toMatchObject({ code: 'MR_FILE_FAILED', details: { reason: expect.stringMatching(/^table \d{6}\.ldb: its block at 0 fails/) } })
  })

  test('become a store again without CURRENT and MANIFEST, as far as they are intact', async () => {
    const { path, content } = await written(3)
    for (const name of named(path, /^(CURRENT|MANIFEST-.*)$/)) rmSync(name)
    await repairLevel(path)
    expect([...await contentOf(path)].sort()).toEqual([...content].sort())
  })

  test('that are no files of a LevelDB give nothing', () => {
    const prng = new Prng(5)
    for (let round = 0; round < 300; round++) {
      const bytes = prng.bytes(prng.below(400))
      expect([...logRecords(bytes)]).toEqual([])
      expect(readTable(bytes, snappyUncompress)).toMatchObject({ pairs: [], fault: expect.any(String) })
      batchPairs(bytes)
    }
  })
})

test('a block of Snappy is what the Snappy library makes of it, and a damaged one is refused or bounded', () => {
  const prng = new Prng(9)
  for (let round = 0; round < 200; round++) {
    const piece = prng.bytes(1 + prng.below(40))
    const bytes = Buffer.concat(Array.from({ length: prng.below(300) }, () => prng.chance(0.3) ? prng.bytes(prng.below(90)) : piece))
    const block = Uint8Array.from(snappy.compressSync(bytes))
    expect(Buffer.from(snappyUncompress(block)).equals(bytes)).toBe(true)
    if (block.length > 3) expect(() => snappyUncompress(block.subarray(0, block.length - 1))).toThrow(RangeError)
  }
})
