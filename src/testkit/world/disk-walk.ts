import { type DiskDirectory, type DiskNode } from './disk-directory.ts'

const nameBytesMax = 255

/** A place in the tree where a name is or may be. */
export interface NamePlace {
  readonly directory: DiskDirectory
  readonly name: string
  readonly node: DiskNode | undefined
  /** The directories from the root to `directory`, both included. */
  readonly way: readonly DiskDirectory[]
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
  if (last === undefined || isDots(last)) return wayTo(root, parts)?.at(-1)
  const node = wayTo(root, parts.slice(0, -1))?.at(-1)?.entries.get(last)
  return path.endsWith('/') && node?.kind !== 'directory' ? undefined : node
}

/** Where the last name of the path is or may be; `nowhere` without a directory for it, `directory` where it names none. */
export function placeAt(root: DiskDirectory, path: string): NamePlace | 'nowhere' | 'directory' {
  const parts = partsOf(path)
  const name = parts.pop()
  if (name === undefined) return path === '' ? 'nowhere' : 'directory'
  if (isDots(name)) return wayTo(root, [...parts, name]) === undefined ? 'nowhere' : 'directory'
  const way = wayTo(root, parts)
  if (way === undefined) return 'nowhere'
  const directory = way[way.length - 1]!
  return { directory, name, node: directory.entries.get(name), way, slash: path.endsWith('/') }
}

const partsOf = (path: string): string[] => path.split('/').filter(part => part !== '')
const isDots = (name: string): boolean => name === '.' || name === '..'

function wayTo(root: DiskDirectory, parts: readonly string[]): DiskDirectory[] | undefined {
  const way = [root]
  for (const part of parts) {
    if (part === '..' && way.length > 1) way.pop()
    if (isDots(part)) continue
    const next = way[way.length - 1]!.entries.get(part)
    if (next?.kind !== 'directory') return undefined
    way.push(next)
  }
  return way
}
