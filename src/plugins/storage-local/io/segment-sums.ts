import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { isMillraceError } from '../../../kernel/errors/index.ts'
import { baseOffsetOf } from '../../../kernel/record/batch-header.ts'
import {
  batchSum, checkAfter, decodeSeal, encodeSeal, entryCheck, entryOffset, entryPosition, entrySum, putCheck, putEntry, sealBytes, seedOf,
  sumEntryBytes, sumHeaderBytes, type SegmentSeal,
} from '../core/batch-sums.ts'
import { sumsProblem } from './sums-problem.ts'

/** Entries that wait in memory before they go to the file between two checkpoints. */
const pendingMax = 1024
/** Entries that are read at a time. */
const windowEntries = 1024
const noBytes = new Uint8Array(0)

/**
 * The `.sum` file of one segment: see `batch-sums`. `unread` until something is asked of it, `kept` while it says something of every batch, `none`
 * when there is no such file or it was found to be wrong. A wrong one takes no record out of service: what it would have shown of the
 * fields that no CRC covers is not known until the scrubber has made it anew.
 *
 * What is asked is of batches that were there when this process began, or when the segment was opened again: those are all in the file.
 */
export class SegmentSums {
  readonly path: string
  private readonly world: { readonly files: FileSystem, readonly logger: Pick<Logger, 'warn'> }
  readonly header: Uint8Array
  private readonly seed: number
  private readonly baseOffset: number
  private state: 'unread' | 'kept' | 'none' = 'unread'
  /** Of the file, with its header; more may be there after a write that failed. */
  private fileBytes = 0
  /** Entries in the file, without its seal. */
  private filed = 0
  /** Of the last entry in the file; the seed before the first. */
  private lastCheck: number
  private sealed: SegmentSeal | undefined
  /** Entries that are not in the file yet, without checks. */
  private pending = noBytes
  private pendingCount = 0
  private dirty = false
  private whole = false
  private unsynced = false
  private window = noBytes
  private windowFirst = 0
  private windowCount = 0
  /** Of the entry that was asked for last. */
  private cursor = -1

  constructor(world: { readonly files: FileSystem, readonly logger: Pick<Logger, 'warn'> }, path: string, header: Uint8Array, baseOffset: number) {
    this.world = world
    this.path = path
    this.header = header
    this.seed = this.lastCheck = seedOf(header)
    this.baseOffset = baseOffset
  }

  /** Whether there are checksums to go by. */
  get isKept(): boolean {
    this.load()
    return this.state === 'kept'
  }

  get seal(): SegmentSeal | undefined {
    this.load()
    return this.sealed
  }

  /** Of a segment without a batch. A file of that name is of an earlier one. */
  begin(): void {
    this.world.files.remove(this.path)
    this.fileBytes = 0
    this.reset()
  }

  /** Begins anew, with no batch; the next write replaces the file. With `whole` nothing is written before they are closed. */
  reset(whole = false): void {
    this.state = 'kept'
    this.whole = whole
    this.filed = this.pendingCount = 0
    this.lastCheck = this.seed
    this.sealed = undefined
    this.dirty = true
    this.forgetWindow()
  }

  /** The batch whose header is at `at` was written at `position`, behind all others. Never throws: what cannot be written waits. */
  append(bytes: Uint8Array, at: number, position: number): void {
    if (this.state !== 'kept') return
    if (this.pendingCount >= pendingMax && !this.whole) this.writeIfRoom()
    const start = this.pendingCount * sumEntryBytes
    if (start === this.pending.length) {
      const larger = new Uint8Array(Math.max(64 * sumEntryBytes, start * 2))
      larger.set(this.pending)
      this.pending = larger
    }
    putEntry(this.pending, start, baseOffsetOf(bytes, at) - this.baseOffset, position, batchSum(bytes, at, position, this.seed))
    this.pendingCount++
    this.dirty = true
  }

  /** Writes what the file does not have yet, and cuts what it should not have. */
  write(): void {
    if (this.state !== 'kept' || !this.dirty) return
    if (this.filed + this.pendingCount === 0) {
      if (this.fileBytes > 0) this.world.files.remove(this.path)
      this.fileBytes = 0
      this.dirty = false
      return
    }
    let check = this.lastCheck
    for (let index = 0; index < this.pendingCount; index++) check = putCheck(this.pending, index * sumEntryBytes, check)
    const body = this.pending.subarray(0, this.pendingCount * sumEntryBytes)
    const seal = this.sealed === undefined ? noBytes : encodeSeal(this.sealed, this.baseOffset, check)
    const { end } = this
    const file = this.world.files.open(this.path, 'ensure')
    try {
      if (this.fileBytes > end) file.truncate(end)
      this.fileBytes = Infinity
      if (this.filed === 0) file.write([this.header, body, seal], 0)
      else file.write([body, seal], end)
      this.fileBytes = end + body.length + seal.length
    } finally {
      file.close()
    }
    this.filed += this.pendingCount
    this.pendingCount = 0
    this.lastCheck = check
    this.dirty = false
    this.unsynced = true
    this.forgetWindow()
  }

  /** The segment is complete, or its log stops. Of one that has no checksums nothing is said. */
  close(seal: SegmentSeal): void {
    if (!this.isKept) return
    this.sealed = seal
    this.dirty = true
    this.write()
    this.pending = noBytes
  }

  /** Makes durable what was written, off the event loop; at once where nothing is to be done. */
  sync(done: (error: unknown) => void): void {
    if (!this.unsynced) return done(undefined)
    this.unsynced = false
    try {
      if (this.world.files.stat(this.path) === undefined) return done(undefined)
      const file = this.world.files.open(this.path, 'update')
      file.sync(error => {
        file.close()
        done(error)
      })
    } catch (error) {
      done(error)
    }
  }

  /** Position of the last batch; -1 without one. */
  lastPosition(): number {
    this.load()
    return this.filed === 0 ? -1 : this.positionOf(this.filed - 1)
  }

  /** The segment is appended to from here on: it is no longer sealed. The file keeps its seal until there is something to write: of a log that nobody touches it is still there at the next start. */
  reopen(): void {
    if (this.isKept) this.sealed = undefined
  }

  /** There are other indexes now. */
  reseal(indexCrc: number, timeIndexCrc: number): void {
    if (!this.isKept || this.sealed === undefined) return
    this.sealed = { ...this.sealed, indexCrc, timeIndexCrc }
    this.dirty = true
    this.writeIfRoom()
  }

  /** The batches from `position` on are gone. Durable when it returns, so that no entry of them is ever taken for one of what comes in their place. */
  truncate(position: number): void {
    if (!this.isKept) return
    while (this.pendingCount > 0 && entryPosition(this.pending, (this.pendingCount - 1) * sumEntryBytes) >= position) this.pendingCount--
    while (this.filed > 0 && this.positionOf(this.filed - 1) >= position) this.filed--
    this.lastCheck = this.checkBefore(this.filed)
    this.sealed = undefined
    this.dirty = true
    this.forgetWindow()
    if (this.fileBytes === 0) return
    const file = this.world.files.open(this.path, 'update')
    try {
      if (this.fileBytes > this.end) file.truncate(this.end)
      this.fileBytes = Math.min(this.fileBytes, this.end)
      file.syncNow()
    } finally {
      file.close()
    }
  }

  /** What is wrong with the header of a batch, if the checksums say so; undefined also where they say nothing. */
  headerProblem(bytes: Uint8Array, at: number, position: number): string | undefined {
    if (!this.isKept) return undefined
    const index = this.indexAt(position)
    if (index >= 0 ? this.agrees(index, bytes, at, position) : this.isBeyond(position)) return undefined
    return this.blame(index < 0 ? 'no batch begins there' : 'the header of the batch is not what was written')
  }

  /** What is wrong with a segment of so many bytes, behind which the next one begins at `nextBase`, or none. These say that a batch is at `placed`; -1 for none. */
  endProblem(sizeBytes: number, nextBase: number | undefined, placed = -1): string | undefined {
    const { seal } = this
    if (placed >= sizeBytes) return this.blame(`the file has ${sizeBytes} bytes, and a batch began at ${placed}`)
    if (seal === undefined) return undefined
    const grown = seal.kind === 'stopped' && sizeBytes > seal.sizeBytes
    if (sizeBytes !== seal.sizeBytes && !grown) return this.blame(`the file has ${sizeBytes} bytes, and had ${seal.sizeBytes}`)
    if (seal.kind !== 'closed' || nextBase === undefined || nextBase === seal.endOffset) return undefined
    return this.blame(`the segment from ${seal.endOffset} on is missing: the next one begins at ${nextBase}`)
  }

  /** The seal, if every entry is what was written. Reads all of them. */
  soundSeal(): SegmentSeal | undefined {
    return this.seal === undefined || this.unsound() !== undefined ? undefined : this.seal
  }

  /** Something that does not fit with a batch being where they say. Undefined when it is these that are wrong. */
  judge(reason: string): string | undefined {
    return this.isKept ? this.blame(reason) : reason
  }

  /** Where the last batch begins that may hold `offset`; the first one where all are above. -1 when nothing is known. */
  placeOf(offset: number): number {
    if (!this.isKept || this.filed === 0) return -1
    return this.positionOf(Math.max(0, this.floor(at => entryOffset(this.window, at) <= offset - this.baseOffset)))
  }

  /** First offset of the batch at `position` and of what follows it, as far as the entries that say so are what was written; undefined where that is not known. */
  offsetsAt(position: number): { readonly first: number, readonly next: number | undefined, readonly end: number | undefined } | undefined {
    const index = this.isKept ? this.indexAt(position) : -1
    if (index < 0 || !this.isIntact(index)) return undefined
    const entry = this.entry(index)
    const first = this.baseOffset + entryOffset(this.window, entry)
    const seal = index + 1 === this.filed ? this.soundSeal() : undefined
    if (index + 1 === this.filed || !this.isIntact(index + 1)) return { first, next: seal?.endOffset, end: seal?.sizeBytes }
    const next = this.entry(index + 1)
    return { first, next: this.baseOffset + entryOffset(this.window, next), end: entryPosition(this.window, next) }
  }

  /** Whether an intact entry says something else of this batch: for recovery, which knows that all entries up to here are of batches before it. */
  recall(index: number, bytes: Uint8Array, at: number, position: number): 'agrees' | 'differs' | 'nothing' {
    if (!this.isKept || index >= this.filed || !this.isIntact(index)) return 'nothing'
    return this.agrees(index, bytes, at, position) ? 'agrees' : 'differs'
  }

  /** Keeps the first `count` entries of the file, and goes on behind them. */
  keepFirst(count: number): void {
    this.filed = count
    this.pendingCount = 0
    this.lastCheck = this.checkBefore(count)
    this.sealed = undefined
    this.dirty = true
  }

  /** Index of the entry of the batch at `position`; -1 without one. */
  indexAt(position: number): number {
    this.load()
    const next = this.cursor + 1
    if (next < this.filed && this.positionOf(next) === position) return this.cursor = next
    const found = this.floor(at => entryPosition(this.window, at) <= position)
    return found < 0 || this.positionOf(found) !== position ? -1 : this.cursor = found
  }

  /** They are wrong, or do not say all: they are not asked again, and the file is removed. */
  giveUp(reason: string): void {
    if (this.state === 'none') return
    this.state = 'none'
    this.sealed = undefined
    this.pending = noBytes
    this.forgetWindow()
    this.world.logger.warn('the checksums of a segment were given up: they are made anew when it is closed and the scrubber reads it', { path: this.path, reason })
    this.world.files.remove(this.path)
  }

  /** Memory is given back; what is asked later is read again. */
  forgetWindow(): void {
    this.window = noBytes
    this.windowFirst = this.windowCount = 0
    this.cursor = -1
  }

  private get end(): number { return sumHeaderBytes + this.filed * sumEntryBytes }

  private agrees(index: number, bytes: Uint8Array, at: number, position: number): boolean {
    const entry = this.entry(index)
    return entryPosition(this.window, entry) === position && entryOffset(this.window, entry) === baseOffsetOf(bytes, at) - this.baseOffset &&
      entrySum(this.window, entry) === batchSum(bytes, at, position, this.seed)
  }

  /** Behind the last batch that they know of a segment that was appended to by somebody who keeps none. */
  private isBeyond(position: number): boolean {
    return this.sealed?.kind !== 'closed' && position > this.lastPosition()
  }

  /** Something does not fit: gives the reason, unless it is these checksums that are wrong. */
  private blame(reason: string): string | undefined {
    const unsound = this.unsound()
    if (unsound === undefined) return reason
    this.giveUp(unsound)
    return undefined
  }

  /** By two reads: the first may be at fault. */
  private unsound(): string | undefined {
    const problem = (): string | undefined => sumsProblem(this.world.files, this.path, this.header, this.end + (this.sealed === undefined || this.dirty ? 0 : sealBytes))
    return problem() === undefined ? undefined : problem()
  }

  private load(): void {
    if (this.state !== 'unread') return
    this.state = 'none'
    const stat = this.world.files.stat(this.path)
    if (stat?.kind !== 'file') return
    this.state = 'kept'
    this.fileBytes = stat.bytes
    const entries = Math.max(0, Math.floor((stat.bytes - sumHeaderBytes) / sumEntryBytes))
    const held = Math.min(entries, windowEntries)
    const bytes = new Uint8Array(sumHeaderBytes + held * sumEntryBytes)
    const file = this.world.files.open(this.path, 'read')
    try {
      file.read(bytes, 0, held === entries ? bytes.length : sumHeaderBytes, 0)
      if (held < entries) file.read(bytes, sumHeaderBytes, held * sumEntryBytes, sumHeaderBytes + (entries - held) * sumEntryBytes)
    } finally {
      file.close()
    }
    if (this.header.some((byte, index) => byte !== bytes[index])) return this.giveUp('its header is not that of this segment')
    this.window = bytes.subarray(sumHeaderBytes)
    this.sealed = held < 2 ? undefined : decodeSeal(this.window, (held - 2) * sumEntryBytes, this.baseOffset)
    const sealEntries = this.sealed === undefined ? 0 : 2
    this.filed = entries - sealEntries
    this.windowFirst = entries - held
    this.windowCount = held - sealEntries
    this.dirty = stat.bytes !== this.end + sealEntries * sumEntryBytes
    this.lastCheck = this.checkBefore(this.filed)
  }

  private positionOf(index: number): number {
    const entry = this.entry(index)
    return entryPosition(this.window, entry)
  }

  private checkBefore(index: number): number {
    const entry = index === 0 ? -1 : this.entry(index - 1)
    return entry < 0 ? this.seed : entryCheck(this.window, entry)
  }

  /** Whether the entry follows the one before it as it was written. */
  private isIntact(index: number): boolean {
    const before = this.checkBefore(index)
    const entry = this.entry(index)
    return checkAfter(this.window, entry, before) === entryCheck(this.window, entry)
  }

  /** Index of the last entry in the file of which something is true that is true of none behind one of which it is not. */
  private floor(isTrue: (at: number) => boolean): number {
    let low = 0
    let high = this.filed
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isTrue(this.entry(middle))) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** Brings the entry of the file into the window, which may be another one then; gives where it is there. */
  private entry(index: number): number {
    if (index < this.windowFirst || index >= this.windowFirst + this.windowCount) {
      const first = Math.max(0, Math.min(index - 64, this.filed - windowEntries))
      const count = Math.min(windowEntries, this.filed - first)
      // What the file has no longer reads as zeroes, which no entry is.
      this.window = new Uint8Array(count * sumEntryBytes)
      const file = this.world.files.open(this.path, 'read')
      try {
        file.read(this.window, 0, this.window.length, sumHeaderBytes + first * sumEntryBytes)
      } finally {
        file.close()
      }
      this.windowFirst = first
      this.windowCount = count
    }
    return (index - this.windowFirst) * sumEntryBytes
  }

  /** No room on the disk, or no more files to open: it is written another time. What is worse is found where the segment is synced. */
  private writeIfRoom(): void {
    try {
      this.write()
    } catch (error) {
      if (!isMillraceError(error)) throw error
    }
  }
}
