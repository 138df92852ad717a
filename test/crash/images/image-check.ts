import { type MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'
import { bytesOf as bytesOfFile } from '../../unit/plugins/storage-local/store-subjects.ts'
import { sumsChange, vouches } from './sums-change.ts'

/** The files that hold logs and say what is in them, by their paths. */
export function imageOf(files: MemoryFileSystem, directories: readonly string[]): Map<string, Uint8Array> {
  const image = new Map<string, Uint8Array>()
  const take = (path: string): void => { image.set(path, bytesOfFile(files, path)) }
  for (const directory of directories) {
    for (const name of files.stat(directory) === undefined ? [] : files.list(directory)) {
      const path = `${directory}/${name}`
      if (/^(recovery-point|log-start)-offset-checkpoint$|^meta\.properties$/.test(name)) take(path)
      if (!/^[^.]+-\d+$|-stray$/.test(name)) continue
      for (const file of files.list(path)) if (!/\.(deleted|tmp)$/.test(file) && files.stat(`${path}/${file}`)?.kind === 'file') take(`${path}/${file}`)
    }
  }
  return image
}

interface FirstStart {
  /** Data directories that were stopped cleanly. */
  readonly clean: readonly string[]
  readonly isCompacted: boolean
}

/**
 * Where a start recovered nothing, the first reader makes indexes anew, and syncs nothing: after a clean stop, and where a power cut has taken both names of an index of a compacted segment. Those that the checksums of their segment vouch for stay.
 */
export function compareImages(first: ReadonlyMap<string, Uint8Array>, second: ReadonlyMap<string, Uint8Array>, { clean, isCompacted }: FirstStart): void {
  for (const path of new Set([...first.keys(), ...second.keys()])) {
    const isIndex = path.endsWith('index')
    if (isIndex && clean.some(directory => path.startsWith(`${directory}/`))) continue
    const [before, after] = [first.get(path), second.get(path)]
    if (path.endsWith('.sum') && before !== undefined) {
      const change = sumsChange(before, after, isOfActiveSegment(path, first))
      if (change !== undefined) throw new Error(`another start ${change}: ${path}`)
      continue
    }
    if (isIndex && isCompacted && !areVouched(path, first)) continue
    if (before === undefined || after === undefined) throw new Error(`another start ${before === undefined ? 'makes' : 'loses'} ${path}`)
    if (!isEqual(before, after)) throw new Error(`another start changes ${path}: ${before.length} bytes, then ${after.length}`)
  }
}

/** In order, the base offsets of the segments in the directory of a file, as their names have them. */
function segmentsBeside(path: string, image: ReadonlyMap<string, Uint8Array>): string[] {
  const directory = path.slice(0, path.lastIndexOf('/') + 1)
  return [...image.keys()].filter(other => other.startsWith(directory) && other.endsWith('.log')).map(other => other.slice(directory.length, -'.log'.length)).sort()
}

/** Both of a segment, for where one is not what it was the first reader makes both anew. */
function areVouched(path: string, image: ReadonlyMap<string, Uint8Array>): boolean {
  const stem = path.replace(/\.(time)?index$/, '')
  return (['.index', '.timeindex'] as const).every(suffix => {
    const bytes = image.get(`${stem}${suffix}`)
    return bytes !== undefined && vouches(image.get(`${stem}.sum`), suffix, bytes)
  })
}

function isOfActiveSegment(path: string, image: ReadonlyMap<string, Uint8Array>): boolean {
  return path.slice(path.lastIndexOf('/') + 1).startsWith(`${segmentsBeside(path, image).at(-1)}.`)
}

const isEqual = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0
