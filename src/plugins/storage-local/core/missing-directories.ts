import { MillraceError } from '../../../kernel/errors/index.ts'
import { type Uuid } from '../../../kernel/model/ids.ts'
import { type DirectoryList, type ListedDirectory } from './directory-list.ts'
import { type MetaProperties } from './meta-properties.ts'

/** What a data directory says of itself, before anything in it is touched. */
export interface FoundDirectory {
  readonly path: string
  /** As it says itself; undefined: it was never in use, or has lost both files. */
  readonly id: Uuid | undefined
  readonly listPath: string
  readonly hasMeta: boolean
  /** Undefined when there is none, or none of a known version. */
  readonly meta: MetaProperties | undefined
  /** Undefined when there is none, or `isListDamaged`. */
  readonly list: DirectoryList | undefined
  readonly listText: string | undefined
  readonly isListDamaged: boolean
  /** Neither file is there: no log was ever made here, or by a release that wrote no list and lost the other. */
  readonly isBlank: boolean
}

/** Every data directory that the lists name. */
export function listedDirectories(found: readonly FoundDirectory[]): Map<Uuid, ListedDirectory> {
  return new Map(found.flatMap(({ list }) => list?.all ?? []).map(each => [each.id, each]))
}

/**
 * Throws MR_LOG_DIRECTORY_MISSING for a data directory that a list names and that is not there: what was in it would begin anew, empty. One whose
 * disk fails may be any of these, so each of the `unreadable` paths excuses one. `lost` were given up.
 */
export function checkNoneMissing(found: readonly FoundDirectory[], unreadable: readonly string[], lost: ReadonlySet<Uuid>): void {
  const damaged = found.find(({ isListDamaged }) => isListDamaged)
  if (damaged !== undefined && found.every(({ list }) => list === undefined)) throw new MillraceError('MR_LOG_DIRECTORY_LIST_CORRUPT', { path: damaged.listPath })
  const here = new Set(found.flatMap(({ id, list }) => [id, list?.self]))
  const absent = [...listedDirectories(found).values()].filter(({ id }) => !here.has(id) && !lost.has(id))
  const excused = new Set(unreadable)
  const missing = absent.filter(({ path }) => !excused.delete(path))
  if (missing.length <= excused.size) return
  const lists = found.filter(({ list }) => list?.all.some(({ id }) => missing.some(each => each.id === id))).map(({ listPath }) => listPath)
  throw new MillraceError('MR_LOG_DIRECTORY_MISSING', {
    missing: missing.map(each => describe(each, found)).join(' and '), lists: lists.join(' and '), ids: missing.map(({ id }) => id).join(', '),
  })
}

function describe({ id, path }: ListedDirectory, found: readonly FoundDirectory[]): string {
  const there = found.find(each => each.path === path)
  if (there === undefined) return `${id}, last at ${path}`
  return `${id}, last at ${path}, where there is ${there.id === undefined ? 'none now, or an empty one without an id' : `another one now, ${there.id}`}`
}
