import { type BytesWriter, utf8Length } from '../../base/bytes-writer.ts'
import { isUuid } from '../../base/uuid.ts'
import { MillraceError } from '../../kernel/errors/index.ts'

/** What the compiled writers call. `at` names the field in errors: message and path. */

/** Record batches above this size are sent from where they lie; below it a copy is cheaper than one more piece for the socket to gather. */
export const pieceBytesMin = 4096

export function refuse(at: string, reason: string): never {
  throw new MillraceError('MR_PROTOCOL_UNWRITABLE', { what: at, reason })
}

export function refuseValue(at: string, value: unknown, expected: string): never {
  const shown = typeof value === 'number' || typeof value === 'string' || value === null ? String(value) : `a value of type ${typeof value}`
  refuse(at, `${shown} is not ${expected}`)
}

export function refuseInVersion(at: string, version: number): never {
  throw new MillraceError('MR_PROTOCOL_FIELD_VERSION', { what: at, version })
}

/** Of so few UTF-16 units the UTF-8 form is at most 126 bytes, whose length plus one is a single byte. */
const oneByteLengthUnits = 42

export function compactText(writer: BytesWriter, text: string, at: string): void {
  if (typeof text !== 'string') refuseValue(at, text, 'a string')
  if (text.length <= oneByteLengthUnits) {
    const lengthAt = writer.reserve(1)
    writer.patchInt8(lengthAt, writer.utf8(text) + 1)
    return
  }
  writer.uvarint(utf8Length(text) + 1)
  writer.utf8(text)
}

export function shortText(writer: BytesWriter, text: string, at: string): void {
  if (typeof text !== 'string') refuseValue(at, text, 'a string')
  const lengthAt = writer.reserve(2)
  const length = writer.utf8(text)
  if (length > 0x7fff) refuse(at, `its ${length} bytes are more than the 32767 that fit`)
  writer.patchInt16(lengthAt, length)
}

export function compactBytes(writer: BytesWriter, bytes: Uint8Array, at: string): void {
  if (!(bytes instanceof Uint8Array)) refuseValue(at, bytes, 'a Uint8Array')
  writer.uvarint(bytes.length + 1)
  writer.raw(bytes)
}

export function shortBytes(writer: BytesWriter, bytes: Uint8Array, at: string): void {
  if (!(bytes instanceof Uint8Array)) refuseValue(at, bytes, 'a Uint8Array')
  writer.int32(bytes.length)
  writer.raw(bytes)
}

export function compactRecords(writer: BytesWriter, bytes: Uint8Array, at: string): void {
  if (!(bytes instanceof Uint8Array)) refuseValue(at, bytes, 'a Uint8Array')
  writer.uvarint(bytes.length + 1)
  recordBytes(writer, bytes)
}

export function shortRecords(writer: BytesWriter, bytes: Uint8Array, at: string): void {
  if (!(bytes instanceof Uint8Array)) refuseValue(at, bytes, 'a Uint8Array')
  writer.int32(bytes.length)
  recordBytes(writer, bytes)
}

function recordBytes(writer: BytesWriter, bytes: Uint8Array): void {
  if (bytes.length > pieceBytesMin) writer.piece(bytes)
  else writer.raw(bytes)
}

export function uuid(writer: BytesWriter, value: string, at: string): void {
  if (typeof value !== 'string') refuseValue(at, value, 'an id of 22 characters')
  try {
    writer.uuid(value)
  } catch (error) {
    if (isUuid(value)) throw error
    refuseValue(at, value, 'an id of 22 characters')
  }
}

export function isArray(value: unknown, at: string): void {
  if (!Array.isArray(value)) refuseValue(at, value, 'an array')
}
