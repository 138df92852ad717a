import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LevelKeyValueEngine, repairLevel } from '../../src/platform/level-key-value-engine.ts'
import { NodeFileSystem } from '../../src/platform/node-file-system.ts'
import { readDamagedStore } from '../../src/plugins/coordination-single/index.ts'
import { makeTemplate, startOn, type Template } from './metadata-images.ts'

export interface OpenImagesResult {
  readonly images: number
  readonly refused: number
  /** Served with all that was acknowledged. */
  readonly whole: number
  /** Names that an open makes, and takes away. */
  readonly made: readonly string[]
  readonly gone: readonly string[]
  readonly faults: readonly string[]
}

const files = new NodeFileSystem()
const counts = (name: string): boolean => !/^LO(G|G\.old|CK)$/.test(name)

function* subsetsOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let bits = 0; bits < 2 ** all.length; bits++) yield all.filter((_, index) => (bits >> index) & 1)
}

/**
 * What a power cut may leave of a store that a real LevelDB is opening: it makes files, renames CURRENT to name them and removes the old ones, and syncs none of these names
 * after the first. Each of the names is there or not, in any mixture, CURRENT is the old one, the new one or missing. A start on each has all that was acknowledged, or is refused
 * with the remedy; and the remedy has all of it, also after that start.
 */
export async function openImages(): Promise<OpenImagesResult> {
  const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'millrace-open-'))
  try {
    const template = await makeTemplate(join(base, 'store'), 2, 10)
    const opened = join(base, 'opened')
    const after = join(base, 'after')
    cpSync(join(template.directory, 'log'), opened, { recursive: true })
    const store = await new LevelKeyValueEngine().open(opened)
    cpSync(opened, after, { recursive: true })
    await store.close()
    return await tryAll(base, template, after)
  } finally {
    rmSync(base, { recursive: true })
  }
}

async function tryAll(base: string, template: Template, after: string): Promise<OpenImagesResult> {
  const before = join(template.directory, 'log')
  const namesIn = (directory: string): string[] => readdirSync(directory).filter(counts)
  const gone = namesIn(before).filter((name) => !namesIn(after).includes(name))
  const made = namesIn(after).filter((name) => !namesIn(before).includes(name))
  const faults: string[] = []
  let [images, refused, whole] = [0, 0, 0]
  const image = join(base, 'image')
  for (const current of ['old', 'new', 'missing'] as const) {
    for (const left of subsetsOf(gone)) {
      for (const there of subsetsOf(made)) {
        // Without CURRENT nothing else is looked at.
        if (current === 'missing' && there.length < made.length) continue
        images++
        mkdirSync(join(image, 'log'), { recursive: true })
        cpSync(join(template.directory, 'witness.dat'), join(image, 'witness.dat'))
        for (const name of namesIn(before)) if (name !== 'CURRENT' && (!gone.includes(name) || left.includes(name))) cpSync(join(before, name), join(image, 'log', name))
        for (const name of there) cpSync(join(after, name), join(image, 'log', name))
        if (current !== 'missing') cpSync(join(current === 'old' ? before : after, 'CURRENT'), join(image, 'log', 'CURRENT'))
        const what = `CURRENT ${current}, of the old ${left.join() || 'nothing'}, of the new ${there.join() || 'nothing'}`
        const outcome = await startOn(image, template)
        if (outcome === 'refused') refused++
        else if (outcome === 'whole') whole++
        else faults.push(`${what}: ${outcome}`)
        // What was acknowledged is in the old log, or in the table that was made of it.
        const isThere = left.some((name) => name.endsWith('.log')) || there.some((name) => name.endsWith('.ldb'))
        if (outcome === 'refused' && isThere) faults.push(...await lostBySalvage(image, join(base, 'scratch'), template, what))
        rmSync(image, { recursive: true })
      }
    }
  }
  return { images, refused, whole, made, gone, faults }
}

async function lostBySalvage(directory: string, scratch: string, { commands }: Template, what: string): Promise<string[]> {
  const left = await readDamagedStore({ engine: new LevelKeyValueEngine(), files, repair: repairLevel }, directory, scratch)
  return left.last.index === commands.length ? [] : [`${what}: after the start that was refused a recovery has ${left.last.index} commands of ${commands.length}`]
}
