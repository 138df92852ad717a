import { assert } from '../../../base/assert.ts'
import { type File, type FileSystem } from '../../../kernel/ports/file-system.ts'

/**
 * The open file of one segment. It is closed when nobody uses it: a sync or a read under way in another thread must not lose its
 * descriptor, which the system may give to another file at once.
 */
export class SegmentHandle {
  readonly path: string
  private readonly owner: OpenFiles
  private file: File | undefined
  private users = 0
  private dropped = false

  constructor(path: string, owner: OpenFiles) {
    this.path = path
    this.owner = owner
  }

  /** Opens it if need be. Every `use` is followed by a `done`. */
  use(): File {
    assert(!this.dropped, 'a segment that was dropped is not used')
    this.users++
    if (this.file === undefined) {
      try {
        this.file = this.owner.files.open(this.path, 'update')
      } catch (error) {
        this.users--
        throw error
      }
    }
    if (this.users === 1) this.owner.busy(this)
    return this.file
  }

  /** The file while it is in use. */
  get opened(): File {
    assert(this.file !== undefined && this.users > 0, 'a segment is in use')
    return this.file
  }

  done(): void {
    assert(this.users > 0, 'a segment is given back once')
    if (--this.users > 0) return
    if (this.dropped) this.close()
    else this.owner.idle(this)
  }

  while<T>(use: (file: File) => T): T {
    const file = this.use()
    try {
      return use(file)
    } finally {
      this.done()
    }
  }

  /** Reads into the beginning of `target`, at once. */
  read(target: Uint8Array, length: number, position: number): number {
    const file = this.use()
    try {
      return file.read(target, 0, length, position)
    } finally {
      this.done()
    }
  }

  /** Its file goes, or its log closes: it will not be used again. */
  drop(): void {
    this.dropped = true
    if (this.users === 0) this.close()
  }

  close(): void {
    this.owner.busy(this)
    this.file?.close()
    this.file = undefined
  }
}

/** Keeps segments open that may be read again, up to a number of files that are not in use. */
export class OpenFiles {
  readonly files: FileSystem
  private readonly idleMax: number
  private readonly idleHandles = new Set<SegmentHandle>()

  constructor(files: FileSystem, idleMax: number) {
    this.files = files
    this.idleMax = idleMax
  }

  handle(path: string): SegmentHandle {
    return new SegmentHandle(path, this)
  }

  busy(handle: SegmentHandle): void {
    this.idleHandles.delete(handle)
  }

  idle(handle: SegmentHandle): void {
    this.idleHandles.add(handle)
    if (this.idleHandles.size <= this.idleMax) return
    for (const oldest of this.idleHandles) {
      oldest.close()
      break
    }
  }
}
