import { BytesReader } from '../../../base/bytes-reader.ts'
import { BytesWriter } from '../../../base/bytes-writer.ts'
import { isBytesError } from '../../../base/bytes-error.ts'
import { crc32c } from '../../../base/crc32c.ts'
import { type LogPosition } from './log-entry.ts'

/*
 * Keys of the log's store, in this order:
 *   'e' index(8)            an entry
 *   'h'                     hard state: format, node id, term
 *   'p'                     snapshot pointer
 *   's' index(8) chunk(4)   a piece of a snapshot
 * and of the witness's store:
 *   'w'                     position of the last entry that was acknowledged
 */
const tags = { entry: 0x65, hardState: 0x68, pointer: 0x70, snapshot: 0x73, witness: 0x77 }

/** Raised when the keys or values change so that an older release would misread them. */
export const storeFormat = 1

/** A snapshot is stored in pieces of so many bytes: large values are slow in log-structured stores. */
export const snapshotChunkBytes = 65_536

export interface HardState {
  readonly nodeId: number
  readonly term: number
}

/** Which snapshot counts, and the place in the log that it stands for. */
export interface SnapshotPointer extends LogPosition {
  readonly bytes: number
  readonly crc: number
}

export const hardStateKey = Uint8Array.of(tags.hardState)
export const pointerKey = Uint8Array.of(tags.pointer)
export const witnessKey = Uint8Array.of(tags.witness)

export const entryKey = (index: number): Uint8Array => indexedKey(tags.entry, index)
export const indexOfKey = (key: Uint8Array): number => new BytesReader(key, 1).int64()

/** All entries from `index` on. */
export const entriesFrom = (index: number): { from: Uint8Array, to: Uint8Array } =>
  ({ from: entryKey(index), to: Uint8Array.of(tags.entry + 1) })
export const allSnapshots = { from: Uint8Array.of(tags.snapshot), to: Uint8Array.of(tags.snapshot + 1) }

export function chunkKey(index: number, chunk: number): Uint8Array {
  const writer = new BytesWriter(13)
  writer.uint8(tags.snapshot)
  writer.int64(index)
  writer.uint32(chunk)
  return writer.finish()
}

export const chunkCount = (bytes: number): number => Math.ceil(bytes / snapshotChunkBytes)

export function encodeHardState(state: HardState): Uint8Array {
  return sealed((writer) => {
    writer.varlong(state.nodeId)
    writer.varlong(state.term)
  })
}

export function encodePosition(position: LogPosition): Uint8Array {
  return sealed((writer) => writePosition(writer, position))
}

export function encodePointer(pointer: SnapshotPointer): Uint8Array {
  return sealed((writer) => {
    writePosition(writer, pointer)
    writer.varlong(pointer.bytes)
    writer.uint32(pointer.crc)
  })
}

/** Each `decode` gives a reason instead when the bytes were changed or come from a newer release. */
export const decodeHardState = (stored: Uint8Array): HardState | string =>
  unsealed(stored, 'the hard state', (reader) => ({ nodeId: reader.varlong(), term: reader.varlong() }))

export const decodePosition = (stored: Uint8Array): LogPosition | string => unsealed(stored, 'the witness', readPosition)

export const decodePointer = (stored: Uint8Array): SnapshotPointer | string =>
  unsealed(stored, 'the snapshot pointer', (reader) => ({ ...readPosition(reader), bytes: reader.varlong(), crc: reader.uint32() }))

function indexedKey(tag: number, index: number): Uint8Array {
  const writer = new BytesWriter(9)
  writer.uint8(tag)
  writer.int64(index)
  return writer.finish()
}

function writePosition(writer: BytesWriter, position: LogPosition): void {
  writer.varlong(position.index)
  writer.varlong(position.term)
  writer.uint32(position.chain)
}

const readPosition = (reader: BytesReader): LogPosition => ({ index: reader.varlong(), term: reader.varlong(), chain: reader.uint32() })

/** Format, content, CRC-32C of both. */
function sealed(write: (writer: BytesWriter) => void): Uint8Array {
  const writer = new BytesWriter(64)
  writer.uint8(storeFormat)
  write(writer)
  writer.uint32(crc32c(writer.bytes, 0, writer.position))
  return writer.finish()
}

function unsealed<T>(stored: Uint8Array, what: string, read: (reader: BytesReader) => T): T | string {
  const end = stored.length - 4
  if (end < 1) return `${what} is cut short`
  if (stored[0] !== storeFormat) return `${what} has format ${stored[0]}, this release reads ${storeFormat}`
  if (new BytesReader(stored, end).uint32() !== crc32c(stored, 0, end)) return `${what} fails its checksum`
  try {
    return read(new BytesReader(stored, 1, end))
  } catch (error) {
    if (isBytesError(error)) return `${what} is unreadable: ${error.message}`
    throw error
  }
}
