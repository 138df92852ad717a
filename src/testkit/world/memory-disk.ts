import { Prng } from '../../base/prng.ts'
import { type Clock, type Timers } from '../../kernel/ports/clock.ts'
import { type CrashChoice } from './crash-choice.ts'
import { type CrashOfDisk } from './disk-change.ts'
import { type DiskContent } from './disk-content.ts'
import { type DiskDirectory, type NamesReachDisk } from './disk-directory.ts'
import { type DiskFile } from './disk-file.ts'
import { type OtherPlace } from './block-damage.ts'
import { FaultCounts } from './fault-counts.ts'
import { FileFaults, type FileOperation, type Hit } from './file-faults.ts'

/** Contents of files that are gone, kept for the garbage in blocks that are given to others. */
const goneMax = 8

/** What the disk below is like. */
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
  /** The least that the disk writes whole. Default: one of both, drawn at each power cut, and 4096 for damage. */
  readonly blockBytes?: 512 | 4096
  /** A block that was given to a file but never written may hold bytes of files that are gone. Default false: zeros, as most systems have it. */
  readonly garbage?: boolean
  /** Default `ordered`, as journals have it. */
  readonly names?: NamesReachDisk
  /** Of what faults leave to chance. Default 1. */
  readonly faultSeed?: number
  /** Counts faults and what crashes took; file systems after a crash go on with it. */
  readonly counts?: FaultCounts
}

/** The device below a MemoryFileSystem and its open files: room, time, order, faults. */
export class MemoryDisk {
  readonly faults: FileFaults
  readonly root: DiskDirectory
  readonly options: MemoryFileSystemOptions
  /** Moves with every change of what the disk holds or would hold after a crash. */
  version = 0
  capacityBytes: number
  /** Counts the power cuts. */
  life: number
  observe: ((operation: FileOperation) => void) | undefined
  private lastNumber: number
  private readonly gone: DiskContent[]
  private used: number | undefined
  private stalled: (() => void)[] | undefined

  constructor(options: MemoryFileSystemOptions, root: DiskDirectory, before?: MemoryDisk) {
    const { faultSeed = 1, counts, capacityBytes = Infinity } = options
    this.options = options
    this.root = root
    this.capacityBytes = capacityBytes
    this.faults = new FileFaults(new Prng(faultSeed), counts ?? new FaultCounts())
    this.lastNumber = before?.lastNumber ?? 0
    this.life = before?.life ?? 0
    this.gone = before?.gone.slice() ?? []
  }

  /** Shows the call to who observes; says what happens to it. */
  begin(operation: FileOperation): Hit {
    this.options.observe?.(operation)
    this.observe?.(operation)
    return this.faults.check(operation)
  }

  /** Later, never before the caller has returned. */
  later(kind: 'sync' | 'read', delayMs: number, run: () => void): void {
    const { timers, syncMs, readMs } = this.options
    const end = (): void => {
      if (this.stalled === undefined) run()
      else this.stalled.push(run)
    }
    if (timers === undefined) queueMicrotask(end)
    else timers.after(delayMs + ((kind === 'sync' ? syncMs : readMs)?.() ?? 0), end)
  }

  /** No sync and no read off the loop ends until the function that this returns is called. */
  stall(): () => void {
    const waiting = this.stalled ??= []
    return () => {
      if (this.stalled !== waiting) return
      this.stalled = undefined
      for (const run of waiting) this.later('read', 0, run)
    }
  }

  /** The number of the next change. */
  next(): number {
    this.version++
    return ++this.lastNumber
  }

  nowMs(): number {
    return this.options.clock?.wallMs() ?? 0
  }

  get freeBytes(): number {
    return Math.max(0, this.capacityBytes - this.usedBytes())
  }

  /** The size of a file changed. */
  grew(file: DiskFile, bytes: number): void {
    if (this.used !== undefined && file.links > 0) this.used += bytes
  }

  /** A name of a file is gone; with the last one go its bytes. */
  unlinked(file: DiskFile): void {
    if (--file.links > 0) return
    if (this.used !== undefined) this.used -= file.size
    this.remember(file)
  }

  /** Bytes of this file are about to be given up. */
  remember(file: DiskFile): void {
    if (file.size === 0) return
    this.gone.push(file.content())
    if (this.gone.length > goneMax) this.gone.shift()
  }

  /** All files that have a name, in an order that depends on nothing but their history. */
  filesWithNames(): DiskFile[] {
    const files: DiskFile[] = []
    this.root.visit(node => {
      if (node.kind === 'file' && node.links > 0) files.push(node)
    })
    return files
  }

  get blockBytes(): number {
    return this.options.blockBytes ?? 4096
  }

  get names(): NamesReachDisk {
    return this.options.names ?? 'ordered'
  }

  crash(choice: CrashChoice, blockBytes: number): CrashOfDisk {
    return { choice, blockBytes, counts: this.faults.counts, staleBytes: (prng, bytes) => this.staleBytes(prng, bytes) }
  }

  /** A place of a block that is not the given one: half the time of the same file, if it has others. */
  elsewhere(file: DiskFile, position: number): OtherPlace | undefined {
    const { blockBytes, faults: { prng } } = this
    const places = (of: DiskFile): number => Math.ceil(of.size / blockBytes)
    const own = Math.floor(position / blockBytes)
    const others = this.filesWithNames().filter(each => each !== file && each.size > 0)
    const hereCount = places(file) - (own < places(file) ? 1 : 0)
    if (hereCount <= 0 && others.length === 0) return undefined
    if (others.length === 0 || (hereCount > 0 && prng.chance(0.5))) {
      const drawn = prng.below(hereCount)
      return { file, position: (drawn >= own ? drawn + 1 : drawn) * blockBytes + position % blockBytes }
    }
    const other = prng.pick(others)
    return { file: other, position: prng.below(places(other)) * blockBytes }
  }

  private staleBytes(prng: Prng, bytes: number): Uint8Array {
    if (this.gone.length === 0) return prng.bytes(bytes)
    const content = prng.pick(this.gone)
    return content.slice(prng.below(Math.ceil(content.size / bytes)) * bytes, bytes)
  }

  private usedBytes(): number {
    if (this.used === undefined) {
      this.used = 0
      for (const file of this.filesWithNames()) this.used += file.size
    }
    return this.used
  }
}
