import { incompressibleBytes } from '../../../base/incompressible.ts'
import { isMillraceError } from '../../../kernel/errors/index.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'

const blockBytes = 65_536

export interface SpaceReserveOptions {
  /** Where the file is. */
  readonly directory: string
  /** Of the file, and the least that has to be free beside it for what adds to the metadata. 0: no reserve, and no bound. */
  readonly bytes: number
}

/**
 * Space that is kept back for what must be written when the disk is full. A key-value store that finds no space has failed for good, and
 * the broker with it; and it is the deletion of topics, which has to be written, that frees a full disk. So what adds to the metadata is
 * refused while little is free, and the reserve is given up for each write of what is left, and taken again as far as it can be when
 * that write is done: whoever else fills the disk would have it otherwise.
 */
export class SpaceReserve {
  readonly bytes: number
  private readonly files: FileSystem
  private readonly directory: string
  private held = 0
  /** A sync was begun and has not succeeded: no other is tried, which would say nothing. The store's own tell what the disk is worth. */
  private unsynced = false

  constructor(files: FileSystem, { directory, bytes }: SpaceReserveOptions) {
    this.files = files
    this.directory = directory
    this.bytes = bytes
  }

  /** Beside the reserve. Infinity where it cannot be told; a write will. */
  get freeBytes(): number {
    if (this.bytes === 0) return Infinity
    try {
      return this.files.space(this.directory).freeBytes
    } catch (error) {
      if (isMillraceError(error)) return Infinity
      throw error
    }
  }

  /** Too little is free for what adds to the metadata. */
  get isLow(): boolean {
    return this.freeBytes < this.bytes
  }

  private get path(): string { return `${this.directory}/reserve` }

  /** Looks what an earlier start left. */
  find(): void {
    this.held = this.attempt(() => this.files.stat(this.path)?.bytes ?? 0) ?? 0
  }

  /** Gives the space back while little is free. Tells how much it was. */
  release(): number {
    const { held } = this
    if (held === 0 || !this.isLow) return 0
    this.attempt(() => this.files.remove(this.path))
    this.held = 0
    return held
  }

  /** Takes the whole space where there is twice as much, else as much as was given back, or what of it is left. */
  restore(released: number): void {
    const free = this.freeBytes
    if (this.held >= this.bytes || this.unsynced || free === Infinity) return
    const wanted = free >= 2 * this.bytes ? this.bytes : Math.min(released, Math.floor(free / blockBytes) * blockBytes)
    if (wanted <= this.held) return
    if (this.attempt(() => this.write(wanted), () => this.files.remove(this.path)) !== undefined) this.held = wanted
  }

  private write(bytes: number): true {
    const block = incompressibleBytes(blockBytes)
    const file = this.files.open(this.path, 'ensure')
    try {
      file.truncate(0)
      file.write(Array.from({ length: Math.ceil(bytes / blockBytes) }, (_, index) => block.subarray(0, Math.min(blockBytes, bytes - index * blockBytes))), 0)
      this.unsynced = true
      // After a power cut the disk may be as full as before.
      file.syncNow()
    } finally {
      file.close()
    }
    this.files.syncDirectory(this.directory)
    this.unsynced = false
    return true
  }

  /** Whatever goes wrong with the reserve alone costs no more than the reserve. */
  private attempt<T>(run: () => T, undo?: () => void): T | undefined {
    try {
      return run()
    } catch (error) {
      if (!isMillraceError(error)) throw error
      if (undo !== undefined) this.attempt(undo)
      return undefined
    }
  }
}
