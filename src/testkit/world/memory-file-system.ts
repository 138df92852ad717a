import { MillraceError, type ErrorCode } from '../../kernel/errors/index.ts'
import { type Clock, type Timers } from '../../kernel/ports/clock.ts'
import { type File, type FileStat, type FileSystem } from '../../kernel/ports/file-system.ts'
import { DiskDirectory, type DiskNode } from './disk-directory.ts'
import { DiskFile, type KeepUnsynced } from './disk-file.ts'
import { FileFaults, type FileOperation, type FileOperationKind } from './file-faults.ts'
import { normalPath, pathParts } from './memory-path.ts'
import { MemoryFile, type MemoryDevice } from './memory-file.ts'

export interface MemoryFileSystemOptions {
  readonly clock?: Clock
  /** Completes `sync` and `readLater`. Without it they complete in a microtask, in the order of the calls. */
  readonly timers?: Timers
  /** Asked for each sync and each read off the loop. Default 0: as soon as the timers can. */
  readonly syncMs?: () => number
  readonly readMs?: () => number
  /** Default: no limit. */
  readonly capacityBytes?: number
  /** Sees every call before it is carried out: for traces. */
  readonly observe?: (operation: FileOperation) => void
}

interface Place {
  readonly directory: DiskDirectory
  readonly name: string
  readonly node: DiskNode | undefined
}

/**
 * A file system in memory that knows what a power cut takes: contents until `File.sync`, names until `syncDirectory`. Errors are those of
 * the port. `afterCrash` gives the file system that a restarted process would find.
 */
export class MemoryFileSystem implements FileSystem {
  readonly faults = new FileFaults()
  /** Sees the calls too, after the observer of the options. Set it to enumerate crashes: see `afterCrash`. */
  observe: ((operation: FileOperation) => void) | undefined
  private readonly options: MemoryFileSystemOptions
  private readonly root: DiskDirectory
  private readonly device: MemoryDevice
  private usedBytes = 0

  constructor(options: MemoryFileSystemOptions = {}, root = new DiskDirectory(0)) {
    this.options = options
    this.root = root
    root.visit('', directory => {
      for (const node of directory.entries.values()) if (node.kind === 'file') this.usedBytes += node.size
    })
    this.device = this.makeDevice()
  }

  open(path: string, mode: 'read' | 'update' | 'create' | 'ensure'): File {
    const place = this.find(path, 'open')
    const makes = mode === 'create' || (mode === 'ensure' && place.node === undefined)
    this.begin({ kind: makes ? 'create' : 'open', path })
    let node = place.node
    if (node?.kind === 'directory') throw failure('MR_FILE_FAILED', 'open', path, 'EISDIR')
    if (mode === 'create' && node !== undefined) throw failure('MR_FILE_EXISTS', 'open', path)
    if (node === undefined) {
      if (!makes) throw failure('MR_FILE_NOT_FOUND', 'open', path)
      node = new DiskFile(new Uint8Array(0), this.device.nowMs())
      this.link(place, node)
    }
    return new MemoryFile(path, node, this.device, mode !== 'read')
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
    for (const name of pathParts(path)) {
      const node = directory.entries.get(name)
      if (node?.kind === 'file') throw failure('MR_FILE_EXISTS', 'make directory', path)
      const next = node ?? new DiskDirectory(this.device.nowMs())
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
    if (target.node?.kind === 'file') this.forget(target.node)
    DiskDirectory.change([
      { directory: source.directory, name: source.name, node: undefined },
      { directory: target.directory, name: target.name, node: moved },
    ])
    source.directory.modifiedMs = target.directory.modifiedMs = this.device.nowMs()
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
    this.begin({ kind: 'sync directory', path })
    this.directoryAt(path, 'sync directory').sync()
  }

  freeBytes(path: string): number {
    if (this.lookUp(pathParts(path)) === undefined) throw failure('MR_FILE_NOT_FOUND', 'free bytes', path)
    return Math.min(Number.MAX_SAFE_INTEGER, this.device.freeBytes)
  }

  /**
   * What a new process finds after this one was killed (`all`) or the power was cut (`none`: only what was synced; a Random: chance
   * decides for each unsynced change). This file system is left as it is. Faults and observers are not taken over.
   */
  afterCrash(options: { readonly keepUnsynced: KeepUnsynced }, changed: MemoryFileSystemOptions = {}): MemoryFileSystem {
    const { observe: _observer, ...kept } = this.options
    return new MemoryFileSystem({ ...kept, ...changed }, this.root.afterCrash(options.keepUnsynced))
  }

  /** Rot on the medium: a bit of a file changes, and nobody is told. */
  flipBit(path: string, position: number, bit: number): void {
    const node = this.lookUp(pathParts(path))
    if (node?.kind !== 'file' || position >= node.size) throw failure('MR_FILE_NOT_FOUND', 'flip bit', path)
    node.flipBit(position, bit)
  }

  /** Changes that a power cut could take: of contents and of names. */
  unsyncedChanges(): number {
    let count = 0
    const files = new Set<DiskFile>()
    this.root.visit('', directory => {
      count += directory.unsyncedNames
      for (const node of directory.entries.values()) if (node.kind === 'file') files.add(node)
    })
    for (const file of files) count += file.unsyncedChanges
    return count
  }

  private link(place: Place, node: DiskNode): void {
    DiskDirectory.change([{ directory: place.directory, name: place.name, node }])
    place.directory.modifiedMs = this.device.nowMs()
  }

  private unlink(directory: DiskDirectory, name: string): void {
    const node = directory.entries.get(name)
    if (node === undefined) return
    if (node.kind === 'file') this.forget(node)
    else for (const child of [...node.entries.keys()]) this.unlink(node, child)
    DiskDirectory.change([{ directory, name, node: undefined }])
    directory.modifiedMs = this.device.nowMs()
  }

  private forget(file: DiskFile): void {
    this.usedBytes -= file.size
    file.unlinked = true
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

  private begin(operation: FileOperation): void {
    const failing = this.device.begin(operation)
    if (failing !== undefined) throw failing.error
  }

  private makeDevice(): MemoryDevice {
    const { clock, timers, syncMs, readMs, capacityBytes = Infinity, observe } = this.options
    const used = (): number => this.usedBytes
    return {
      begin: operation => {
        observe?.(operation)
        this.observe?.(operation)
        return this.faults.check(operation)
      },
      later: (kind, run) => {
        if (timers === undefined) return queueMicrotask(run)
        timers.after((kind === 'sync' ? syncMs : readMs)?.() ?? 0, run)
      },
      get freeBytes() {
        return Math.max(0, capacityBytes - used())
      },
      grew: bytes => {
        this.usedBytes += bytes
      },
      nowMs: () => clock?.wallMs() ?? 0,
    }
  }
}

function failure(code: ErrorCode, operation: string, path: string, reason = ''): MillraceError {
  return new MillraceError(code, { operation, path, reason })
}
