import { BytesReader } from '../../base/bytes-reader.ts'
import { BytesWriter } from '../../base/bytes-writer.ts'
import { isBytesError } from '../../base/bytes-error.ts'
import { crc32c } from '../../base/crc32c.ts'
import { type Uuid } from '../../base/uuid.ts'
import { type LogPosition } from './log-entry.ts'

/*
 * Keys of a voter's store, in this order:
 *   'e' index(8)            an entry
 *   'h'                     hard state
 *   'p'                     pointer to the newest snapshot
 *   'q'                     pointer to the snapshot before it
 *   's' index(8) chunk(4)   a piece of a snapshot
 * Stores of format 1 have a hard state of node id and term alone, no 'q', and a second store with
 *   'w'                     position of the last entry that was acknowledged
 */
const tags = { entry: 0x65, hardState: 0x68, pointer: 0x70, previousPointer: 0x71, snapshot: 0x73, witness: 0x77 }

/** Raised when the keys or values change so that an older release would misread them. It stands in the hard state. */
export const storeFormat = 2
const firstFormat = 1

/** A snapshot is stored in pieces of so many bytes: large values are slow in log-structured stores. */
export const snapshotChunkBytes = 65_536

/** No vote was given in the term. */
export const noVote = -1

/**
 * All that a voter has promised, and whose it is. It is written with each batch of the store that changes any of it, and once more to the
 * witness.
 */
export interface HardState {
  readonly nodeId: number
  /** Zero until the first append: who appends has checked which cluster it is. */
  readonly clusterId: Uuid
  /** Of the directory that store and witness are in, drawn when it was made. */
  readonly directoryId: Uuid
  /** Of the writes to the witness: grows by one with each. */
  readonly sequence: number
  readonly term: number
  /** The node that got this voter's vote in the term, or `noVote`. */
  readonly vote: number
  /** Where the log ends. */
  readonly last: LogPosition
}

/** What a store of format 1 has in its place. */
export type FirstHardState = Pick<HardState, 'nodeId' | 'term'>

/** Which snapshot counts, and the place in the log that it stands for. */
export interface SnapshotPointer extends LogPosition {
  readonly bytes: number
  readonly crc: number
}

/** Where all that the voter has promised is stored. */
export const hardStateKey = Uint8Array.of(tags.hardState)
/** Where the store says which snapshot counts. */
export const pointerKey = Uint8Array.of(tags.pointer)
/** Where it says which snapshot was there before, to fall back to. */
export const previousPointerKey = Uint8Array.of(tags.previousPointer)
/** Where the second store of format 1 had the position of the last entry that was acknowledged. */
export const witnessKey = Uint8Array.of(tags.witness)

/** The key of the entry at an index. Keys are in the order of the indexes. */
export const entryKey = (index: number): Uint8Array => indexedKey(tags.entry, index)

/** -1 where a key has none: stores that check no keys hand out rotten ones. */
export function indexOfKey(key: Uint8Array): number {
  try {
    return new BytesReader(key, 1).int64()
  } catch (error) {
    if (isBytesError(error)) return -1
    throw error
  }
}

/** Every key that there may be. */
export const allKeys = { from: Uint8Array.of(0), to: Uint8Array.of(0xff) }
/** All entries from `index` on. */
export const entriesFrom = (index: number): { from: Uint8Array, to: Uint8Array } =>
  ({ from: entryKey(index), to: Uint8Array.of(tags.entry + 1) })
/** The range of keys that has the pieces of all snapshots, and nothing else. */
export const allSnapshots = { from: Uint8Array.of(tags.snapshot), to: Uint8Array.of(tags.snapshot + 1) }

/** The key of a piece of the snapshot at an index. Pieces are counted from 0, and are in this order in the store. */
export function chunkKey(index: number, chunk: number): Uint8Array {
  const writer = new BytesWriter(13)
  writer.uint8(tags.snapshot)
  writer.int64(index)
  writer.uint32(chunk)
  return writer.finish()
}

/** In how many pieces a snapshot of so many bytes is stored; none for 0. */
export const chunkCount = (bytes: number): number => Math.ceil(bytes / snapshotChunkBytes)

/** What is stored under `hardStateKey`, with a CRC, in the newest format. */
export function encodeHardState(state: HardState): Uint8Array {
  return sealed(storeFormat, (writer) => {
    writer.varlong(state.nodeId)
    writer.uuid(state.clusterId)
    writer.uuid(state.directoryId)
    writer.varlong(state.sequence)
    writer.varlong(state.term)
    writer.varlong(state.vote)
    writePosition(writer, state.last)
  })
}

/** As stores of format 1 had it: to make such a store, for tests of an upgrade. */
export function encodeFirstHardState(state: FirstHardState): Uint8Array {
  return sealed(firstFormat, (writer) => {
    writer.varlong(state.nodeId)
    writer.varlong(state.term)
  })
}

/** As stores of format 1 had their witness: to make such a store, for tests of an upgrade. */
export function encodePosition(position: LogPosition): Uint8Array {
  return sealed(firstFormat, (writer) => writePosition(writer, position))
}

/** What is stored under `pointerKey` and `previousPointerKey`, with a CRC. */
export function encodePointer(pointer: SnapshotPointer): Uint8Array {
  return sealed(firstFormat, (writer) => {
    writePosition(writer, pointer)
    writer.varlong(pointer.bytes)
    writer.uint32(pointer.crc)
  })
}

/** Each `decode` gives a reason instead when the bytes were changed or are of another format. */
export function decodeHardState(stored: Uint8Array): HardState | string {
  return unsealed(stored, storeFormat, 'the hard state', (reader) => ({
    nodeId: reader.varlong(), clusterId: reader.uuid(), directoryId: reader.uuid(), sequence: reader.varlong(), term: reader.varlong(),
    vote: reader.varlong(), last: readPosition(reader),
  }))
}

/** The hard state of a store of format 1; or, of bytes that are damaged or of another format, why they cannot be read. */
export const decodeFirstHardState = (stored: Uint8Array): FirstHardState | string =>
  unsealed(stored, firstFormat, 'the hard state', (reader) => ({ nodeId: reader.varlong(), term: reader.varlong() }))

/** The witness of a store of format 1; or, of bytes that are damaged or of another format, why they cannot be read. */
export const decodePosition = (stored: Uint8Array): LogPosition | string => unsealed(stored, firstFormat, 'the witness', readPosition)

/** The pointer; or, of bytes that are damaged or of another format, why they cannot be read. */
export const decodePointer = (stored: Uint8Array): SnapshotPointer | string =>
  unsealed(stored, firstFormat, 'the snapshot pointer', (reader) => ({ ...readPosition(reader), bytes: reader.varlong(), crc: reader.uint32() }))

/** The format of an intact value that has one. */
export function formatOf(stored: Uint8Array): number | undefined {
  return isIntact(stored) ? stored[0] : undefined
}

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
function sealed(format: number, write: (writer: BytesWriter) => void): Uint8Array {
  const writer = new BytesWriter(128)
  writer.uint8(format)
  write(writer)
  writer.uint32(crc32c(writer.bytes, 0, writer.position))
  return writer.finish()
}

function isIntact(stored: Uint8Array): boolean {
  const end = stored.length - 4
  return end >= 1 && new BytesReader(stored, end).uint32() === crc32c(stored, 0, end)
}

function unsealed<T>(stored: Uint8Array, format: number, what: string, read: (reader: BytesReader) => T): T | string {
  const end = stored.length - 4
  if (end < 1) return `${what} is cut short`
  if (!isIntact(stored)) return `${what} fails its checksum`
  if (stored[0] !== format) return `${what} has format ${stored[0]}, and this release reads ${format}`
  try {
    return read(new BytesReader(stored, 1, end))
  } catch (error) {
    if (isBytesError(error)) return `${what} is unreadable: ${error.message}`
    throw error
  }
}
