import { assert } from '../../base/assert.ts'
import { type CrashOfDisk } from './disk-change.ts'
import { applyOperation, DiskDirectory, touches, type DiskNode, type NameOperation, type NamesReachDisk } from './disk-directory.ts'
import { TraceHash } from './trace-hash.ts'

/** The tree as another process on the same machine has it: what is seen, what is on the disk, and all that lies between. */
export function forkTree(root: DiskDirectory): DiskDirectory {
  const forked = new Map<DiskNode, DiskNode>()
  const directories: DiskDirectory[] = []
  root.visit(node => {
    forked.set(node, node.kind === 'file' ? node.fork() : new DiskDirectory(node.modifiedMs))
    if (node.kind === 'directory') directories.push(node)
  })
  const of = <N extends DiskNode>(node: N): N => {
    const found = forked.get(node)
    assert(found !== undefined, 'a name leads to a node that was visited')
    return found as N
  }
  const operations = new Map<NameOperation, NameOperation>()
  const operationOf = (operation: NameOperation): NameOperation => {
    let made = operations.get(operation)
    if (made === undefined) {
      const changes = operation.changes.filter(({ directory }) => forked.has(directory))
        .map(({ directory, name, node }) => ({ directory: of(directory), name, node: node === undefined ? undefined : of(node) }))
      operations.set(operation, made = { ...operation, changes })
    }
    return made
  }
  for (const directory of directories) {
    const copy = of(directory)
    for (const [name, node] of directory.entries) copy.entries.set(name, of(node))
    for (const [name, node] of directory.durable) copy.durable.set(name, of(node))
    copy.pending = directory.pending.map(operationOf)
  }
  return of(root)
}

/** 16 hexadecimal digits of all that readers find in the tree, but times. */
export function contentDigest(root: DiskDirectory): string {
  const hash = new TraceHash()
  const add = (directory: DiskDirectory): void => {
    for (const name of [...directory.entries.keys()].sort()) {
      const node = directory.entries.get(name)!
      hash.addText(`${node.kind} ${name}/`)
      if (node.kind === 'file') node.content().addTo(hash)
      else add(node)
    }
    // No name is empty: here the directory ends.
    hash.addText('/')
  }
  add(root)
  return hash.digest()
}

/** The tree as a power cut leaves it. The given one is not changed. */
export function crashedTree(root: DiskDirectory, crash: CrashOfDisk, reach: NamesReachDisk): DiskDirectory {
  return new CrashedTree(crash, reach).build(root)
}

/** The operations of a directory that are not on the disk: together where their order holds, else by the name that they are about. */
export function nameGroups(directory: DiskDirectory, reach: NamesReachDisk): readonly (readonly NameOperation[])[] {
  const open = directory.pending.filter(operation => !operation.committed)
  if (open.length === 0) return []
  if (reach === 'ordered') return [open]
  const names = new Set(open.flatMap(({ changes }) => changes.filter(change => change.directory === directory).map(change => change.name)))
  return [...names].map(name => open.filter(operation => touches(operation, directory, name)))
}

class CrashedTree {
  private readonly crash: CrashOfDisk
  private readonly reach: NamesReachDisk
  /** Only of directories with names that were not synced. */
  private readonly names = new Map<DiskDirectory, Map<string, DiskNode>>()
  private readonly committed = new Set<NameOperation>()
  private readonly built = new Map<DiskNode, DiskNode>()

  constructor(crash: CrashOfDisk, reach: NamesReachDisk) {
    this.crash = crash
    this.reach = reach
  }

  build(root: DiskDirectory): DiskDirectory {
    root.visit(node => {
      if (node.kind === 'directory' && node.pending.length > 0) for (const group of nameGroups(node, this.reach)) this.pick(group)
    })
    return this.copy(root) as DiskDirectory
  }

  private pick(operations: readonly NameOperation[]): void {
    const { choice, counts } = this.crash
    const picked = choice.pick(operations.map(operation => operation.number), 'name')
    counts.add(picked === operations.length ? 'crash: name kept' : picked === 0 ? 'crash: name lost' : 'crash: name at an earlier version')
    for (const operation of operations.slice(0, picked)) this.commit(operation)
  }

  private commit(operation: NameOperation): void {
    if (operation.committed || this.committed.has(operation)) return
    this.committed.add(operation)
    applyOperation(operation, directory => this.namesOf(directory), earlier => this.commit(earlier), this.reach)
  }

  private namesOf(directory: DiskDirectory): Map<string, DiskNode> {
    let names = this.names.get(directory)
    if (names === undefined) this.names.set(directory, names = new Map(directory.durable))
    return names
  }

  private copy(node: DiskNode): DiskNode {
    const known = this.built.get(node)
    if (known !== undefined) {
      if (known.kind === 'file') known.links++
      return known
    }
    if (node.kind === 'file') {
      const file = node.afterCrash(this.crash)
      file.links = 1
      this.built.set(node, file)
      return file
    }
    const directory = new DiskDirectory(node.modifiedMs)
    this.built.set(node, directory)
    for (const [name, child] of this.names.get(node) ?? node.durable) {
      const copied = this.copy(child)
      directory.entries.set(name, copied)
      directory.durable.set(name, copied)
    }
    return directory
  }
}
