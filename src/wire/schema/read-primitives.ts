import { type BytesReader } from '../../base/bytes-reader.ts'
import { utf8Length } from '../../base/bytes-writer.ts'
import { readText } from './text-cache.ts'

/**
 * What the compiled readers call. `short` forms have fixed-size lengths (non-flexible versions), `compact` ones have uvarint lengths.
 * All fail with BytesError; compile-codec.ts turns it into an error that names message and field.
 */

/** Elements of arrays that the message which is being read may still have, at all depths. */
let elementsLeft = Infinity
let elementsMax = Infinity

/** Begins a message. An element of a byte or two becomes an object of a hundred: counts that are true can still be too much. */
export function limitElements(most: number): void {
  elementsLeft = most
  elementsMax = most
}

const shortTextBytesMax = 0x7fff

const nullRefused = (reader: BytesReader): never =>
  reader.fail('malformed', 'value', reader.position, 'null is not allowed here')

export function shortTextOrNull(reader: BytesReader): string | null {
  const length = reader.int16()
  return length < 0 ? null : readShortText(reader, length)
}

export function shortText(reader: BytesReader): string {
  const length = reader.int16()
  return length < 0 ? nullRefused(reader) : readShortText(reader, length)
}

/** Bytes that are not UTF-8 become U+FFFD, of three bytes each. What has grown beyond a length of 16 bits could never be answered with. */
function readShortText(reader: BytesReader, length: number): string {
  const start = reader.position
  const text = readText(reader, length)
  if (length > shortTextBytesMax / 3 && utf8Length(text) > shortTextBytesMax) reader.fail('malformed', 'string', start, 'it is not UTF-8')
  return text
}

export function compactTextOrNull(reader: BytesReader): string | null {
  const length = reader.uvarint() - 1
  return length < 0 ? null : readText(reader, length)
}

export function compactText(reader: BytesReader): string {
  const length = reader.uvarint() - 1
  return length < 0 ? nullRefused(reader) : readText(reader, length)
}

export function shortBytesOrNull(reader: BytesReader): Uint8Array | null {
  const length = reader.int32()
  return length < 0 ? null : reader.slice(length)
}

export function shortBytes(reader: BytesReader): Uint8Array {
  const length = reader.int32()
  return length < 0 ? nullRefused(reader) : reader.slice(length)
}

export function compactBytesOrNull(reader: BytesReader): Uint8Array | null {
  const length = reader.uvarint() - 1
  return length < 0 ? null : reader.slice(length)
}

export function compactBytes(reader: BytesReader): Uint8Array {
  const length = reader.uvarint() - 1
  return length < 0 ? nullRefused(reader) : reader.slice(length)
}

/** The count of an array whose elements take at least `elementBytesMin` bytes; -1 for null. No count is believed that cannot be true. */
export function shortCountOrNull(reader: BytesReader, elementBytesMin: number): number {
  return checkedCount(reader, reader.int32(), elementBytesMin)
}

export function shortCount(reader: BytesReader, elementBytesMin: number): number {
  const count = shortCountOrNull(reader, elementBytesMin)
  return count < 0 ? nullRefused(reader) : count
}

export function compactCountOrNull(reader: BytesReader, elementBytesMin: number): number {
  return checkedCount(reader, reader.uvarint() - 1, elementBytesMin)
}

export function compactCount(reader: BytesReader, elementBytesMin: number): number {
  const count = compactCountOrNull(reader, elementBytesMin)
  return count < 0 ? nullRefused(reader) : count
}

function checkedCount(reader: BytesReader, count: number, elementBytesMin: number): number {
  if (count <= 0) return count
  if (count * elementBytesMin > reader.end - reader.position) countRefused(reader, count)
  if (count > elementsLeft) reader.fail('malformed', 'array', reader.position, `its arrays have more than the ${elementsMax} elements that are taken`)
  elementsLeft -= count
  return count
}

function countRefused(reader: BytesReader, count: number): never {
  reader.fail('short', 'array', reader.position, `it counts ${count} elements and ${reader.remaining} bytes are left`)
}

export function bool(reader: BytesReader): boolean {
  return reader.int8() !== 0
}

/** An int64 of which everything beyond ±(2^53 - 1) means the same: no bound, or an offset that no log reaches. */
export function saturatingInt64(reader: BytesReader): number {
  if (reader.remaining < 8) return reader.int64()
  const high = reader.view.getInt32(reader.position)
  if (high <= 0x1f_ffff && (high > -0x20_0000 || (high === -0x20_0000 && reader.view.getInt32(reader.position + 4) !== 0))) return reader.int64()
  reader.skip(8)
  return high > 0 ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER
}

/** Whether a struct that may be null is there. */
export function present(reader: BytesReader): boolean {
  return reader.int8() >= 0
}

/** Skips the tag buffer of a struct of which this version knows no tagged field. */
export function skipTags(reader: BytesReader): void {
  let count = reader.uvarint()
  while (count > 0) {
    reader.uvarint()
    reader.skip(reader.uvarint())
    count--
  }
}

/** Enters the value of a tagged field and gives where it ends; the reader may not leave it. */
export function tagEnd(reader: BytesReader): number {
  const size = reader.uvarint()
  if (size > reader.remaining) reader.fail('short', 'tagged field', reader.position, `its size is ${size} and ${reader.remaining} bytes are left`)
  return reader.position + size
}
