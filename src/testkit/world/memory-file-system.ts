import { Prng } from '../../base/prng.ts'
import { MillraceError, type ErrorCode } from '../../kernel/errors/index.ts'
import { type File, type FileStat, type FileSystem } from '../../kernel/ports/file-system.ts'
import { AtRestDamage } from './at-rest-damage.ts'
import { byChance, nothingUnsynced, type CrashChoice, type KeepUnsynced } from './crash-choice.ts'
import { CrashMoment } from './crash-moment.ts'
import { DiskContent } from './disk-content.ts'
import { DiskDirectory, type DiskNode, type NameChange } from './disk-directory.ts'
import { DiskFile } from './disk-file.ts'
import { crashedTree, forkTree } from './disk-tree.ts'
import { type FaultCounts } from './fault-counts.ts'
import { type FileFaults, type FileOperation, type FileOperationKind, type Hit } from './file-faults.ts'
import { MemoryDisk, type MemoryFileSystemOptions } from './memory-disk.ts'
import { MemoryFile } from './memory-file.ts'
import { normalPath, pathParts } from './memory-path.ts'

export { type MemoryFileSystemOptions } from './memory-disk.ts'

interface Place {
  readonly directory: DiskDirectory
  readonly name: string
  readonly node: DiskNode | undefined
}

export interface PowerCutOptions {
  /** The least that the disk writes whole. Default: that of the file system, or one of both by chance. */
  readonly blockBytes?: 512 | 4096
  /** Default: that of the file system. */
  readonly garbage?: boolean
}

/**
 * A file system in memory on a simulated disk, which knows what a power cut takes: contents until `File.sync`, names until
 * `syncDirectory`. Errors are those of the port. What can go wrong is listed in docs/simulation.md.
 */
export class MemoryFileSystem implements FileSystem {
  /** Makes calls fail, bytes come back wrong, syncs lie. */
  readonly faults: FileFaults
  /** Damages what lies on the disk. */
  readonly damage: AtRestDamage
  private readonly disk: MemoryDisk
  private readonly root: DiskDirectory
  private readonly fileAt = (path: string): DiskFile | undefined => {
    const node = this.lookUp(pathParts(path))
    return node?.kind === 'file' ? node : undefined
  }

  constructor(options: MemoryFileSystemOptions = {}, disk = new MemoryDisk(options, new DiskDirectory(0))) {
    this.disk = disk
    this.root = disk.root
    this.faults = disk.faults
    this.damage = new AtRestDamage(disk, path => this.lookUp(pathParts(path)))
  }

  /** Sees the calls too, after the observer of the options. Set it to enumerate crashes: see `crashMoment`. */
  get observe(): ((operation: FileOperation) => void) | undefined {
    return this.disk.observe
  }

  set observe(observer: ((operation: FileOperation) => void) | undefined) {
    this.disk.observe = observer
  }

  open(path: string, mode: 'read' | 'update' | 'create' | 'ensure'): File {
    const place = this.find(path, 'open')
    const makes = mode === 'create' || (mode === 'ensure' && place.node === undefined)
    this.begin({ kind: makes ? 'create' : 'open', path })
    let node = place.node
    if (mode === 'create' && node !== undefined) throw failure('MR_FILE_EXISTS', 'open', path)
    if (node?.kind === 'directory') throw failure('MR_FILE_FAILED', 'open', path, 'EISDIR')
    if (node === undefined) {
      if (!makes) throw failure('MR_FILE_NOT_FOUND', 'open', path)
      node = new DiskFile(new DiskContent(), this.disk.nowMs())
      this.link(place, node)
    }
    return new MemoryFile(path, node, this.disk, { writable: mode !== 'read', fileAt: this.fileAt })
  }

  list(path: string): string[] {
    this.begin({ kind: 'list', path })
    return [...this.directoryAt(path, 'list').entries.keys()].sort()
  }

  stat(path: string): FileStat | undefined {
    this.begin({ kind: 'stat', path })
    const node = this.lookUp(pathParts(path))
    if (node === undefined) return undefined
    return { kind: node.kind, bytes: node.kind === 'file' ? node.size : 0, modifiedMs: node.modifiedMs }
  }

  makeDirectory(path: string): void {
    this.begin({ kind: 'make directory', path })
    let directory = this.root
    const parts = pathParts(path)
    for (const [depth, name] of parts.entries()) {
      const node = directory.entries.get(name)
      if (node?.kind === 'file') throw failure(depth === parts.length - 1 ? 'MR_FILE_EXISTS' : 'MR_FILE_NOT_FOUND', 'make directory', path)
      const next = node ?? new DiskDirectory(this.disk.nowMs())
      if (node === undefined) this.link({ directory, name, node }, next)
      directory = next
    }
  }

  rename(from: string, to: string): void {
    this.begin({ kind: 'rename', path: from })
    const source = this.find(from, 'rename')
    const target = this.find(to, 'rename')
    const moved = source.node
    if (moved === undefined) throw failure('MR_FILE_NOT_FOUND', 'rename', from)
    if (moved === target.node) return
    if (moved.kind === 'directory') {
      if (target.node?.kind === 'file') throw failure('MR_FILE_NOT_FOUND', 'rename', from, 'ENOTDIR')
      if (target.node !== undefined && target.node.entries.size > 0) throw failure('MR_FILE_EXISTS', 'rename', from)
      if (`${normalPath(to)}/`.startsWith(`${normalPath(from)}/`)) throw failure('MR_FILE_FAILED', 'rename', from, 'EINVAL')
    } else if (target.node?.kind === 'directory') throw failure('MR_FILE_FAILED', 'rename', from, 'EISDIR')
    this.move(source, { ...target, node: moved })
    if (target.node?.kind === 'file') this.disk.unlinked(target.node)
    source.directory.modifiedMs = target.directory.modifiedMs = this.disk.nowMs()
  }

  remove(path: string): void {
    this.begin({ kind: 'remove', path })
    const parts = pathParts(path)
    const parent = this.lookUp(parts.slice(0, -1))
    const name = parts.at(-1)
    if (name === undefined || parent?.kind !== 'directory') return
    this.unlink(parent, name)
  }

  syncDirectory(path: string): void {
    const { damage, happened } = this.begin({ kind: 'sync directory', path })
    const directory = this.directoryAt(path, 'sync directory')
    if (damage !== undefined) return happened!()
    this.disk.version++
    directory.sync(this.disk.names)
  }

  freeBytes(path: string): number {
    if (this.lookUp(pathParts(path)) === undefined) throw failure('MR_FILE_NOT_FOUND', 'free bytes', path)
    return Math.min(Number.MAX_SAFE_INTEGER, this.disk.freeBytes)
  }

  /** How large the disk is from now on. */
  resize(capacityBytes: number): void {
    this.disk.capacityBytes = capacityBytes
  }

  /** Moves with every change of what is on the disk, or would be after a crash. */
  get version(): number {
    return this.disk.version
  }

  /** How often each fault was met: see `FaultCounts`. */
  get counts(): FaultCounts {
    return this.faults.counts
  }

  /** The disk stands still: no sync and no read off the loop ends until the function that this returns is called. */
  stall(): () => void {
    return this.disk.stall()
  }

  /**
   * What a new process finds after this one was killed (`all`: the system has it still, synced or not) or the power was cut (`none`: only
   * what was synced; a Random: chance decides for each block, size and name). This file system is left as it is. Faults and observers are
   * not taken over.
   */
  afterCrash(options: { readonly keepUnsynced: KeepUnsynced } & PowerCutOptions, changed: MemoryFileSystemOptions = {}): MemoryFileSystem {
    const { keepUnsynced: keep } = options
    if (keep === 'all') return this.on(forkTree(this.root), changed)
    if (keep === 'none') return this.afterPowerCut(nothingUnsynced, this.disk.blockBytes, changed)
    const prng = new Prng(Math.floor(keep.fraction() * 0x20_0000_0000_0000))
    const garbage = options.garbage ?? this.disk.options.garbage ?? false
    const blockBytes = options.blockBytes ?? this.disk.options.blockBytes ?? (prng.chance(0.5) ? 512 : 4096)
    return this.afterPowerCut(byChance(prng, { ...this.unsyncedRange(), garbage }), blockBytes, changed)
  }

  /** All that is known of this moment, for trying what a power cut may leave of it. Costs as much as there are files and unsynced changes. */
  crashMoment(): CrashMoment<MemoryFileSystem> {
    const { garbage = false } = this.disk.options
    const fork = this.on(forkTree(this.root), {})
    return new CrashMoment({
      root: fork.root, names: this.disk.names, garbage,
      make: (choice, blockBytes) => fork.afterPowerCut(choice, blockBytes),
    })
  }

  /** Rot on the medium: a bit of a file changes, and nobody is told. */
  flipBit(path: string, position: number, bit: number): void {
    this.damage.flipBit(path, position, bit)
  }

  /** Changes that a power cut could take: of contents and of names. */
  unsyncedChanges(): number {
    let count = 0
    this.root.visit(node => { count += node.kind === 'directory' ? node.unsyncedNames : node.unsyncedChanges })
    return count
  }

  private afterPowerCut(choice: CrashChoice, blockBytes: number, changed: MemoryFileSystemOptions = {}): MemoryFileSystem {
    return this.on(crashedTree(this.root, this.disk.crash(choice, blockBytes), this.disk.names), changed)
  }

  private unsyncedRange(): { readonly first: number, readonly last: number } {
    let first = Infinity
    let last = 0
    const take = (number: number): void => {
      first = Math.min(first, number)
      last = Math.max(last, number)
    }
    this.root.visit(node => {
      const changes = node.kind === 'directory' ? node.pending : node.changes()
      if (changes.length === 0) return
      take(changes[0]!.number)
      take(changes[changes.length - 1]!.number)
    })
    return last === 0 ? { first: 1, last: 1 } : { first, last }
  }

  /** A file system on another tree, on a device like this one. */
  private on(root: DiskDirectory, changed: MemoryFileSystemOptions): MemoryFileSystem {
    const { observe: _observer, ...kept } = this.disk.options
    const options = { ...kept, counts: this.counts, capacityBytes: this.disk.capacityBytes, ...changed }
    return new MemoryFileSystem(options, new MemoryDisk(options, root, this.disk))
  }

  private link(place: Place, node: DiskNode): void {
    if (node.kind === 'file') node.links++
    DiskDirectory.change([{ directory: place.directory, name: place.name, node }], this.disk.next())
    place.directory.modifiedMs = this.disk.nowMs()
  }

  private move(source: Place, target: Place): void {
    const gone: NameChange = { directory: source.directory, name: source.name, node: undefined }
    if (target.node?.kind === 'directory' || this.disk.names === 'ordered') return DiskDirectory.change([gone, target], this.disk.next())
    DiskDirectory.change([target], this.disk.next())
    DiskDirectory.change([gone], this.disk.next())
  }

  private unlink(directory: DiskDirectory, name: string): void {
    const node = directory.entries.get(name)
    if (node === undefined) return
    if (node.kind === 'file') this.disk.unlinked(node)
    else for (const child of [...node.entries.keys()]) this.unlink(node, child)
    DiskDirectory.change([{ directory, name, node: undefined }], this.disk.next())
    directory.modifiedMs = this.disk.nowMs()
  }

  private find(path: string, operation: FileOperationKind): Place {
    const parts = pathParts(path)
    const name = parts.pop()
    const directory = this.lookUp(parts)
    if (name === undefined) throw failure('MR_FILE_FAILED', operation, path, 'EISDIR')
    if (directory?.kind !== 'directory') throw failure('MR_FILE_NOT_FOUND', operation, path)
    return { directory, name, node: directory.entries.get(name) }
  }

  private directoryAt(path: string, operation: FileOperationKind): DiskDirectory {
    const node = this.lookUp(pathParts(path))
    if (node?.kind !== 'directory') throw failure('MR_FILE_NOT_FOUND', operation, path)
    return node
  }

  private lookUp(parts: readonly string[]): DiskNode | undefined {
    let node: DiskNode | undefined = this.root
    for (const part of parts) {
      if (node?.kind !== 'directory') return undefined
      node = node.entries.get(part)
    }
    return node
  }

  private begin(operation: FileOperation): Hit {
    const hit = this.disk.begin(operation)
    if (hit.failing !== undefined) throw hit.failing.error
    return hit
  }
}

function failure(code: ErrorCode, operation: string, path: string, reason = ''): MillraceError {
  return new MillraceError(code, { operation, path, reason })
}
