import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { isMillraceError, MillraceError } from '../kernel/errors/index.ts'
import { type KeyValueEngine, type KeyValueStore } from '../kernel/ports/key-value-store.ts'
import { errnoOf, fileError } from './file-error.ts'
import { batchPairs, filesInUse, logRecords, readTable, type LevelPair } from './level-files.ts'
import { LevelKeyValueStore, type LevelDatabase } from './level-key-value-store.ts'
import { snappyUncompress } from './level-snappy.ts'
import { NodeFileSystem } from './node-file-system.ts'

/**
 * Stores open in this process, by their real path. LevelDB's lock is the process's: when a second open of a directory fails it closes its
 * descriptor of the lock file, and with that the system drops the lock of the first. So a second open must never reach LevelDB.
 */
const openHere = new Set<string>()
const files = new NodeFileSystem()

/** Key-value stores in LevelDB, a directory each. */
export class LevelKeyValueEngine implements KeyValueEngine {
  readonly takesSpace = true

  async open(path: string, { create = true }: { readonly create?: boolean } = {}): Promise<KeyValueStore> {
    const place = create ? realPathOf(path) : placeOf(path)
    if (openHere.has(place)) throw new MillraceError('MR_LOG_DIRECTORY_LOCKED', { path })
    const found = whatIsIn(place)
    if (found === 'nothing' && !create) throw new MillraceError('MR_FILE_NOT_FOUND', { operation: 'open', path })
    checkKinds(place, path)
    if (found === 'parts') throw new MillraceError('MR_FILE_FAILED', { operation: 'open', path, reason: 'it has files of a LevelDB and no CURRENT, which names the ones that count' })
    openHere.add(place)
    try {
      if (found === 'store') checkFiles(place, path)
      else syncNamesOf(place)
      const database: LevelDatabase = new ClassicLevel(place, { keyEncoding: 'view', valueEncoding: 'view' })
      await database.open()
      // LevelDB renames CURRENT into place and leaves it at that.
      files.syncDirectory(place)
      return new LevelKeyValueStore(path, database, () => openHere.delete(place))
    } catch (error) {
      openHere.delete(place)
      throw openError(error, path, place)
    }
  }
}

/**
 * Makes what can still be read of a closed store a store again, in place: the intact records of its logs and blocks of its tables, whether or not they are in
 * use, the newest word on a key counting. What cannot be read is gone afterwards, so it is for copies. LevelDB's own repair checks no checksums. Rejects
 * with MR_FILE_FAILED.
 */
export async function repairLevel(path: string): Promise<void> {
  const place = placeOf(path)
  if (openHere.has(place)) throw new MillraceError('MR_LOG_DIRECTORY_LOCKED', { path })
  try {
    const newest = new Map<string, LevelPair>()
    for (const pair of intactPairs(place)) {
      const name = Buffer.from(pair.key).toString('hex')
      if (pair.sequence >= (newest.get(name)?.sequence ?? 0)) newest.set(name, pair)
    }
    for (const name of readdirSync(place)) rmSync(join(place, name), { recursive: true })
    const database: LevelDatabase = new ClassicLevel(place, { keyEncoding: 'view', valueEncoding: 'view' })
    await database.open()
    for (const { key, value } of newest.values()) if (value !== undefined) await database.put(key, value)
    await database.close()
  } catch (error) {
    throw openError(error, path, place)
  }
}

function intactPairs(place: string): LevelPair[] {
  const pairs: LevelPair[] = []
  for (const name of readdirSync(place).sort()) {
    if (/^\d+\.(ldb|sst)$/.test(name)) for (const pair of readTable(readFileSync(join(place, name)), snappyUncompress).pairs) pairs.push(pair)
    if (!/^\d+\.log$/.test(name)) continue
    for (const record of logRecords(readFileSync(join(place, name)))) for (const pair of batchPairs(record) ?? []) pairs.push(pair)
  }
  return pairs
}

/**
 * LevelDB takes a damaged table as it is: it hands out wrong bytes, and on some ends the process. A log that is missing it takes for an empty one, and then removes the
 * tables that its MANIFEST does not name, which may be all that is left of what the log held: so may a power cut leave it that comes while it opens a store, on a disk
 * where the name of the new CURRENT is lost and that of the old log is gone. So both are looked at before it is opened. What else is wrong with the files LevelDB says itself.
 */
function checkFiles(place: string, path: string): void {
  const current = readFileSync(join(place, 'CURRENT'), 'latin1').trim()
  if (!/^MANIFEST-\d+$/.test(current) || !existsSync(join(place, current))) return
  const inUse = filesInUse(readFileSync(join(place, current)))
  const fault = (reason: string): MillraceError => new MillraceError('MR_FILE_FAILED', { operation: 'open', path, reason })
  if (inUse === undefined) return
  const log = `${stemOf(inUse.log)}.log`
  if (inUse.log > 0 && !existsSync(join(place, log))) throw fault(`its log ${log} is missing, and ${current} says that it is in use`)
  for (const number of inUse.tables) {
    const stem = stemOf(number)
    const name = [`${stem}.ldb`, `${stem}.sst`].find((each) => existsSync(join(place, each)))
    const found = name === undefined ? undefined : readTable(readFileSync(join(place, name)), snappyUncompress).fault
    if (found !== undefined) throw fault(`table ${name}: ${found}`)
  }
}

const stemOf = (number: number): string => String(number).padStart(6, '0')

/** Makes the directory if there is none. */
function realPathOf(path: string): string {
  try {
    mkdirSync(path, { recursive: true })
    return realpathSync(path)
  } catch (error) {
    throw fileError(error, 'open', path)
  }
}

/**
 * LevelDB syncs what is in the directory, not its name; without that a power cut takes the whole store. Whoever made it, or a directory on the way to it, may have
 * been killed before it had synced the name: so all of them are synced as long as the store is new, but for what this process could not have made anything in, and what lies
 * outside of the file system: nobody made a directory across a mount point, and what is mounted above need not be able to sync one.
 */
function syncNamesOf(place: string): void {
  for (let path = place; dirname(path) !== path; path = dirname(path)) {
    const parent = dirname(path)
    if (!mayChange(parent) || statSync(parent).dev !== statSync(path).dev) return
    files.syncDirectory(parent)
  }
}

function mayChange(directory: string): boolean {
  try {
    accessSync(directory, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

function placeOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    throw fileError(error, 'open', path)
  }
}

/** Made before CURRENT, so that a crash while a store is made may leave them alone. */
const madeFirst = 'MANIFEST-000001'

/** LevelDB takes a directory without CURRENT for a new one, and removes the files in it. */
function whatIsIn(place: string): 'store' | 'parts' | 'nothing' {
  let names: readonly string[]
  try {
    names = readdirSync(place)
  } catch (error) {
    throw fileError(error, 'open', place)
  }
  if (names.includes('CURRENT')) return 'store'
  return names.some((name) => name !== madeFirst && /^(MANIFEST-\d+|\d+\.(log|ldb|sst))$/.test(name)) ? 'parts' : 'nothing'
}

const levelNames = /^(CURRENT|LOCK|LOG|LOG\.old|MANIFEST-\d+|\d+\.(log|ldb|sst|dbtmp))$/

/** LevelDB opens what has the name of a file of its own. A pipe that nobody writes to would hold up its thread, and with that the end of the process, for ever. */
function checkKinds(place: string, path: string): void {
  for (const name of readdirSync(place)) {
    if (!levelNames.test(name)) continue
    let isFile: boolean | undefined
    try {
      isFile = statSync(join(place, name), { throwIfNoEntry: false })?.isFile()
    } catch (error) {
      throw fileError(error, 'open', join(path, name))
    }
    if (isFile === false) throw new MillraceError('MR_FILE_FAILED', { operation: 'open', path, reason: `${name} in it is no regular file; put the file back that was there, or remove what is in its place` })
  }
}

/** LevelDB gives the system's words alone. */
const noSpace = /no space left on device/i

/** LevelDB hides its reason in the cause, and names its files by their whole paths. */
function openError(error: unknown, path: string, place: string): MillraceError {
  if (isMillraceError(error)) return error
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (errnoOf(cause) === 'LEVEL_LOCKED') return new MillraceError('MR_LOG_DIRECTORY_LOCKED', { path }, error)
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (noSpace.test(reason)) return new MillraceError('MR_FILE_NO_SPACE', { operation: 'open', path, reason }, error)
  return new MillraceError('MR_FILE_FAILED', { operation: 'open', path, reason: reason.replaceAll(`${place}/`, '') }, error)
}
