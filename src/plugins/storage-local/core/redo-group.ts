import { crc32c } from '../../../base/crc32c.ts'
import { putInt32, putInt64, readInt32, readInt64 } from '../../../kernel/record/batch-header.ts'

/**
 * The redo log on disk: groups, each at a multiple of `redoBlockBytes` of its file, each a header and entries.
 *
 *   group   0 crc32c over all behind it   4 magic   8 version, three zeroes   12 bytes of header and entries   16 directory id
 *           32 generation of the file   40 sequence   48 covered   56 first needed   64 entries   68 run
 *   entry   0 kind, three zeroes   4 partition   8 topic id   24 offset   32 base offset of the segment   40 position in it
 *           44 bytes of the batch, which follows
 *
 * Every byte of a group is covered by its checksum but the checksum itself.
 */
export const redoBlockBytes = 512
export const groupHeaderBytes = 72
export const entryHeaderBytes = 48

const magic = 0x4d_52_52_44
const version = 1
const idBytes = 16

/** `batch`: bytes of a segment. `barrier`: the segments are on the disk below `offset`. `reset`: cut at `offset`. `removed`: the log is gone. */
export type RedoKind = 'batch' | 'barrier' | 'reset' | 'removed'
const kinds: readonly RedoKind[] = ['batch', 'barrier', 'reset', 'removed']

export interface RedoEntry {
  readonly kind: RedoKind
  readonly partition: number
  /** 16 bytes, a view. */
  readonly topicId: Uint8Array
  /** Of a batch where the log ended before it. */
  readonly offset: number
  readonly segmentBase: number
  readonly position: number
  /** The batch; empty for the other kinds. A view. */
  readonly bytes: Uint8Array
}

export interface RedoGroup {
  /** Counts the uses of the file; one that is used again has a higher one. */
  readonly generation: number
  /** Counts groups, without gaps, through all files of a run. */
  readonly sequence: number
  /** Tells the groups of one run from those of another. */
  readonly run: number
  /** All groups up to this one were on the disk when this one was written. */
  readonly covered: number
  /** What groups before this one hold is on the disk elsewhere. */
  readonly firstNeeded: number
  readonly entries: readonly RedoEntry[]
}

/** A batch that was written to its segment. One object is used again and again, so that an append makes none. */
export interface AppendedBatch {
  bytes: Uint8Array
  at: number
  length: number
  /** Where the log ended before it. */
  logEnd: number
  segmentBase: number
  position: number
}

/** What a group says of itself when it is written. */
export interface GroupStamp {
  readonly generation: number
  readonly sequence: number
  readonly run: number
  readonly covered: number
  readonly firstNeeded: number
}

/** Bytes that a group takes in its file. */
export const paddedBytes = (bytes: number): number => Math.ceil(bytes / redoBlockBytes) * redoBlockBytes

/** Collects the entries of the next group. One buffer is used again and again, and grows up to `bytesMax`. */
export class RedoGroupBuilder {
  private readonly directoryId: Uint8Array
  private readonly bytesMax: number
  private buffer: Uint8Array
  private end = groupHeaderBytes
  private count = 0

  constructor(directoryId: Uint8Array, bytesMax: number) {
    this.directoryId = Uint8Array.from(directoryId)
    this.bytesMax = paddedBytes(bytesMax)
    this.buffer = new Uint8Array(Math.min(this.bytesMax, 16_384))
  }

  get isEmpty(): boolean { return this.count === 0 }

  /** Of the group as it is, in its file. */
  get sizeBytes(): number { return paddedBytes(this.end) }

  /** Copies a batch. False when the group has no room for it; a single batch may be too large for any. */
  addBatch(topicId: Uint8Array, partition: number, { bytes, at, length, logEnd, segmentBase, position }: AppendedBatch): boolean {
    const { end } = this
    if (!this.makeRoom(entryHeaderBytes + length)) return false
    const { buffer } = this
    this.putHeader('batch', topicId, partition)
    putInt64(buffer, end + 24, logEnd)
    putInt64(buffer, end + 32, segmentBase)
    putInt32(buffer, end + 40, position)
    putInt32(buffer, end + 44, length)
    buffer.set(length === bytes.length ? bytes : bytes.subarray(at, at + length), end + entryHeaderBytes)
    this.end = end + entryHeaderBytes + length
    this.count++
    return true
  }

  /** False when the group has no room for it. */
  addMark(kind: 'barrier' | 'reset' | 'removed', topicId: Uint8Array, partition: number, offset: number): boolean {
    const { end } = this
    if (!this.makeRoom(entryHeaderBytes)) return false
    this.putHeader(kind, topicId, partition)
    this.buffer.fill(0, end + 24, end + entryHeaderBytes)
    putInt64(this.buffer, end + 24, offset)
    this.end = end + entryHeaderBytes
    this.count++
    return true
  }

  /** The bytes of the group, padded with zeroes; valid until the next call. Begins a new group. */
  seal({ generation, sequence, run, covered, firstNeeded }: GroupStamp): Uint8Array {
    const { buffer, end } = this
    const padded = paddedBytes(end)
    buffer.fill(0, end, padded)
    putInt32(buffer, 4, magic)
    putInt32(buffer, 8, version << 24)
    putInt32(buffer, 12, end)
    buffer.set(this.directoryId, 16)
    putInt64(buffer, 32, generation)
    putInt64(buffer, 40, sequence)
    putInt64(buffer, 48, covered)
    putInt64(buffer, 56, firstNeeded)
    putInt32(buffer, 64, this.count)
    putInt32(buffer, 68, run)
    putInt32(buffer, 0, crc32c(buffer, 4, end))
    this.clear()
    return buffer.subarray(0, padded)
  }

  /** Forgets the entries. */
  clear(): void {
    this.end = groupHeaderBytes
    this.count = 0
  }

  private putHeader(kind: RedoKind, topicId: Uint8Array, partition: number): void {
    const { buffer, end } = this
    putInt32(buffer, end, kinds.indexOf(kind) << 24)
    putInt32(buffer, end + 4, partition)
    for (let index = 0; index < idBytes; index++) buffer[end + 8 + index] = topicId[index]!
  }

  private makeRoom(bytes: number): boolean {
    const needed = paddedBytes(this.end + bytes)
    if (needed <= this.buffer.length) return true
    if (needed > this.bytesMax) return false
    const larger = new Uint8Array(Math.min(this.bytesMax, Math.max(needed, this.buffer.length * 2)))
    larger.set(this.buffer.subarray(0, this.end))
    this.buffer = larger
    return true
  }
}

/**
 * All whole groups of this directory in a file, or of any when none is named, in the order in which they lie there. What is none is stepped
 * over: a later one may lie behind it.
 */
export function* groupsIn(file: Uint8Array, directoryId?: Uint8Array): Generator<RedoGroup> {
  let at = 0
  while (at + groupHeaderBytes <= file.length) {
    const length = lengthOf(file, at, directoryId)
    const entries = length === undefined ? undefined : entriesOf(file, at, length)
    if (length === undefined || entries === undefined) {
      at += redoBlockBytes
      continue
    }
    yield {
      generation: readInt64(file, at + 32), sequence: readInt64(file, at + 40), run: readInt32(file, at + 68), covered: readInt64(file, at + 48), firstNeeded: readInt64(file, at + 56), entries,
    }
    at += paddedBytes(length)
  }
}

/** Of the group that begins there; undefined when none does. */
function lengthOf(file: Uint8Array, at: number, directoryId: Uint8Array | undefined): number | undefined {
  if (readInt32(file, at + 4) !== magic || readInt32(file, at + 8) !== version << 24) return undefined
  const length = readInt32(file, at + 12)
  if (length < groupHeaderBytes || length > file.length - at) return undefined
  for (let index = 0; directoryId !== undefined && index < idBytes; index++) if (file[at + 16 + index] !== directoryId[index]) return undefined
  return crc32c(file, at + 4, at + length) >>> 0 === readInt32(file, at) >>> 0 ? length : undefined
}

/** Undefined when what the checksum covers is nothing that was ever written so. */
function entriesOf(file: Uint8Array, start: number, length: number): RedoEntry[] | undefined {
  const end = start + length
  const entries: RedoEntry[] = []
  let at = start + groupHeaderBytes
  while (at < end) {
    if (end - at < entryHeaderBytes) return undefined
    const kind = kinds[file[at]!]
    const bytes = readInt32(file, at + 44)
    const offset = readInt64(file, at + 24)
    if (kind === undefined || bytes < 0 || bytes > end - at - entryHeaderBytes || !Number.isSafeInteger(offset)) return undefined
    entries.push({
      kind, offset,
      partition: readInt32(file, at + 4),
      topicId: file.subarray(at + 8, at + 24),
      segmentBase: readInt64(file, at + 32),
      position: readInt32(file, at + 40) >>> 0,
      bytes: file.subarray(at + entryHeaderBytes, at + entryHeaderBytes + bytes),
    })
    at += entryHeaderBytes + bytes
  }
  return entries.length === readInt32(file, start + 64) ? entries : undefined
}
