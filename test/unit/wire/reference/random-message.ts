import { type Prng } from '../../../../src/base/prng.ts'
import { type FactField, type FactMessage, type Range } from './kafka-grammar.ts'
import { defaultOf, type Message } from './reference-codec.ts'

const holds = (range: Range | undefined, version: number): boolean => range !== undefined && version >= range.min && version <= range.max

const texts = ['', 'a', 'orders', 'payments.eu-west-1', 'grüße', '日本語のトピック', '💥', 'x'.repeat(42), 'ü'.repeat(42), 'y'.repeat(43), 'z'.repeat(300)]

/** A message as this version may carry it: fields of other versions hold their defaults, every other field may hold anything. */
export function randomMessage(message: FactMessage, version: number, prng: Prng): Message {
  return randomStruct(message.fields, version, prng)
}

function randomStruct(fields: FactField[], version: number, prng: Prng): Message {
  return Object.fromEntries(fields.map(field => [field.name, holds(field.versions, version) ? randomField(field, version, prng) : defaultOf(field)]))
}

function randomField(field: FactField, version: number, prng: Prng): unknown {
  if (holds(field.nullable, version) && prng.chance(0.3)) return null
  // A default may be null in versions in which null may not be sent.
  if (prng.chance(0.2) && defaultOf(field) !== null) return defaultOf(field)
  if (!field.isArray) return randomValue(field, version, prng)
  return Array.from({ length: prng.pick([0, 1, 1, 2, 3]) }, () => randomValue(field, version, prng))
}

function randomValue(field: FactField, version: number, prng: Prng): unknown {
  if (field.fields.length > 0) return randomStruct(field.fields, version, prng)
  switch (field.type) {
    case 'bool': return prng.chance(0.5)
    case 'string': return prng.pick(texts)
    case 'bytes': return prng.bytes(prng.pick([0, 1, 40, 200]))
    case 'records': return prng.bytes(prng.pick([0, 1, 70, 4096, 4097, 9000]))
    case 'uuid': return Buffer.from(prng.bytes(16)).toString('base64url')
    case 'float64': return prng.pick([0, -1.5, 1e300, prng.float()])
    case 'int64': return prng.pick([0, -1, 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, prng.below(2 ** 53)])
    default: {
      const bits = Number(/\d+/.exec(field.type)![0])
      const low = field.type.startsWith('u') ? 0 : -(2 ** (bits - 1))
      return prng.pick([low, low + 2 ** bits - 1, prng.between(low, low + 2 ** bits - 1), field.type.startsWith('u') ? 1 : -1])
    }
  }
}
