import { Prng } from '../../base/prng.ts'
import { MillraceError, type ErrorCode } from '../../kernel/errors/index.ts'
import { type DeviceSpace, type File, type FileStat, type FileSystem } from '../../kernel/ports/file-system.ts'
import { type PageCache } from '../../kernel/ports/page-cache.ts'
import { AtRestDamage } from './at-rest-damage.ts'
import { byChance, nothingUnsynced, type CrashChoice, type KeepUnsynced } from './crash-choice.ts'
import { CrashMoment } from './crash-moment.ts'
import { DiskContent } from './disk-content.ts'
import { DiskDirectory, type DiskNode, type NameChange } from './disk-directory.ts'
import { DiskFile } from './disk-file.ts'
import { contentDigest, crashedTree, forkTree } from './disk-tree.ts'
import { badPath, nodeAt, placeAt, wayToPlace, type NamePlace } from './disk-walk.ts'
import { type FaultCounts } from './fault-counts.ts'
import { type FileFaults, type FileOperation, type FileOperationKind, type Hit } from './file-faults.ts'
import { MemoryDisk, type MemoryFileSystemOptions } from './memory-disk.ts'
import { MemoryFile } from './memory-file.ts'

export { type MemoryFileSystemOptions } from './memory-disk.ts'

/** How a power cut leaves the disk. */
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
export class MemoryFileSystem implements FileSystem, PageCache {
  /** Makes calls fail, bytes come back wrong, syncs lie. */
  readonly faults: FileFaults
  /** Damages what lies on the disk. */
  readonly damage: AtRestDamage
  private readonly disk: MemoryDisk
  private readonly root: DiskDirectory
  private readonly fileAt = (path: string): DiskFile | undefined => {
    const node = nodeAt(this.root, path)
    return node?.kind === 'file' ? node : undefined
  }

  constructor(options: MemoryFileSystemOptions = {}, disk = new MemoryDisk(options, new DiskDirectory(0))) {
    this.disk = disk
    this.root = disk.root
    this.faults = disk.faults
    this.damage = new AtRestDamage(disk, path => nodeAt(this.root, path))
  }

  /** Sees the calls too, after the observer of the options. Set it to enumerate crashes: see `crashMoment`. */
  get observe(): ((operation: FileOperation) => void) | undefined {
    return this.disk.observe
  }

  set observe(observer: ((operation: FileOperation) => void) | undefined) {
    this.disk.observe = observer
  }

  open(path: string, mode: 'read' | 'update' | 'create' | 'ensure'): File {
    const place = this.find(path, 'open', mode === 'create' ? 'MR_FILE_EXISTS' : 'MR_FILE_FAILED')
    const makes = mode === 'create' || (mode === 'ensure' && place.node === undefined)
    this.begin({ kind: makes ? 'create' : 'open', path })
    let { node } = place
    if (place.slash && node?.kind !== 'directory' && !makes && mode !== 'ensure') throw failure('MR_FILE_NOT_FOUND', 'open', path, 'ENOTDIR')
    if (place.slash) throw failure('MR_FILE_FAILED', 'open', path, 'EISDIR')
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
    const node = this.nodeAt(path, 'stat')
    if (node === undefined) return undefined
    return { kind: node.kind, bytes: node.kind === 'file' ? node.size : 0, modifiedMs: node.modifiedMs }
  }

  makeDirectory(path: string): void {
    this.begin({ kind: 'make directory', path })
    this.checkPath(path, 'make directory')
    let at = ''
    const names = path.split('/').filter(name => name !== '')
    for (const [depth, name] of names.entries()) {
      const place = placeAt(this.root, at = `${at}/${name}`)
      if (place === 'nowhere') throw failure('MR_FILE_NOT_FOUND', 'make directory', path)
      if (place === 'directory') continue
      if (place.node?.kind === 'file') throw failure(depth === names.length - 1 && !path.endsWith('/') ? 'MR_FILE_EXISTS' : 'MR_FILE_NOT_FOUND', 'make directory', path)
      if (place.node === undefined) this.link(place, new DiskDirectory(this.disk.nowMs()))
    }
  }

  rename(from: string, to: string): void {
    this.begin({ kind: 'rename', path: from })
    const source = this.find(from, 'rename')
    const target = this.find(to, 'rename')
    const moved = source.node
    if (moved === undefined) throw failure('MR_FILE_NOT_FOUND', 'rename', from)
    if ((source.slash || target.slash) && moved.kind === 'file') throw failure('MR_FILE_NOT_FOUND', 'rename', from, 'ENOTDIR')
    if (moved === target.node) return
    if (wayToPlace(this.root, from).some(directory => directory === target.node)) throw failure('MR_FILE_EXISTS', 'rename', from, 'ENOTEMPTY')
    if (moved.kind === 'directory') {
      if (wayToPlace(this.root, to).includes(moved)) throw failure('MR_FILE_FAILED', 'rename', from, 'EINVAL')
      if (target.node?.kind === 'file') throw failure('MR_FILE_NOT_FOUND', 'rename', from, 'ENOTDIR')
      if (target.node !== undefined && target.node.entries.size > 0) throw failure('MR_FILE_EXISTS', 'rename', from)
    } else if (target.node?.kind === 'directory') throw failure('MR_FILE_FAILED', 'rename', from, 'EISDIR')
    this.move(source, target, moved)
    if (target.node?.kind === 'file') this.disk.unlinked(target.node)
    source.directory.modifiedMs = target.directory.modifiedMs = this.disk.nowMs()
  }

  remove(path: string): void {
    this.begin({ kind: 'remove', path })
    this.checkPath(path, 'remove')
    const place = placeAt(this.root, path)
    if (typeof place === 'object' && !(place.slash && place.node?.kind === 'file')) this.unlink(place.directory, place.name)
  }

  syncDirectory(path: string): void {
    const { damage, happened } = this.begin({ kind: 'sync directory', path })
    const directory = this.directoryAt(path, 'sync directory')
    if (damage !== undefined) return happened!()
    this.disk.version++
    directory.sync(this.disk.names)
  }

  space(path: string): DeviceSpace {
    if (this.nodeAt(path, 'space') === undefined) throw failure('MR_FILE_NOT_FOUND', 'space', path)
    const bytesMax = Number.MAX_SAFE_INTEGER
    return { freeBytes: Math.min(bytesMax, this.disk.freeBytes), totalBytes: Math.min(bytesMax, this.disk.capacityBytes) }
  }

  cacheLife(path: string): string | undefined {
    const node = this.nodeAt(path, 'cache life')
    return node?.kind === 'file' ? `life ${this.disk.life}, file ${node.number}` : undefined
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
   * what was synced; a Random: chance decides for each block, size and name). With `systemDown`, `all` is of a power cut too, one that took nothing. This file system is
   * left as it is. Faults and observers are not taken over.
   */
  afterCrash(options: { readonly keepUnsynced: KeepUnsynced, readonly systemDown?: boolean } & PowerCutOptions, changed: MemoryFileSystemOptions = {}): MemoryFileSystem {
    const { keepUnsynced: keep } = options
    if (keep === 'all') return this.on(forkTree(this.root), changed, options.systemDown === true)
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

  /** 16 hexadecimal digits of all names, sizes and bytes as readers find them, times left out: equal for equal disks. */
  contentDigest(): string {
    return contentDigest(this.root)
  }

  /** Changes that a power cut could take: of contents and of names. */
  unsyncedChanges(): number {
    let count = 0
    this.root.visit(node => { count += node.kind === 'directory' ? node.unsyncedNames : node.unsyncedChanges })
    return count
  }

  private afterPowerCut(choice: CrashChoice, blockBytes: number, changed: MemoryFileSystemOptions = {}): MemoryFileSystem {
    return this.on(crashedTree(this.root, this.disk.crash(choice, blockBytes), this.disk.names), changed, true)
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
  private on(root: DiskDirectory, changed: MemoryFileSystemOptions, systemDown = false): MemoryFileSystem {
    const { observe: _observer, ...kept } = this.disk.options
    const options = { ...kept, counts: this.counts, capacityBytes: this.disk.capacityBytes, ...changed }
    const disk = new MemoryDisk(options, root, this.disk)
    if (systemDown) disk.life++
    return new MemoryFileSystem(options, disk)
  }

  private link(place: NamePlace, node: DiskNode): void {
    const number = this.disk.next()
    if (node.kind === 'file') {
      node.links++
      node.number = number
    }
    DiskDirectory.change([{ directory: place.directory, name: place.name, node }], number)
    place.directory.modifiedMs = this.disk.nowMs()
  }

  private move(source: NamePlace, target: NamePlace, node: DiskNode): void {
    const gone: NameChange = { directory: source.directory, name: source.name, node: undefined }
    const made: NameChange = { directory: target.directory, name: target.name, node }
    if (node.kind === 'directory' || this.disk.names === 'ordered') return DiskDirectory.change([gone, made], this.disk.next())
    DiskDirectory.change([made], this.disk.next())
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

  private find(path: string, operation: FileOperationKind, ofDirectory: ErrorCode = 'MR_FILE_FAILED'): NamePlace {
    this.checkPath(path, operation)
    const place = placeAt(this.root, path)
    if (place === 'nowhere') throw failure('MR_FILE_NOT_FOUND', operation, path)
    if (place === 'directory') throw failure(ofDirectory, operation, path, 'EISDIR')
    return place
  }

  private directoryAt(path: string, operation: FileOperationKind): DiskDirectory {
    const node = this.nodeAt(path, operation)
    if (node?.kind !== 'directory') throw failure('MR_FILE_NOT_FOUND', operation, path)
    return node
  }

  private nodeAt(path: string, operation: string): DiskNode | undefined {
    this.checkPath(path, operation)
    return nodeAt(this.root, path)
  }

  private checkPath(path: string, operation: string): void {
    const bad = badPath(path)
    if (bad !== undefined) throw failure('MR_FILE_FAILED', operation, path, bad)
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
