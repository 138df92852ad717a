import { type DiskFile } from './disk-file.ts'

export type DiskNode = DiskFile | DiskDirectory

/**
 * How names reach the disk. `ordered`: in their order within a directory, renames wholly or not at all, as journals have it; between
 * directories there is no order. `each`: every name on its own, so that a renamed file may be found under both names, or under neither; only a
 * directory, which has one parent, is moved wholly or not at all.
 */
export type NamesReachDisk = 'each' | 'ordered'

export interface NameChange {
  readonly directory: DiskDirectory
  readonly name: string
  /** Undefined: the name is gone. */
  readonly node: DiskNode | undefined
}

/** Changes of names that happen together or not at all. */
export interface NameOperation {
  /** Where it stands among all changes of the disk. */
  readonly number: number
  readonly changes: readonly NameChange[]
  committed: boolean
}

/** The names in one directory: those that are seen, and those that the disk holds. */
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
  static change(changes: readonly NameChange[], number: number): void {
    const operation: NameOperation = { number, changes, committed: false }
    for (const { directory, name, node } of changes) {
      if (node === undefined) directory.entries.delete(name)
      else directory.entries.set(name, node)
    }
    for (const directory of new Set(changes.map(change => change.directory))) directory.pending.push(operation)
  }

  /** All names are on the disk. */
  sync(reach: NamesReachDisk): void {
    for (const operation of this.pending) commitOnDisk(operation, reach)
    this.pending = []
  }

  /** The name is gone, here and on the disk. */
  forget(name: string, reach: NamesReachDisk): void {
    for (const operation of this.pending) if (touches(operation, this, name)) commitOnDisk(operation, reach)
    this.pending = this.pending.filter(operation => !touches(operation, this, name))
    this.entries.delete(name)
    this.durable.delete(name)
  }

  /** Calls for every directory and file that can be reached from here, by any name that is or was there, once. */
  visit(each: (node: DiskNode) => void, seen = new Set<DiskNode>()): void {
    if (seen.has(this)) return
    seen.add(this)
    each(this)
    const follow = (node: DiskNode | undefined): void => {
      if (node === undefined || seen.has(node)) return
      if (node.kind === 'directory') return node.visit(each, seen)
      seen.add(node)
      each(node)
    }
    for (const node of this.entries.values()) follow(node)
    if (this.pending.length === 0) return
    for (const node of this.durable.values()) follow(node)
    for (const { changes } of this.pending) for (const { node } of changes) follow(node)
  }
}

function commitOnDisk(operation: NameOperation, reach: NamesReachDisk): void {
  if (operation.committed) return
  operation.committed = true
  applyOperation(operation, directory => directory.durable, earlier => commitOnDisk(earlier, reach), reach)
}

/** Puts an operation where these names are, after all that must come before it in each directory that it touches. */
export function applyOperation(
  operation: NameOperation, namesOf: (directory: DiskDirectory) => Map<string, DiskNode>,
  commit: (earlier: NameOperation) => void, reach: NamesReachDisk,
): void {
  for (const { directory, name } of operation.changes) {
    for (const earlier of directory.pending) {
      if (earlier === operation) break
      if (reach === 'ordered' || touches(earlier, directory, name)) commit(earlier)
    }
  }
  for (const { directory, name, node } of operation.changes) {
    if (node === undefined) namesOf(directory).delete(name)
    else namesOf(directory).set(name, node)
  }
}

export function touches(operation: NameOperation, directory: DiskDirectory, name: string): boolean {
  return operation.changes.some(change => change.directory === directory && change.name === name)
}
