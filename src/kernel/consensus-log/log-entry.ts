import { BytesReader } from '../../base/bytes-reader.ts'
import { BytesWriter } from '../../base/bytes-writer.ts'
import { crc32c } from '../../base/crc32c.ts'

const entryVersion = 1

/** An agreed command at its place in the log. */
export interface LogEntry {
  readonly index: number
  readonly term: number
  readonly command: Uint8Array
  /** CRC-32C over index, term and command, continued from the chain of the entry before: it tells where in which history this entry stands. */
  readonly chain: number
}

/** The last entry of a log, or the place where an empty one begins. */
export interface LogPosition {
  readonly index: number
  readonly term: number
  readonly chain: number
}

/** The position of a log without an entry; the first entry follows it. */
export const emptyLog: LogPosition = { index: 0, term: 0, chain: 0 }

/** The entry that follows `previous`. The command is copied. */
export function nextEntry(previous: LogPosition, term: number, command: Uint8Array): LogEntry {
  const index = previous.index + 1
  return { index, term, command: command.slice(), chain: chainOf(previous.chain, index, term, command) }
}

/** What is stored under the entry's key. `decodeEntry` reads it, and finds damage by a CRC. */
export function encodeEntry(entry: LogEntry): Uint8Array {
  const writer = new BytesWriter(16 + entry.command.length)
  writer.uint8(entryVersion)
  writer.varlong(entry.term)
  writer.uint32(entry.chain)
  writer.raw(entry.command)
  return writer.finish()
}

/** Reads the entry stored under `index`, which must follow `previous`. Gives a reason instead when it does not, or was changed. */
export function decodeEntry(previous: LogPosition, index: number, stored: Uint8Array): LogEntry | string {
  if (index !== previous.index + 1) return `entry ${previous.index + 1} is missing, the next one is ${index}`
  const reader = new BytesReader(stored)
  if (stored.length < 6) return 'the entry is cut short'
  const version = reader.uint8()
  if (version !== entryVersion) return `the entry has version ${version}, this release reads ${entryVersion}`
  let term: number
  let chain: number
  try {
    term = reader.varlong()
    chain = reader.uint32()
  } catch {
    return 'the entry is cut short'
  }
  const command = stored.slice(reader.position)
  if (chainOf(previous.chain, index, term, command) !== chain) return 'its checksum does not follow from the entry before'
  if (term < previous.term) return `its term ${term} is below ${previous.term} of the entry before`
  return { index, term, command, chain }
}

const place = new BytesWriter(16)

function chainOf(previous: number, index: number, term: number, command: Uint8Array): number {
  place.reset()
  place.int64(index)
  place.int64(term)
  return crc32c(command, 0, command.length, crc32c(place.bytes, 0, 16, previous))
}
