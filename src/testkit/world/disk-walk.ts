import { type DiskDirectory, type DiskNode } from './disk-directory.ts'

const nameBytesMax = 255

/** A place in the tree where a name is or may be. */
export interface NamePlace {
  readonly directory: DiskDirectory
  readonly name: string
  readonly node: DiskNode | undefined
  /** The path ends in a slash, which only a directory may have. */
  readonly slash: boolean
}

/** What no system takes as a path; undefined: nothing is wrong with it. */
export function badPath(path: string): 'EINVAL' | 'ENAMETOOLONG' | undefined {
  if (path.includes('\0')) return 'EINVAL'
  if (path.length <= nameBytesMax / 3) return undefined
  return path.split('/').some(name => new TextEncoder().encode(name).length > nameBytesMax) ? 'ENAMETOOLONG' : undefined
}

/** What is at the path, which begins at the root. `.` and `..` are followed as the names before them lead. */
export function nodeAt(root: DiskDirectory, path: string): DiskNode | undefined {
  if (path === '') return undefined
  const parts = partsOf(path)
  const last = parts.at(-1)
  if (last === undefined || isDots(last)) return wayTo(root, parts, parts.length)?.at(-1)
  const node = directoryOf(root, parts)?.entries.get(last)
  return path.endsWith('/') && node?.kind !== 'directory' ? undefined : node
}

/** Where the last name of the path is or may be; `nowhere` without a directory for it, `directory` where it names none. */
export function placeAt(root: DiskDirectory, path: string): NamePlace | 'nowhere' | 'directory' {
  const parts = partsOf(path)
  const name = parts.at(-1)
  if (name === undefined) return path === '' ? 'nowhere' : 'directory'
  if (isDots(name)) return wayTo(root, parts, parts.length) === undefined ? 'nowhere' : 'directory'
  const directory = directoryOf(root, parts)
  if (directory === undefined) return 'nowhere'
  return { directory, name, node: directory.entries.get(name), slash: path.endsWith('/') }
}

/** The directories from the root to that of the place of this path, both included. */
export function wayToPlace(root: DiskDirectory, path: string): readonly DiskDirectory[] {
  const parts = partsOf(path)
  return wayTo(root, parts, parts.length - 1)!
}

const partsKeptMax = 20_000
const partsKept = new Map<string, readonly string[]>()

/** Kept, since the same few paths are asked for again and again. */
function partsOf(path: string): readonly string[] {
  let parts = partsKept.get(path)
  if (parts !== undefined) return parts
  parts = path.split('/').filter(part => part !== '')
  if (partsKept.size >= partsKeptMax) partsKept.clear()
  partsKept.set(path, parts)
  return parts
}

const isDots = (name: string): boolean => name === '.' || name === '..'

/** The directory that all parts but the last lead to. */
function directoryOf(root: DiskDirectory, parts: readonly string[]): DiskDirectory | undefined {
  let directory = root
  for (let index = 0; index < parts.length - 1; index++) {
    const part = parts[index]!
    if (isDots(part)) return wayTo(root, parts, parts.length - 1)?.at(-1)
    const next = directory.entries.get(part)
    if (next?.kind !== 'directory') return undefined
    directory = next
  }
  return directory
}

function wayTo(root: DiskDirectory, parts: readonly string[], count: number): DiskDirectory[] | undefined {
  const way = [root]
  for (const part of parts.slice(0, count)) {
    if (part === '..' && way.length > 1) way.pop()
    if (isDots(part)) continue
    const next = way[way.length - 1]!.entries.get(part)
    if (next?.kind !== 'directory') return undefined
    way.push(next)
  }
  return way
}
