import { crc32c } from '../../../base/crc32c.ts'
import { type Uuid } from '../../../base/uuid.ts'
import { type File, type FileSystem } from '../../../kernel/ports/file-system.ts'
import { baseOffsetOf, batchBytesOf, batchChecksumStart, batchHeaderBytes, crcOf } from '../../../kernel/record/batch-header.ts'
import {
  batchSum, decodeSeal, decodeSumHeader, entryOffset, entryPosition, entrySum, SumChain, sealBytes, seedOf, sumEntryBytes, sumHeaderBytes, type SegmentSeal,
} from '../core/batch-sums.ts'
import { readWhole } from './index-file.ts'

/** What a `.sum` file says of its segment as a whole, and what is wrong with that. */
export interface SumsSummary {
  readonly topicId: Uuid
  readonly partition: number
  readonly baseOffset: number
  readonly entries: number
  /** Undefined: the segment is, or was when its process ended, the one that is appended to. */
  readonly seal: SegmentSeal | undefined
  /** Of the segment that lies beside it; undefined where none does: then no batch is checked. */
  readonly segmentBytes: number | undefined
  /** Bytes of the segment behind the batch of the last entry: of one that is not sealed, batches whose entries are not in the file yet. Undefined where that cannot be told. */
  readonly uncoveredBytes: number | undefined
  /** The entries themselves are not what was written: batches that do not match say nothing then. */
  readonly isUnsound: boolean
  /** In words, each. */
  readonly problems: readonly string[]
}

/** One batch, as it was when it was written. */
export interface SumEntry {
  readonly offset: number
  readonly position: number
  /** CRC-32C, bound to the place: see `batch-sums`. */
  readonly sum: number
  /** Why the batch is not what was written; null when it is. Undefined: there is no segment to look at. */
  readonly problem: string | null | undefined
}

export interface SumsReport {
  readonly summary: SumsSummary
  /** In the order of the file, each compared with its batch when it is asked for. The files are closed when they end, or are left. */
  entries(): Generator<SumEntry>
}

const chunkBytes = 1 << 20

/**
 * Reads the `.sum` file at a path, and compares it with the segment, and its indexes, if they lie beside it. Text says why the bytes are none. Nothing is
 * written; where a broker writes meanwhile, what is appended or cut between two reads may look like damage.
 */
export function reportSums(files: FileSystem, path: string): SumsReport | string {
  const bytes = readWhole(files, path) ?? new Uint8Array(0)
  const header = decodeSumHeader(bytes)
  if (header === undefined) return 'its header is none that this release writes (length, magic, version or checksum)'
  const stem = path.replace(/\.sum$/, '')
  const whole = Math.floor((bytes.length - sumHeaderBytes) / sumEntryBytes) * sumEntryBytes + sumHeaderBytes
  const seal = whole - sumHeaderBytes < sealBytes ? undefined : decodeSeal(bytes, whole - sealBytes, header.baseOffset)
  const end = seal === undefined ? whole : whole - sealBytes
  const segmentBytes = files.stat(`${stem}.log`)?.bytes
  const named = Number(/(\d{20})$/.exec(stem)?.[1] ?? header.baseOffset)
  const unsound = new SumChain(seedOf(bytes)).follow(bytes, sumHeaderBytes, whole)
  const problems = [
    ...named === header.baseOffset ? [] : [`it is of the segment that begins at ${header.baseOffset}`],
    ...bytes.length === whole ? [] : [`${bytes.length - whole} bytes behind its last entry are none`],
    ...unsound === undefined ? [] : [`${unsound}: these checksums are damaged themselves, and whatever does not match may be sound`],
    ...seal === undefined || segmentBytes === undefined ? [] : sealProblems(files, stem, seal, segmentBytes),
  ]
  const reading = { files, path: `${stem}.log`, bytes, end, seed: seedOf(bytes), baseOffset: header.baseOffset }
  const summary: SumsSummary = {
    topicId: header.topicId, partition: header.partition, baseOffset: header.baseOffset, entries: (end - sumHeaderBytes) / sumEntryBytes, seal, segmentBytes,
    uncoveredBytes: segmentBytes === undefined ? undefined : uncovered(reading, segmentBytes), isUnsound: unsound !== undefined, problems,
  }
  return { summary, entries: () => entriesOf(reading, segmentBytes) }
}

/** A segment that was appended to since the stop is longer than the seal says, and so may its indexes be. */
function sealProblems(files: FileSystem, stem: string, seal: SegmentSeal, segmentBytes: number): string[] {
  if (seal.kind === 'stopped' && segmentBytes > seal.sizeBytes) return []
  const problems = segmentBytes === seal.sizeBytes ? [] : [`the segment has ${segmentBytes} bytes, and had ${seal.sizeBytes}`]
  for (const [suffix, crc] of [['.index', seal.indexCrc], ['.timeindex', seal.timeIndexCrc]] as const) {
    const index = readWhole(files, `${stem}${suffix}`)
    if (index !== undefined && crc32c(index) !== crc) problems.push(`the ${suffix} is not what it was: a broker makes it anew`)
  }
  return problems
}

interface Reading {
  readonly files: FileSystem
  /** Of the segment. */
  readonly path: string
  /** Of the `.sum`. */
  readonly bytes: Uint8Array
  /** Of its entries. */
  readonly end: number
  readonly seed: number
  readonly baseOffset: number
}

function uncovered({ files, path, bytes, end }: Reading, segmentBytes: number): number | undefined {
  if (end === sumHeaderBytes) return segmentBytes
  const window = new SegmentWindow(files.open(path, 'read'), batchHeaderBytes)
  try {
    const position = entryPosition(bytes, end - sumEntryBytes)
    const header = window.from(position, batchHeaderBytes)
    const left = header.length < batchHeaderBytes ? -1 : segmentBytes - position - batchBytesOf(header, 0)
    return left < 0 ? undefined : left
  } finally {
    window.close()
  }
}

function* entriesOf(reading: Reading, segmentBytes: number | undefined): Generator<SumEntry> {
  const { files, path, bytes, end, baseOffset } = reading
  const window = segmentBytes === undefined ? undefined : new SegmentWindow(files.open(path, 'read'), chunkBytes)
  try {
    for (let at = sumHeaderBytes; at < end; at += sumEntryBytes) {
      const next = at + sumEntryBytes < end ? entryPosition(bytes, at + sumEntryBytes) : undefined
      yield {
        offset: baseOffset + entryOffset(bytes, at), position: entryPosition(bytes, at), sum: entrySum(bytes, at),
        problem: window === undefined ? undefined : batchProblem(reading, window, at, segmentBytes!, next) ?? null,
      }
    }
  } finally {
    window?.close()
  }
}

/** What is wrong with the batch of the entry at `at`; the one behind it begins at `next`. */
function batchProblem({ bytes, seed, baseOffset }: Reading, window: SegmentWindow, at: number, segmentBytes: number, next: number | undefined): string | undefined {
  const position = entryPosition(bytes, at)
  const header = window.from(position, batchHeaderBytes)
  if (header.length < batchHeaderBytes) return `the segment has ${segmentBytes} bytes, and ends before it`
  const found = baseOffsetOf(header, 0)
  if (batchSum(header, 0, position, seed) !== entrySum(bytes, at)) return 'its header is not what was written'
  if (found !== baseOffset + entryOffset(bytes, at)) return `it has the base offset ${found}`
  const end = position + batchBytesOf(header, 0)
  if (end > segmentBytes) return `the segment has ${segmentBytes} bytes, and ends within it`
  if (window.crc(position + batchChecksumStart, end) !== crcOf(window.from(position, batchHeaderBytes), 0)) return 'the CRC of the batch does not match'
  return next === undefined || next === end ? undefined : `it ends at ${end}, and the next one begins at ${next}`
}

/** A file, a piece in memory at a time. */
class SegmentWindow {
  private readonly file: File
  private readonly bytes: Uint8Array
  private start = 0
  private filled = 0

  constructor(file: File, sizeBytes: number) {
    this.file = file
    this.bytes = new Uint8Array(sizeBytes)
  }

  /** So many bytes from a position on, or more; fewer only at the end of the file. Valid until the next call. */
  from(position: number, length: number): Uint8Array {
    if (position < this.start || position + length > this.start + this.filled) {
      this.filled = this.file.read(this.bytes, 0, this.bytes.length, position)
      this.start = position
    }
    return this.bytes.subarray(position - this.start, this.filled)
  }

  /** Of the bytes of a range, as far as the file has them. */
  crc(start: number, end: number): number {
    let crc = 0
    for (let at = start; at < end;) {
      const piece = this.from(at, 1)
      const length = Math.min(piece.length, end - at)
      if (length === 0) break
      crc = crc32c(piece, 0, length, crc)
      at += length
    }
    return crc
  }

  close(): void {
    this.file.close()
  }
}
