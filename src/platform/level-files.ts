import { crc32c } from '../base/crc32c.ts'
import { joined } from './codecs/native-codec.ts'

/*
 * The files of a LevelDB, read without it: its binding never verifies the checksums of tables, and ends the process on some of what rot makes
 * of them. Formats: doc/log_format.md and doc/table_format.md of LevelDB; all numbers are little-endian.
 *   log       blocks of 32 KiB; record = masked CRC-32C(4) of type and data, length(2), type(1), data
 *   batch     sequence(8) count(4), then kind(1), key and, of a put, value, each behind its length
 *   table     blocks, each with compression(1) and masked CRC-32C(4) behind it; footer(48) = handles of metaindex and index, magic
 *   block     entries: shared, unshared, value length, unshared bytes of the key, value; then restart points(4 each) and their count(4)
 */

export interface LevelPair {
  readonly key: Uint8Array
  /** Undefined: a removal. */
  readonly value: Uint8Array | undefined
  /** Of the write; the highest counts. */
  readonly sequence: number
}

/** What of a table is intact, and what is not, in words that go on after its name. */
export interface TableReading {
  readonly pairs: readonly LevelPair[]
  readonly fault: string | undefined
}

export type Uncompress = (bytes: Uint8Array) => Uint8Array

const logBlockBytes = 32_768
const logHeaderBytes = 7
const footerBytes = 48
const trailerBytes = 5

/** Records of a log whose checksums are right, in order. What follows a damaged one in its block is skipped, as LevelDB does. */
export function* logRecords(log: Uint8Array): Generator<Uint8Array> {
  let parts: Uint8Array[] | undefined
  for (let block = 0; block < log.length; block += logBlockBytes) {
    const end = Math.min(log.length, block + logBlockBytes)
    for (let at = block; at + logHeaderBytes <= end;) {
      const length = log[at + 4]! | (log[at + 5]! << 8)
      const type = log[at + 6]!
      const next = at + logHeaderBytes + length
      if (next > end || type < 1 || type > 4 || unmasked(uint32(log, at)) !== crc32c(log, at + 6, next)) {
        parts = undefined
        break
      }
      const data = log.subarray(at + logHeaderBytes, next)
      if (type === 1) yield data
      if (type === 2) parts = [data]
      else if (type === 1) parts = undefined
      else if (parts !== undefined) {
        parts.push(data)
        if (type === 4) {
          yield joined(parts)
          parts = undefined
        }
      }
      at = next
    }
  }
}

/** What a record of a write-ahead log wrote; undefined when it is none. */
export function batchPairs(record: Uint8Array): readonly LevelPair[] | undefined {
  return attempt(() => {
    const reader = new LevelReader(record)
    const first = reader.fixed64()
    const count = reader.fixed32()
    const pairs: LevelPair[] = []
    while (!reader.atEnd) {
      const kind = reader.byte()
      const key = reader.piece(reader.varint())
      pairs.push({ key, value: kind === 1 ? reader.piece(reader.varint()) : undefined, sequence: first + pairs.length })
    }
    return pairs.length === count ? pairs : undefined
  })
}

/** The files that a MANIFEST says are in use, by their numbers. */
export interface FilesInUse {
  readonly tables: ReadonlySet<number>
  /** The write-ahead log that the next open reads; 0 for none yet. Its name was on the disk before the MANIFEST said so. */
  readonly log: number
}

/** Undefined when the MANIFEST cannot be read. */
export function filesInUse(manifest: Uint8Array): FilesInUse | undefined {
  return attempt(() => {
    const inUse = { tables: new Set<number>(), log: 0 }
    for (const record of logRecords(manifest)) applyEdit(new LevelReader(record), inUse)
    return inUse
  })
}

function applyEdit(reader: LevelReader, inUse: { readonly tables: Set<number>, log: number }): void {
  const { tables } = inUse
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === 1) reader.piece(reader.varint())
    else if (tag === 2) inUse.log = reader.varint()
    else if (tag === 3 || tag === 4 || tag === 9) reader.varint()
    else if (tag === 5) {
      reader.varint()
      reader.piece(reader.varint())
    } else if (tag === 6) {
      reader.varint()
      tables.delete(reader.varint())
    } else if (tag === 7) {
      reader.varint()
      tables.add(reader.varint())
      reader.varint()
      reader.piece(reader.varint())
      reader.piece(reader.varint())
    } else throw new RangeError('an unknown tag')
  }
}

/** Reads a table with all its checksums. */
export function readTable(table: Uint8Array, uncompress: Uncompress): TableReading {
  const footer = table.length < footerBytes ? undefined : new LevelReader(table.subarray(table.length - footerBytes))
  if (footer === undefined || uint32(table, table.length - 8) !== 0x8b80_fb57 || uint32(table, table.length - 4) !== 0xdb47_7524) return { pairs: [], fault: 'it has no footer' }
  const handles = attempt(() => [footer.handle(), footer.handle()] as const)
  const index = handles === undefined ? undefined : blockEntries(table, handles[1], uncompress)
  const metaindex = handles === undefined ? undefined : blockEntries(table, handles[0], uncompress)
  if (index === undefined) return { pairs: [], fault: 'its index fails its checksum' }
  let fault = metaindex === undefined ? 'its metaindex fails its checksum' : undefined
  for (const [, value] of metaindex ?? []) {
    const handle = attempt(() => new LevelReader(value).handle())
    if (handle === undefined || blockContent(table, handle, uncompress) === undefined) fault ??= 'its filter fails its checksum'
  }
  const pairs: LevelPair[] = []
  for (const [, value] of index) {
    const handle = attempt(() => new LevelReader(value).handle())
    const entries = handle === undefined ? undefined : blockEntries(table, handle, uncompress)
    const read = entries?.map(pairOf)
    if (read === undefined || read.includes(undefined)) fault ??= `its block at ${handle?.offset ?? 'an unknown place'} fails its checksum`
    for (const pair of read ?? []) if (pair !== undefined) pairs.push(pair)
  }
  return { pairs, fault }
}

interface Handle {
  readonly offset: number
  readonly size: number
}

function blockContent(table: Uint8Array, { offset, size }: Handle, uncompress: Uncompress): Uint8Array | undefined {
  const end = offset + size
  if (end + trailerBytes > table.length || unmasked(uint32(table, end + 1)) !== crc32c(table, offset, end + 1)) return undefined
  const stored = table.subarray(offset, end)
  return table[end] === 0 ? stored : attempt(() => uncompress(stored))
}

function blockEntries(table: Uint8Array, handle: Handle, uncompress: Uncompress): (readonly [Uint8Array, Uint8Array])[] | undefined {
  const content = blockContent(table, handle, uncompress)
  if (content === undefined || content.length < 4) return undefined
  return attempt(() => {
    const reader = new LevelReader(content.subarray(0, content.length - 4 - 4 * uint32(content, content.length - 4)))
    const entries: (readonly [Uint8Array, Uint8Array])[] = []
    let key = new Uint8Array(0)
    while (!reader.atEnd) {
      const [shared, unshared, valueLength] = [reader.varint(), reader.varint(), reader.varint()]
      if (shared > key.length) throw new RangeError('more of a key than there is')
      const next = new Uint8Array(shared + unshared)
      next.set(key.subarray(0, shared))
      next.set(reader.piece(unshared), shared)
      key = next
      entries.push([key, reader.piece(valueLength)])
    }
    return entries
  })
}

/** Of an entry of a table: behind its key are kind(1) and sequence(7). */
function pairOf([internal, value]: readonly [Uint8Array, Uint8Array]): LevelPair | undefined {
  const end = internal.length - 8
  if (end < 0) return undefined
  const sequence = new LevelReader(internal.subarray(end + 1)).fixed(7)
  return { key: internal.subarray(0, end), value: internal[end] === 1 ? value : undefined, sequence }
}

/** Undefined where bytes are not what they should be. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const uint32 = (bytes: Uint8Array, at: number): number => (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0

/** LevelDB stores CRCs rotated and moved, so that a CRC of bytes that hold CRCs means something. */
function unmasked(masked: number): number {
  const rotated = (masked - 0xa282_ead8) >>> 0
  return ((rotated >>> 17) | (rotated << 15)) >>> 0
}

/** Reads on; throws RangeError at the end. */
class LevelReader {
  private readonly bytes: Uint8Array
  private at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get atEnd(): boolean {
    return this.at >= this.bytes.length
  }

  byte(): number {
    if (this.atEnd) throw new RangeError('the bytes end')
    return this.bytes[this.at++]!
  }

  piece(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new RangeError('the bytes end')
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }

  fixed(length: number): number {
    return this.piece(length).reduceRight((value, byte) => value * 256 + byte, 0)
  }

  fixed32(): number {
    return this.fixed(4)
  }

  fixed64(): number {
    return this.fixed(8)
  }

  varint(): number {
    let value = 0
    for (let factor = 1; factor <= 2 ** 49; factor *= 128) {
      const byte = this.byte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
    throw new RangeError('a number is too long')
  }

  handle(): Handle {
    return { offset: this.varint(), size: this.varint() }
  }
}
