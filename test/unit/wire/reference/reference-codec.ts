import { type FactField, type FactMessage, type Range } from './kafka-grammar.ts'

/**
 * A codec that walks the facts field by field, as slow and as plain as can be, over Buffer and bigint: a second opinion on the compiled
 * codecs, which share none of it.
 */

export type Message = Record<string, unknown>

const holds = (range: Range | undefined, version: number): boolean => range !== undefined && version >= range.min && version <= range.max
const zeroUuid = Buffer.alloc(16).toString('base64url')

export function defaultOf(field: FactField): unknown {
  const text = field.default
  if (text === 'null') return null
  if (field.isArray) return []
  if (field.fields.length > 0) return Object.fromEntries(field.fields.map(inner => [inner.name, defaultOf(inner)]))
  switch (field.type) {
    case 'bool': return text === 'true'
    case 'string': return (text ?? '').replaceAll('"', '')
    case 'bytes':
    case 'records': return new Uint8Array(0)
    case 'uuid': return zeroUuid
    default: return Math.min(Number(text ?? 0), Number.MAX_SAFE_INTEGER)
  }
}

const isTagged = (field: FactField, version: number): boolean => holds(field.tagVersions, version)
const sameAsDefault = (field: FactField, value: unknown): boolean => JSON.stringify(value) === JSON.stringify(defaultOf(field))

// --- encoding ---

export interface EncodeOptions {
  /** Puts a tagged field that no version has into every tag buffer. */
  unknownTag?: number
}

export function encode(message: FactMessage, version: number, value: Message, options: EncodeOptions = {}): Buffer {
  const parts: Parts = { list: [], options }
  encodeStruct(parts, message.fields, version, holds(message.flexible, version), value)
  return Buffer.concat(parts.list)
}

interface Parts { list: Buffer[]; options: EncodeOptions }

function uvarint(value: number): Buffer {
  const bytes: number[] = []
  let rest = BigInt(value)
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}

function integer(size: number, value: number | bigint): Buffer {
  const buffer = Buffer.alloc(8)
  buffer.writeBigInt64BE(BigInt(value))
  return buffer.subarray(8 - size)
}

function encodeStruct(parts: Parts, fields: FactField[], version: number, flexible: boolean, value: Message): void {
  const present = fields.filter(field => holds(field.versions, version))
  for (const field of present) {
    if (!isTagged(field, version)) encodeField(parts, field, version, flexible, value[field.name])
  }
  if (!flexible) return
  const tagged = present.filter(field => isTagged(field, version) && !sameAsDefault(field, value[field.name])).sort((a, b) => a.tag! - b.tag!)
  const { unknownTag } = parts.options
  parts.list.push(uvarint(tagged.length + (unknownTag === undefined ? 0 : 1)))
  for (const field of tagged) {
    const inner: Parts = { list: [], options: parts.options }
    encodeField(inner, field, version, true, value[field.name])
    const data = Buffer.concat(inner.list)
    parts.list.push(uvarint(field.tag!), uvarint(data.length), data)
  }
  if (unknownTag !== undefined) parts.list.push(uvarint(unknownTag), uvarint(5), Buffer.from('extra'))
}

function encodeField(parts: Parts, field: FactField, version: number, flexible: boolean, value: unknown): void {
  if (!field.isArray) {
    encodeValue(parts, field, version, flexible, value, holds(field.nullable, version))
    return
  }
  if (value === null) {
    parts.list.push(flexible ? uvarint(0) : integer(4, -1))
    return
  }
  const items = value as unknown[]
  parts.list.push(flexible ? uvarint(items.length + 1) : integer(4, items.length))
  for (const item of items) encodeValue(parts, field, version, flexible, item, false)
}

function encodeValue(parts: Parts, field: FactField, version: number, flexible: boolean, value: unknown, nullable: boolean): void {
  if (field.fields.length > 0) {
    if (nullable) parts.list.push(integer(1, value === null ? -1 : 1))
    if (value !== null) encodeStruct(parts, field.fields, version, flexible, value as Message)
    return
  }
  const lengthBytes = field.type === 'string' ? 2 : 4
  switch (field.type) {
    case 'string':
    case 'bytes':
    case 'records': {
      if (value === null) parts.list.push(flexible ? uvarint(0) : integer(lengthBytes, -1))
      else {
        const data = typeof value === 'string' ? Buffer.from(value, 'utf8') : Buffer.from(value as Uint8Array)
        parts.list.push(flexible ? uvarint(data.length + 1) : integer(lengthBytes, data.length), data)
      }
      return
    }
    case 'uuid': parts.list.push(Buffer.from(value as string, 'base64url')); return
    case 'bool': parts.list.push(integer(1, value === true ? 1 : 0)); return
    case 'float64': {
      const buffer = Buffer.alloc(8)
      buffer.writeDoubleBE(value as number)
      parts.list.push(buffer)
      return
    }
    default: parts.list.push(integer(sizeOf(field.type), value as number))
  }
}

function sizeOf(type: string): number {
  const bits = Number(/^u?int(\d+)$/.exec(type)?.[1])
  if (Number.isNaN(bits)) throw new Error(`the facts have an unknown type ${type}`)
  return bits / 8
}

// --- decoding ---

export function decode(message: FactMessage, version: number, bytes: Uint8Array): { value: Message; rest: number } {
  const cursor = { bytes: Buffer.from(bytes), at: 0 }
  const value = decodeStruct(cursor, message.fields, version, holds(message.flexible, version))
  return { value, rest: cursor.bytes.length - cursor.at }
}

interface Cursor { bytes: Buffer; at: number }

function takeUvarint(cursor: Cursor): number {
  let value = 0n
  for (let shift = 0n; ; shift += 7n) {
    const byte = cursor.bytes.readUInt8(cursor.at++)
    value |= BigInt(byte & 127) << shift
    if (byte < 128) return Number(value)
  }
}

function takeInteger(cursor: Cursor, size: number, unsigned = false): bigint {
  let value = 0n
  for (let index = 0; index < size; index++) value = (value << 8n) | BigInt(cursor.bytes.readUInt8(cursor.at++))
  return unsigned ? value : BigInt.asIntN(size * 8, value)
}

function decodeStruct(cursor: Cursor, fields: FactField[], version: number, flexible: boolean): Message {
  const value: Message = {}
  for (const field of fields) {
    value[field.name] = holds(field.versions, version) && !isTagged(field, version) ? decodeField(cursor, field, version, flexible) : defaultOf(field)
  }
  if (!flexible) return value
  for (let count = takeUvarint(cursor); count > 0; count--) {
    const tag = takeUvarint(cursor)
    const end = takeUvarint(cursor) + cursor.at
    const field = fields.find(one => one.tag === tag && isTagged(one, version))
    if (field !== undefined) value[field.name] = decodeField(cursor, field, version, true)
    cursor.at = end
  }
  return value
}

function decodeField(cursor: Cursor, field: FactField, version: number, flexible: boolean): unknown {
  if (!field.isArray) return decodeValue(cursor, field, version, flexible, holds(field.nullable, version))
  const count = flexible ? takeUvarint(cursor) - 1 : Number(takeInteger(cursor, 4))
  if (count < 0) return null
  return Array.from({ length: count }, () => decodeValue(cursor, field, version, flexible, false))
}

function decodeValue(cursor: Cursor, field: FactField, version: number, flexible: boolean, nullable: boolean): unknown {
  if (field.fields.length > 0) {
    if (nullable && takeInteger(cursor, 1) < 0n) return null
    return decodeStruct(cursor, field.fields, version, flexible)
  }
  const take = (length: number): Buffer => cursor.bytes.subarray(cursor.at, cursor.at += length)
  switch (field.type) {
    case 'string':
    case 'bytes':
    case 'records': {
      const length = flexible ? takeUvarint(cursor) - 1 : Number(takeInteger(cursor, field.type === 'string' ? 2 : 4))
      if (length < 0) return null
      return field.type === 'string' ? take(length).toString('utf8') : new Uint8Array(take(length))
    }
    case 'uuid': return take(16).toString('base64url')
    case 'bool': return takeInteger(cursor, 1) !== 0n
    case 'float64': return take(8).readDoubleBE()
    default: {
      const value = Number(takeInteger(cursor, sizeOf(field.type), field.type.startsWith('u')))
      return field.default === '9223372036854775807' ? Math.min(value, Number.MAX_SAFE_INTEGER) : value
    }
  }
}
