import { Prng } from '../../base/prng.ts'
import { allBut, byChance, everythingUnsynced, nothingUnsynced, only, these, upTo, type CrashChoice } from './crash-choice.ts'
import { versionGroups } from './disk-change.ts'
import { type DiskDirectory, type NamesReachDisk } from './disk-directory.ts'
import { nameGroups } from './disk-tree.ts'

/** Which of the many images of one moment are made. */
export interface CrashImagesOptions {
  /** So many images by chance, with torn and reordered blocks. Default 16. */
  readonly random?: number
  /** With so many unsynced changes or fewer, every subset of them too. Default 0. */
  readonly subsetsOf?: number
  /** Of what is by chance. Default 1. */
  readonly seed?: number
  /** No more than so many, of which `random` are by chance; what is left out is spread evenly. Default 1000. */
  readonly most?: number
  /** The least that is written whole. Default: 512 for changes that are wholly in or out, one of both by chance for the others. */
  readonly blockBytes?: 512 | 4096
  /** Default: that of the file system. */
  readonly garbage?: boolean
}

/** What a crash may leave. */
export interface CrashImage<Files> {
  /** What of the unsynced changes is in. */
  readonly what: string
  /** As a machine finds it that is switched on again; all of it is synced. */
  readonly files: Files
}

/** A change that a power cut may take. */
export interface UnsyncedChange {
  readonly number: number
  readonly what: string
}

export interface CrashMomentParts<Files> {
  /** Nobody else's. */
  readonly root: DiskDirectory
  readonly names: NamesReachDisk
  readonly garbage: boolean
  readonly make: (choice: CrashChoice, blockBytes: number) => Files
}

interface Plan {
  readonly what: string
  readonly choice: CrashChoice
}

/**
 * A moment in the life of a disk, kept aside: what the power may leave of it can be tried later, as often as one likes. The order of the
 * images and their contents are equal in every run.
 */
export class CrashMoment<Files> {
  private readonly parts: CrashMomentParts<Files>
  /** What was not synced, in the order of its making. */
  readonly changes: readonly UnsyncedChange[]

  constructor(parts: CrashMomentParts<Files>) {
    this.parts = parts
    this.changes = changesOf(parts.root).sort((left, right) => left.number - right.number)
  }

  /**
   * Nothing in, everything in, everything up to each change, each change left out, each change alone, every subset of a few, and so many by
   * chance. Images that would be equal come once: a write that another one covers cannot be missing without it.
   */
  *images(options: CrashImagesOptions = {}): Generator<CrashImage<Files>> {
    const { random = 16, seed = 1, most = 1000, blockBytes = 512, subsetsOf = 0 } = options
    for (const { what, choice } of spread(this.plans(blockBytes, subsetsOf), Math.max(2, most - random))) yield { what, files: this.parts.make(choice, blockBytes) }
    if (this.changes.length === 0) return
    for (let index = 0; index < random; index++) yield this.imageByChance(index, seed, options)
  }

  private imageByChance(index: number, seed: number, options: CrashImagesOptions): CrashImage<Files> {
    const prng = new Prng(seed).fork(`image ${index}`)
    const blockBytes = options.blockBytes ?? (prng.chance(0.5) ? 512 : 4096)
    const garbage = options.garbage ?? this.parts.garbage
    const choice = byChance(prng, { first: this.changes[0]!.number, last: this.changes.at(-1)!.number, garbage })
    return { what: `chance ${index} of seed ${seed}, blocks of ${blockBytes}`, files: this.parts.make(choice, blockBytes) }
  }

  private plans(blockBytes: number, subsetsOf: number): Plan[] {
    const { changes } = this
    const last = changes.length - 1
    const all: Plan[] = [
      { what: 'nothing unsynced', choice: nothingUnsynced },
      { what: 'everything unsynced', choice: everythingUnsynced },
      ...changes.slice(0, -1).map(({ number, what }, index) => ({ what: `${index + 1} of ${last + 1} in order, up to: ${what}`, choice: upTo(number) })),
      ...changes.map(({ number, what }) => ({ what: `all but: ${what}`, choice: allBut(number) })),
      ...changes.map(({ number, what }) => ({ what: `only: ${what}`, choice: only(number) })),
      ...(changes.length <= subsetsOf ? subsets(changes) : []),
    ]
    const groups = this.groups(blockBytes)
    const seen = new Set<string>()
    return all.filter(({ choice }) => {
      const key = groups.map(group => choice.pick(group, 'block')).join()
      return seen.size < seen.add(key).size
    })
  }

  /** The numbers of the changes of each thing that has versions. */
  private groups(blockBytes: number): (readonly number[])[] {
    const groups: (readonly number[])[] = []
    this.parts.root.visit(node => {
      if (node.kind === 'file') groups.push(...versionGroups(node.syncedContent().size, node.changes(), blockBytes))
      else groups.push(...nameGroups(node, this.parts.names).map(operations => operations.map(({ number }) => number)))
    })
    return groups
  }
}

function subsets(changes: readonly UnsyncedChange[]): Plan[] {
  return Array.from({ length: 2 ** changes.length }, (_, bits) => {
    const chosen = changes.filter((_change, index) => (bits >> index) & 1)
    return { what: `these: ${chosen.map(({ what }) => what).join('; ')}`, choice: these(new Set(chosen.map(({ number }) => number))) }
  })
}

/** Evenly spaced ones; the first two always. */
function spread(plans: readonly Plan[], most: number): readonly Plan[] {
  if (plans.length <= most) return plans
  const rest = plans.slice(2)
  return [...plans.slice(0, 2), ...Array.from({ length: most - 2 }, (_, index) => rest[Math.floor(index * rest.length / (most - 2))]!)]
}

function changesOf(root: DiskDirectory): UnsyncedChange[] {
  const paths = pathsOf(root)
  const changes = new Map<number, UnsyncedChange>()
  root.visit(node => {
    const path = paths.get(node) ?? 'a file without a name'
    if (node.kind === 'file') {
      for (const change of node.changes()) {
        const what = change.kind === 'write' ? `write of ${change.bytes.length} bytes at ${change.position} of ${path}` : `truncation of ${path} to ${change.bytes} bytes`
        changes.set(change.number, { number: change.number, what })
      }
      return
    }
    for (const { number, changes: names, committed } of node.pending) {
      if (committed) continue
      const what = names.map(({ directory, name, node: now }) => `${paths.get(directory) ?? '?'}/${name} ${now === undefined ? 'gone' : 'made'}`).join(', ')
      changes.set(number, { number, what })
    }
  })
  return [...changes.values()]
}

/** A name of each node: one that is seen, or else one that was. */
function pathsOf(root: DiskDirectory): Map<unknown, string> {
  const paths = new Map<unknown, string>([[root, '']])
  const walk = (directory: DiskDirectory, path: string): void => {
    for (const [name, node] of [...directory.entries, ...directory.durable]) {
      if (paths.has(node)) continue
      paths.set(node, `${path}/${name}`)
      if (node.kind === 'directory') walk(node, `${path}/${name}`)
    }
  }
  walk(root, '')
  return paths
}
