import { type Random } from '../../kernel/ports/clock.ts'
import { GrowingBytes } from './growing-bytes.ts'

/** What a power cut leaves of something that was not synced: all of it, nothing, or what chance decides. */
export type KeepUnsynced = 'all' | 'none' | Random

type Change =
  | { readonly kind: 'write', readonly position: number, readonly bytes: Uint8Array }
  | { readonly kind: 'truncate', readonly bytes: number }

/** Disks write whole sectors: a torn write ends at a multiple of this. */
const sectorBytes = 512

/** The content of one file: what reads see, what the disk holds, and the changes between the two in their order. */
export class DiskFile {
  readonly kind = 'file'
  modifiedMs: number
  /** Its name is gone; open files may still use it, and its bytes no longer count. */
  unlinked = false
  private readonly current: GrowingBytes
  private readonly durable: GrowingBytes
  private unsynced: Change[] = []
  /** Changes before `unsynced[0]` since the file was made, so that marks stay valid. */
  private settled = 0

  constructor(content: Uint8Array, modifiedMs: number) {
    this.current = new GrowingBytes(content)
    this.durable = new GrowingBytes(content)
    this.modifiedMs = modifiedMs
  }

  get size(): number {
    return this.current.size
  }

  get unsyncedChanges(): number {
    return this.unsynced.length
  }

  read(target: Uint8Array, at: number, length: number, position: number): number {
    return this.current.read(target, at, length, position)
  }

  write(bytes: Uint8Array, position: number): void {
    if (bytes.length === 0) return
    this.current.write(bytes, position)
    this.unsynced.push({ kind: 'write', position, bytes: bytes.slice() })
  }

  truncate(bytes: number): void {
    this.current.truncate(bytes)
    this.unsynced.push({ kind: 'truncate', bytes })
  }

  /** Names the changes made so far, for `syncTo` and `loseTo`. */
  mark(): number {
    return this.settled + this.unsynced.length
  }

  /** Changes before the mark are on the disk. */
  syncTo(mark: number): void {
    for (const change of this.takeTo(mark)) apply(this.durable, change)
  }

  /**
   * A failed sync: the system forgets that the pages were dirty. Reads still see them, no later sync writes them, and a power cut
   * takes them.
   */
  loseTo(mark: number): void {
    this.takeTo(mark)
  }

  /** Rot: one bit changes on the disk and in the page cache. */
  flipBit(position: number, bit: number): void {
    this.current.flipBit(position, bit)
    if (position < this.durable.size) this.durable.flipBit(position, bit)
  }

  /** What a reader finds after a power cut. By chance each unsynced change is there, missing, torn at a sector, or only its length is. */
  afterCrash(keep: KeepUnsynced): DiskFile {
    if (keep === 'all') return new DiskFile(this.current.view(), this.modifiedMs)
    const content = new GrowingBytes(this.durable.view())
    if (keep !== 'none') for (const change of this.unsynced) applySome(content, change, keep)
    return new DiskFile(content.view(), this.modifiedMs)
  }

  private takeTo(mark: number): Change[] {
    const count = Math.max(0, mark - this.settled)
    this.settled += Math.min(count, this.unsynced.length)
    return this.unsynced.splice(0, count)
  }
}

function apply(content: GrowingBytes, change: Change): void {
  if (change.kind === 'write') content.write(change.bytes, change.position)
  else content.truncate(change.bytes)
}

function applySome(content: GrowingBytes, change: Change, random: Random): void {
  const draw = random.fraction()
  if (change.kind === 'truncate') {
    if (draw < 0.5) apply(content, change)
    return
  }
  if (draw < 0.4) return apply(content, change)
  if (draw < 0.6) return
  if (draw < 0.85) {
    // Sectors lie at multiples of 512 of the file; a cut inside one never happens.
    const cut = change.position + Math.floor(random.fraction() * (change.bytes.length + 1))
    const end = Math.floor(cut / sectorBytes) * sectorBytes
    if (end > change.position) content.write(change.bytes.subarray(0, end - change.position), change.position)
    return
  }
  const end = change.position + change.bytes.length
  if (end > content.size) content.truncate(end)
}
