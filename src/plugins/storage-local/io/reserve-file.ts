import { incompressibleBytes } from '../../../base/incompressible.ts'
import { isMillraceError } from '../../../kernel/errors/index.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'

const blockBytes = 256 * 1024

/**
 * Space that a data directory keeps back. To free a full disk, checkpoints and snapshots have to be written before anything is deleted: the
 * file is removed for them, and made again when twice its size is free.
 */
export class ReserveFile {
  /** The space is kept back. Always so for a reserve of no bytes. */
  whole = false
  private readonly files: FileSystem
  private readonly directory: string
  private readonly bytes: number

  constructor(files: FileSystem, directory: string, bytes: number) {
    this.files = files
    this.directory = directory
    this.bytes = bytes
  }

  private get path(): string { return `${this.directory}/.millrace-reserve` }

  /** Looks whether an earlier start left it. */
  find(): void {
    this.whole = this.bytes === 0 || this.files.stat(this.path)?.bytes === this.bytes
  }

  /** Makes it if it is not there and there is room for it. */
  restore(): void {
    if (this.whole) return
    this.files.remove(this.path)
    if (this.files.space(this.directory).freeBytes < 2 * this.bytes) return
    try {
      this.write()
      this.whole = true
    } catch (error) {
      this.files.remove(this.path)
      if (!isMillraceError(error, 'MR_FILE_NO_SPACE')) throw error
    }
  }

  /** Frees its space. False when there is none to free. */
  release(): boolean {
    if (!this.whole || this.bytes === 0) return false
    this.files.remove(this.path)
    this.whole = false
    return true
  }

  private write(): void {
    const block = incompressibleBytes(Math.min(this.bytes, blockBytes))
    const pieces = Array.from({ length: Math.ceil(this.bytes / blockBytes) }, (_, index) => block.subarray(0, this.bytes - index * blockBytes))
    const file = this.files.open(this.path, 'ensure')
    try {
      file.write(pieces, 0)
      // After a power cut the disk may be as full as before.
      file.syncNow()
    } finally {
      file.close()
    }
    this.files.syncDirectory(this.directory)
  }
}
