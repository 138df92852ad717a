import { type DiskFile, type KeepUnsynced } from './disk-file.ts'

export type DiskNode = DiskFile | DiskDirectory

interface NameChange {
  readonly directory: DiskDirectory
  readonly name: string
  /** Undefined: the name is gone. */
  readonly node: DiskNode | undefined
}

/** One change of names that happens wholly or not at all: one name made or removed, or the two of a rename. */
interface NameOperation {
  readonly changes: readonly NameChange[]
  committed: boolean
}

/**
 * The names in one directory: those that are seen, and those that the disk holds. Operations that were not synced reach the disk in
 * their order within a directory, as journals have it; between directories there is no order.
 */
export class DiskDirectory {
  readonly kind = 'directory'
  readonly entries = new Map<string, DiskNode>()
  readonly durable = new Map<string, DiskNode>()
  /** Operations since the last sync, in their order. One that a sync of another directory has committed stays until this one's. */
  pending: NameOperation[] = []
  modifiedMs: number

  constructor(modifiedMs: number) {
    this.modifiedMs = modifiedMs
  }

  get unsyncedNames(): number {
    return this.pending.filter(operation => !operation.committed).length
  }

  /** Applies the changes at once for those who look, and later, together, on the disk. */
  static change(changes: readonly NameChange[]): void {
    const operation: NameOperation = { changes, committed: false }
    for (const { directory, name, node } of changes) {
      if (node === undefined) directory.entries.delete(name)
      else directory.entries.set(name, node)
    }
    for (const directory of new Set(changes.map(change => change.directory))) directory.pending.push(operation)
  }

  /** All names are on the disk. */
  sync(): void {
    for (const operation of this.pending) commit(operation)
    this.pending = []
  }

  /** A copy of the tree under this directory as a power cut leaves it. This one is not changed. */
  afterCrash(keep: KeepUnsynced): DiskDirectory {
    return new CrashedTree(keep).build(this)
  }

  /** Calls for this directory and all that can be reached from it, by any name that is or was there. */
  visit(path: string, each: (directory: DiskDirectory, path: string) => void, seen = new Set<DiskDirectory>()): void {
    if (seen.has(this)) return
    seen.add(this)
    each(this, path)
    const names = new Map<string, DiskNode>([...this.durable, ...this.entries])
    for (const [name, node] of [...names].sort(([left], [right]) => left < right ? -1 : 1)) {
      if (node.kind === 'directory') node.visit(`${path}/${name}`, each, seen)
    }
  }

  /** A directory in which all names are on the disk. */
  static of(entries: Iterable<readonly [string, DiskNode]>, modifiedMs: number): DiskDirectory {
    const directory = new DiskDirectory(modifiedMs)
    for (const [name, node] of entries) {
      directory.entries.set(name, node)
      directory.durable.set(name, node)
    }
    return directory
  }
}

/** Puts an operation on the disk, after all that came before it in each directory that it touches. */
function commit(operation: NameOperation): void {
  if (operation.committed) return
  operation.committed = true
  commitInto(operation, directory => directory.durable, commit)
}

function commitInto(
  operation: NameOperation, namesOf: (directory: DiskDirectory) => Map<string, DiskNode>,
  commitEarlier: (earlier: NameOperation) => void,
): void {
  for (const { directory } of operation.changes) {
    for (const earlier of directory.pending) {
      if (earlier === operation) break
      commitEarlier(earlier)
    }
  }
  for (const { directory, name, node } of operation.changes) {
    if (node === undefined) namesOf(directory).delete(name)
    else namesOf(directory).set(name, node)
  }
}

class CrashedTree {
  private readonly keep: KeepUnsynced
  private readonly durable = new Map<DiskDirectory, Map<string, DiskNode>>()
  private readonly committed = new Set<NameOperation>()
  private readonly built = new Map<DiskNode, DiskNode>()

  constructor(keep: KeepUnsynced) {
    this.keep = keep
  }

  build(root: DiskDirectory): DiskDirectory {
    root.visit('', directory => {
      const { pending } = directory
      const count = this.keep === 'all' ? pending.length
        : this.keep === 'none' ? 0 : Math.floor(this.keep.fraction() * (pending.length + 1))
      for (const operation of pending.slice(0, count)) this.commit(operation)
    })
    return this.copy(root) as DiskDirectory
  }

  private commit(operation: NameOperation): void {
    if (operation.committed || this.committed.has(operation)) return
    this.committed.add(operation)
    commitInto(operation, directory => this.namesOf(directory), earlier => this.commit(earlier))
  }

  private namesOf(directory: DiskDirectory): Map<string, DiskNode> {
    let names = this.durable.get(directory)
    if (names === undefined) {
      names = new Map(directory.durable)
      this.durable.set(directory, names)
    }
    return names
  }

  private copy(node: DiskNode): DiskNode {
    const known = this.built.get(node)
    if (known !== undefined) return known
    const copied = node.kind === 'file' ? node.afterCrash(this.keep)
      : DiskDirectory.of([...this.namesOf(node)].map(([name, child]) => [name, this.copy(child)]), node.modifiedMs)
    this.built.set(node, copied)
    return copied
  }
}
