import { allKeys } from '../../../kernel/consensus-log/store-layout.ts'
import { isMillraceError } from '../../../kernel/errors/index.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { type KeyValueEngine, type KeyValueStore } from '../../../kernel/ports/key-value-store.ts'
import { hexOf, salvage, type RawStore, type Salvage } from '../core/salvage.ts'
import { WitnessFile } from '../io/witness-file.ts'

const pageKeys = 500
const copyBytes = 1 << 20

export interface SalvageWorld {
  readonly engine: KeyValueEngine
  readonly files: FileSystem
  /** Makes what can be read of a store at a path readable again, in place. Undefined: the engine needs none. */
  readonly repair?: ((path: string) => Promise<void>) | undefined
}

/**
 * What is left of the store in `path`, which is not changed: copies of it are opened, as it is and repaired, and the better one counts.
 * `scratch` is a directory of the caller's that is removed at the end.
 */
export async function readDamagedStore(world: SalvageWorld, path: string, scratch: string): Promise<Salvage> {
  const { files } = world
  files.remove(scratch)
  files.makeDirectory(scratch)
  const witness = { file: files.stat(path)?.kind === 'directory' ? new WitnessFile(files, path).read() : undefined, first: (await readings(world, `${path}/witness`, scratch)).at(-1) }
  const logs = await readings(world, `${path}/log`, scratch)
  const all = [...logs, new Map<string, Uint8Array>()].map((raw) => salvage(raw, witness))
  files.remove(scratch)
  // The first of equals: as it is, before repaired.
  const best = all.reduce((longest, each) => (each.last.index > longest.last.index ? each : longest))
  const knownIndex = Math.max(...all.map((each) => each.knownIndex))
  return { ...best, knownIndex, knownTerm: Math.max(...all.map((each) => each.knownTerm)), isWhole: best.isWhole && knownIndex === best.last.index }
}

/** What can be read of a store as it is, and after a repair; none where it is not there or cannot be read either way. */
async function readings(world: SalvageWorld, from: string, scratch: string): Promise<RawStore[]> {
  const { files, engine, repair } = world
  if (files.stat(from)?.kind !== 'directory') return []
  const found: RawStore[] = []
  for (const repaired of [false, true]) {
    if (repaired && repair === undefined) continue
    const copy = `${scratch}/${repaired ? 'repaired' : 'copy'}`
    files.remove(copy)
    copyFiles(files, from, copy)
    try {
      if (repaired) await repair!(copy)
      const store = await engine.open(copy, { create: false })
      try {
        found.push(await readAll(store))
      } finally {
        await store.close()
      }
    } catch (error) {
      if (!isMillraceError(error)) throw error
    }
    files.remove(copy)
  }
  return found
}

async function readAll(store: KeyValueStore): Promise<RawStore> {
  const raw = new Map<string, Uint8Array>()
  let from = allKeys.from
  for (;;) {
    const page = await store.range({ from, to: allKeys.to, limit: pageKeys })
    for (const [key, value] of page) raw.set(hexOf(key), value)
    if (page.length < pageKeys) return raw
    from = Uint8Array.from([...page[page.length - 1]![0], 0])
  }
}

/** The files of a directory, not those of directories in it. */
function copyFiles(files: FileSystem, from: string, to: string): void {
  files.makeDirectory(to)
  const buffer = new Uint8Array(copyBytes)
  for (const name of files.list(from)) {
    if (files.stat(`${from}/${name}`)?.kind !== 'file') continue
    const source = files.open(`${from}/${name}`, 'read')
    const target = files.open(`${to}/${name}`, 'ensure')
    try {
      for (let position = 0; ;) {
        const bytes = source.read(buffer, 0, buffer.length, position)
        if (bytes === 0) break
        target.write([buffer.subarray(0, bytes)], position)
        position += bytes
      }
    } finally {
      source.close()
      target.close()
    }
  }
}
