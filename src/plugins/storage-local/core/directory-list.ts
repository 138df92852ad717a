import { crc32c } from '../../../base/crc32c.ts'
import { isUuid, type Uuid } from '../../../base/uuid.ts'

/** A data directory as the lists name it. */
export interface ListedDirectory {
  readonly id: Uuid
  /** Where it was when the list was written: for whoever looks for it, nothing goes by it. */
  readonly path: string
}

/** What a data directory says of all data directories of its broker: a disk that is not mounted leaves an empty directory, and no other trace. */
export interface DirectoryList {
  /** The id of the directory that the list lies in, known before its `meta.properties` is there. */
  readonly self: Uuid
  readonly all: readonly ListedDirectory[]
}

export function formatDirectoryList({ self, all }: DirectoryList): string {
  const sorted = [...all].sort((left, right) => left.id < right.id ? -1 : 1)
  const text = ['version: 0', `self: ${self}`, ...sorted.map(({ id, path }) => `${id} ${JSON.stringify(path)}`), ''].join('\n')
  return `${text}${checksumLine(text)}`
}

/** Undefined when it is damaged. */
export function parseDirectoryList(text: string): DirectoryList | undefined {
  const end = text.lastIndexOf('crc32c: ')
  if (end < 0 || text.slice(end) !== checksumLine(text.slice(0, end))) return undefined
  const [version, self, ...lines] = text.slice(0, end).split('\n').slice(0, -1)
  const id = self?.replace(/^self: /, '')
  if (version !== 'version: 0' || id === undefined || !isUuid(id)) return undefined
  const all: ListedDirectory[] = []
  for (const line of lines) {
    const space = line.indexOf(' ')
    const listed = line.slice(0, space)
    if (!isUuid(listed)) return undefined
    all.push({ id: listed, path: pathOf(line.slice(space + 1)) })
  }
  return { self: id, all }
}

/** A path is for people alone. */
function pathOf(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted
  }
}

const checksumLine = (text: string): string => `crc32c: ${(crc32c(new TextEncoder().encode(text)) >>> 0).toString(16).padStart(8, '0')}\n`
