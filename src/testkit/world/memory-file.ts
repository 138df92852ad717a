import { assert } from '../../base/assert.ts'
import { type File } from '../../kernel/ports/file-system.ts'
import { type DiskFile } from './disk-file.ts'
import { fileFailure, type FailingCall, type FileOperation } from './file-faults.ts'

/** What an open file needs of its file system. */
export interface MemoryDevice {
  /** Counts the call; says whether it fails. */
  begin(operation: FileOperation): FailingCall | undefined
  /** Later, never before the caller has returned. */
  later(kind: 'sync' | 'read', run: () => void): void
  readonly freeBytes: number
  /** The size of a file changed by so much. */
  grew(bytes: number): void
  nowMs(): number
}

/** An open file of a MemoryFileSystem. Like a descriptor it outlives a rename or removal of its name. */
export class MemoryFile implements File {
  readonly path: string
  private readonly content: DiskFile
  private readonly device: MemoryDevice
  private readonly writable: boolean
  private closed = false

  constructor(path: string, content: DiskFile, device: MemoryDevice, writable: boolean) {
    this.path = path
    this.content = content
    this.device = device
    this.writable = writable
  }

  size(): number {
    this.begin({ kind: 'size', path: this.path })
    return this.content.size
  }

  read(target: Uint8Array, at: number, length: number, position: number): number {
    assert(at >= 0 && at + length <= target.length, 'a read stays inside its target')
    this.begin({ kind: 'read', path: this.path, bytes: length, position })
    return this.content.read(target, at, length, position)
  }

  /** The bytes are those of the moment of completion, and `target` holds rubbish until then: nobody may look early. */
  readLater(
    target: Uint8Array, at: number, length: number, position: number, done: (error: unknown, bytes: number) => void,
  ): void {
    this.assertOpen()
    assert(at >= 0 && at + length <= target.length, 'a read stays inside its target')
    const failing = this.device.begin({ kind: 'read', path: this.path, bytes: length, position })
    target.fill(0xa5, at, at + length)
    this.device.later('read', () => {
      if (failing !== undefined) done(failing.error, 0)
      else done(undefined, this.content.read(target, at, length, position))
    })
  }

  write(pieces: readonly Uint8Array[], position: number): void {
    this.assertOpen()
    let total = 0
    for (const piece of pieces) total += piece.length
    const operation: FileOperation = { kind: 'write', path: this.path, bytes: total, position }
    const failing = this.device.begin(operation)
    if (!this.writable) throw fileFailure('EACCES', operation)
    if (failing !== undefined) {
      this.writePrefix(pieces, position, failing.keptBytes)
      throw failing.error
    }
    const room = this.device.freeBytes - Math.max(0, position + total - this.content.size)
    if (room < 0) {
      this.writePrefix(pieces, position, Math.max(0, total + room))
      throw fileFailure('ENOSPC', operation)
    }
    this.writePrefix(pieces, position, total)
  }

  sync(done: (error: unknown) => void): void {
    this.assertOpen()
    const failing = this.device.begin({ kind: 'sync', path: this.path })
    const mark = this.content.mark()
    this.device.later('sync', () => {
      if (failing === undefined) this.content.syncTo(mark)
      else this.content.loseTo(mark)
      done(failing?.error)
    })
  }

  syncNow(): void {
    this.assertOpen()
    const failing = this.device.begin({ kind: 'sync', path: this.path })
    if (failing === undefined) return this.content.syncTo(this.content.mark())
    this.content.loseTo(this.content.mark())
    throw failing.error
  }

  truncate(bytes: number): void {
    const operation: FileOperation = { kind: 'truncate', path: this.path, bytes }
    this.begin(operation)
    if (!this.writable) throw fileFailure('EACCES', operation)
    if (!this.content.unlinked) this.device.grew(bytes - this.content.size)
    this.content.truncate(bytes)
    this.content.modifiedMs = this.device.nowMs()
  }

  close(): void {
    this.closed = true
  }

  private writePrefix(pieces: readonly Uint8Array[], position: number, bytes: number): void {
    const before = this.content.size
    let left = bytes
    let at = position
    for (const piece of pieces) {
      const length = Math.min(left, piece.length)
      this.content.write(length === piece.length ? piece : piece.subarray(0, length), at)
      at += length
      left -= length
    }
    this.content.modifiedMs = this.device.nowMs()
    if (!this.content.unlinked) this.device.grew(this.content.size - before)
  }

  private begin(operation: FileOperation): void {
    this.assertOpen()
    const failing = this.device.begin(operation)
    if (failing !== undefined) throw failing.error
  }

  private assertOpen(): void {
    assert(!this.closed, `${this.path} is not used after it was closed`)
  }
}
