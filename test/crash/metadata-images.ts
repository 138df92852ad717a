import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32c } from '../../src/base/crc32c.ts'
import { Prng } from '../../src/base/prng.ts'
import { decodeHardState, hardStateKey } from '../../src/kernel/consensus-log/store-layout.ts'
import { encodeWitness, witnessSlotBytes } from '../../src/kernel/consensus-log/witness.ts'
import { isMillraceError } from '../../src/kernel/errors/index.ts'
import { LevelKeyValueEngine, repairLevel } from '../../src/platform/level-key-value-engine.ts'
import { NodeFileSystem } from '../../src/platform/node-file-system.ts'
import { readDamagedStore } from '../../src/plugins/coordination-single/index.ts'
import { SingleVoter } from '../../src/plugins/coordination-single/single-voter.ts'
import { NotedMachine } from '../../src/testkit/conformance/consensus.ts'
import { clusterId, voterWorld } from '../unit/plugins/coordination-single/voter-world.ts'

export interface MetadataImagesOptions {
  readonly images: number
  readonly seed: number
  /** The witness is made to agree with whatever the store says, as if there were none: what it alone finds passes then. */
  readonly isBlind?: boolean
  readonly progress?: (images: number) => void
}

export interface MetadataImagesResult {
  readonly images: number
  /** By kind of damage: how many were refused, and how many had everything all the same. */
  readonly kinds: Readonly<Record<string, { refused: number, whole: number }>>
  /** Refused ones of which a recovery's reading was checked too. */
  readonly salvaged: number
  readonly faults: readonly string[]
}

/** A store as a kill left it, and all that was acknowledged in it. */
export interface Template {
  readonly directory: string
  readonly commands: readonly string[]
  readonly term: number
}

interface Damage {
  readonly kind: string
  readonly what: string
  /** Works on the files of a copy. */
  readonly apply: (directory: string) => void
}

const files = new NodeFileSystem()
/** Of refused images, one in so many is read as a recovery does. */
const salvageEvery = 8
const digest = (bytes: Uint8Array): string => `${bytes.length} ${crc32c(bytes)}`

/**
 * Damages stores that real LevelDBs have written, one image after another, and starts a voter on each: bits, blocks, ends and whole files of the write-ahead log, of
 * MANIFEST, CURRENT, tables and witness. The voter must refuse it, or have every command that was acknowledged and a higher term.
 */
export async function metadataImages({ images, seed, isBlind = false, progress }: MetadataImagesOptions): Promise<MetadataImagesResult> {
  // Syncs of thousands of databases would only wear a disk: what is damaged here was synced.
  const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'millrace-images-'))
  const kinds: Record<string, { refused: number, whole: number }> = {}
  const faults: string[] = []
  let done = 0
  let salvaged = 0
  try {
    const templates = [await makeTemplate(join(base, 'one-life'), 1, 12), await makeTemplate(join(base, 'lives'), 3, 9), await makeTemplate(join(base, 'many-lives'), 6, 14)]
    for (const { template, damage } of damages(templates, images, new Prng(seed))) {
      const directory = join(base, 'image')
      cpSync(template.directory, directory, { recursive: true })
      damage.apply(directory)
      if (isBlind) await agree(directory)
      const before = join(base, 'before')
      const checksSalvage = done % salvageEvery === 0 && !isBlind
      if (checksSalvage) cpSync(directory, before, { recursive: true })
      const outcome = await startOn(directory, template)
      const counts = kinds[damage.kind] ??= { refused: 0, whole: 0 }
      if (outcome === 'refused' || outcome === 'whole') counts[outcome]++
      else faults.push(`${damage.what}: ${outcome}`)
      if (checksSalvage && outcome === 'refused') {
        salvaged++
        const fault = await faultOfSalvage(before, join(base, 'scratch'), template)
        if (fault !== undefined) faults.push(`${damage.what}, recovered: ${fault}`)
      }
      for (const each of [directory, before]) rmSync(each, { recursive: true, force: true })
      if (++done % 500 === 0) progress?.(done)
    }
  } finally {
    rmSync(base, { recursive: true })
  }
  return { images: done, kinds, salvaged, faults }
}

const voterOn = (path: string): SingleVoter => new SingleVoter({ nodeId: 1, clusterId, path, snapshotEntries: 7, snapshotBytes: 1 << 20, reserveBytes: 0 },
  voterWorld(new LevelKeyValueEngine(), { fatal: () => {} }, files))

/** So many lives of a voter, the last of which is ended as a kill ends it: LevelDB's log is as it was when the last command was acknowledged. */
export async function makeTemplate(directory: string, lives: number, appends: number): Promise<Template> {
  const working = `${directory}.working`
  mkdirSync(directory)
  mkdirSync(working)
  let machine = new NotedMachine()
  for (let life = 0; life < lives; life++) {
    const voter = voterOn(working)
    machine = new NotedMachine()
    await voter.start()
    await voter.open(machine)
    for (let index = 0; index < appends; index++) await voter.append([new TextEncoder().encode(`command ${life} ${index} `.repeat(1 + (index * 7) % 23))])
    if (life === lives - 1) cpSync(working, directory, { recursive: true })
    await voter.stop()
  }
  rmSync(working, { recursive: true })
  return { directory, commands: machine.commands.map(digest), term: machine.ledTerm }
}

/** `refused` where the error says what to do, `whole`, or what is wrong. */
export async function startOn(directory: string, template: Template): Promise<string> {
  const voter = voterOn(directory)
  const machine = new NotedMachine()
  try {
    await voter.start()
    await voter.open(machine)
  } catch (error) {
    if (isMillraceError(error) && /^MR_CLUSTER_METADATA_(CORRUPT|UNREADABLE|NEWER)$/.test(error.code)) return 'refused'
    return `it ended with ${String(error)}`
  } finally {
    await voter.stop()
  }
  if (machine.ledTerm <= template.term) return `term ${machine.ledTerm} is led again, after ${template.term}`
  const found = machine.commands.map(digest)
  if (found.length !== template.commands.length) return `${found.length} commands of ${template.commands.length} acknowledged`
  const wrong = found.findIndex((each, index) => each !== template.commands[index])
  return wrong < 0 ? 'whole' : `command ${wrong + 1} is another`
}

/** What a recovery reads must be the beginning of what was acknowledged, and all of it where it says so. */
async function faultOfSalvage(directory: string, scratch: string, { commands }: Template): Promise<string | undefined> {
  const left = await readDamagedStore({ engine: new LevelKeyValueEngine(), files, repair: repairLevel }, directory, scratch)
  const machine = new NotedMachine()
  machine.restore(left.snapshotIndex, left.snapshot)
  let index = left.snapshotIndex
  for (const command of left.commands) machine.apply(++index, 1, command)
  const found = machine.commands.map(digest)
  const wrong = found.findIndex((each, at) => each !== commands[at])
  if (wrong >= 0) return `command ${wrong + 1} is another`
  if (left.isWhole && found.length !== commands.length) return `it calls ${found.length} commands of ${commands.length} all`
  return left.unknownEnd === undefined && found.length + (left.knownIndex - left.last.index) < commands.length ? `${commands.length - found.length} commands are lost, and it says ${left.knownIndex - left.last.index}` : undefined
}

/** Makes the witness say what the store says. */
async function agree(directory: string): Promise<void> {
  try {
    const store = await new LevelKeyValueEngine().open(join(directory, 'log'), { create: false })
    const stored = await store.get(hardStateKey)
    await store.close()
    const state = stored === undefined ? '' : decodeHardState(stored)
    if (typeof state !== 'string') writeFileSync(join(directory, 'witness.dat'), encodeWitness(state))
  } catch (error) {
    if (!isMillraceError(error)) throw error
  }
}

/** The fixed ones first (every end of the log, every file), then bits and blocks by chance until there are enough. */
function* damages(templates: readonly Template[], count: number, prng: Prng): Generator<{ readonly template: Template, readonly damage: Damage }> {
  let made = 0
  for (const template of templates) {
    for (const damage of fixedDamages(template.directory)) {
      if (made++ >= count) return
      yield { template, damage }
    }
  }
  const places = templates.flatMap((template) => filesOf(template.directory).map((name) => ({ template, name })))
  for (; made < count; made++) {
    const { template, name } = places[made % places.length]!
    yield { template, damage: damageByChance(template.directory, name, prng) }
  }
}

const kindOf = (name: string): string => /\.(log|ldb)$/.exec(name)?.[1] ?? (name === 'witness.dat' ? 'witness' : name.split('/').at(-1)!.split('-')[0]!)

/** Those that count, by their paths within a directory; LevelDB's LOG and LOCK say nothing. */
function filesOf(directory: string): string[] {
  const logs = readdirSync(join(directory, 'log')).filter((name) => name !== 'LOG' && name !== 'LOCK' && name !== 'LOG.old').map((name) => `log/${name}`)
  return [...logs.filter((name) => readFileSync(join(directory, name)).length > 0), 'witness.dat']
}

function fixedDamages(directory: string): Damage[] {
  const found: Damage[] = []
  for (const name of filesOf(directory)) {
    const add = (kind: string, change: (path: string, bytes: Buffer) => void): void => {
      found.push({ kind: `${kindOf(name)} ${kind.split(' ')[0]}`, what: `${name} ${kind}`, apply: (copy) => { change(join(copy, name), readFileSync(join(copy, name))) } })
    }
    add('removed', (path) => { rmSync(path) })
    add('cut to nothing', (path) => { writeFileSync(path, '') })
    if (!name.endsWith('.log')) continue
    for (const end of recordEnds(readFileSync(join(directory, name)))) {
      for (const at of [end, end - 1, end - 8].filter((each) => each >= 0)) add(`cut at ${at}${at === end ? ', the end of a record' : ''}`, (path, bytes) => { writeFileSync(path, bytes.subarray(0, at)) })
      // The end is lost, and the witness lost its newest slot as well.
      found.push({
        kind: 'log and witness', what: `${name} cut at ${end} with either slot of the witness zeroed`,
        apply: (copy) => {
          writeFileSync(join(copy, name), readFileSync(join(copy, name)).subarray(0, end))
          const witness = readFileSync(join(copy, 'witness.dat'))
          witness.fill(0, end % 2 * witnessSlotBytes, (end % 2 + 1) * witnessSlotBytes)
          writeFileSync(join(copy, 'witness.dat'), witness)
        },
      })
    }
  }
  return found
}

/** Ends of the records of a LevelDB log: blocks of 32 KiB, records of a header (CRC 4, length 2, type 1) and that many bytes. */
function recordEnds(log: Uint8Array): number[] {
  const ends: number[] = []
  let at = 0
  while (at + 7 <= log.length) {
    const left = 32_768 - at % 32_768
    if (left < 7) {
      at += left
      continue
    }
    const length = log[at + 4]! | (log[at + 5]! << 8)
    if (log[at + 6] === 0) break
    at += 7 + length
    ends.push(at)
  }
  // Whole as it is, the last end is no damage.
  return [0, ...ends.slice(0, -1)]
}

function damageByChance(directory: string, name: string, prng: Prng): Damage {
  const size = readFileSync(join(directory, name)).length
  const position = prng.below(size)
  const way = prng.below(10)
  if (way === 0) {
    return { kind: `${kindOf(name)} cut`, what: `${name} cut at ${position}`, apply: change(name, (bytes) => bytes.subarray(0, position)) }
  }
  if (way === 1) {
    const start = position - position % 512
    return { kind: `${kindOf(name)} block`, what: `${name} zeroed from ${start} on, 512 bytes`, apply: change(name, (bytes) => bytes.fill(0, start, Math.min(bytes.length, start + 512))) }
  }
  const bit = prng.below(8)
  return {
    kind: `${kindOf(name)} bit`, what: `${name} bit ${bit} of byte ${position}`,
    apply: change(name, (bytes) => {
      bytes[position]! ^= 1 << bit
      return bytes
    }),
  }
}

const change = (name: string, to: (bytes: Buffer) => Buffer) => (copy: string): void => {
  writeFileSync(join(copy, name), to(readFileSync(join(copy, name))))
}
