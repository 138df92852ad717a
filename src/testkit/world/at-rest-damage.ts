import { MillraceError } from '../../kernel/errors/index.ts'
import { staleVersions } from './block-damage.ts'
import { DiskDirectory, type DiskNode } from './disk-directory.ts'
import { type DiskFile } from './disk-file.ts'
import { type MemoryDisk } from './memory-disk.ts'
import { pathParts } from './memory-path.ts'

/** A byte of a file. */
export interface DiskPlace {
  readonly path: string
  readonly position: number
}

/**
 * Damage to what lies on the disk, of which nobody is told: for the time between two processes, or under one that runs. Readers see it, and a
 * power cut does not heal it. No observer sees it and no fault hits it. Where the place is not there, MR_FILE_NOT_FOUND.
 */
export class AtRestDamage {
  private readonly disk: MemoryDisk
  private readonly lookUp: (path: string) => DiskNode | undefined

  constructor(disk: MemoryDisk, lookUp: (path: string) => DiskNode | undefined) {
    this.disk = disk
    this.lookUp = lookUp
  }

  /** Bit 0 is the lowest. */
  flipBit(path: string, position: number, bit: number): void {
    this.place({ path, position }).damage(position, 1, bytes => { if (bytes.length > 0) bytes[0]! ^= 1 << bit })
    this.done('bit flipped')
  }

  zeroBlock(path: string, position: number, bytes = this.disk.blockBytes): void {
    overwrite(this.place({ path, position }), position, new Uint8Array(bytes))
    this.done('block zeroed')
  }

  /** Other bytes, whatever they are. */
  overwrite(path: string, position: number, bytes: Uint8Array): void {
    overwrite(this.place({ path, position }), position, bytes)
    this.done('bytes overwritten')
  }

  /** The block holds what it held before a sync, the last that changed it; false if there was none. */
  staleBlock(path: string, position: number, bytes = this.disk.blockBytes): boolean {
    const file = this.place({ path, position })
    const now = file.content().slice(position, bytes)
    const stale = staleVersions(file, position, bytes).find(each => each.some((byte, index) => byte !== now[index]))
    if (stale === undefined) return false
    overwrite(file, position, stale)
    this.done('block stale')
    return true
  }

  /** Each of the two places holds the other's bytes. */
  swapBlocks(one: DiskPlace, other: DiskPlace, bytes = this.disk.blockBytes): void {
    const left = this.place(one)
    const right = this.place(other)
    const kept = left.content().slice(one.position, bytes)
    overwrite(left, one.position, right.content().slice(other.position, bytes))
    overwrite(right, other.position, kept)
    this.done('blocks swapped')
  }

  /** The file ends here. */
  truncate(path: string, bytes: number): void {
    const file = this.file(path)
    this.disk.grew(file, Math.min(0, bytes - file.size))
    if (bytes < file.size) file.cutOff(bytes, this.disk.next())
    this.done('file truncated')
  }

  /** The file's name is gone, on the disk too. */
  remove(path: string): void {
    const file = this.file(path)
    const parts = pathParts(path)
    const name = parts.pop()!
    const directory = this.lookUp(`/${parts.join('/')}`)
    if (!(directory instanceof DiskDirectory)) throw notFound(path)
    directory.forget(name, this.disk.names)
    this.disk.unlinked(file)
    this.done('file removed')
  }

  private done(what: string): void {
    this.disk.version++
    this.disk.faults.counts.add(`at rest: ${what}`)
  }

  private place({ path, position }: DiskPlace): DiskFile {
    const file = this.file(path)
    if (position < 0 || position >= file.size) throw notFound(`${path} at ${position}`)
    return file
  }

  private file(path: string): DiskFile {
    const node = this.lookUp(path)
    if (node?.kind !== 'file') throw notFound(path)
    return node
  }
}

const notFound = (path: string): MillraceError => new MillraceError('MR_FILE_NOT_FOUND', { operation: 'damage', path, reason: '' })

/** The file gets no longer by it. */
function overwrite(file: DiskFile, position: number, bytes: Uint8Array): void {
  file.damage(position, bytes.length, (found, at) => { found.set(bytes.subarray(at - position, at - position + found.length)) })
}
