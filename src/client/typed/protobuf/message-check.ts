import { kindOf } from '../../arguments.ts'
import { deeper, SerdeFault } from '../serde.ts'
import { type ProtobufField, type ProtobufType } from './protobufjs-package.ts'

const loneSurrogate = /\p{Surrogate}/u

/**
 * Throws a SerdeFault with the path of what does not fit a message: protobufjs would make a zero of a text and leave out a name that it does not know, without a
 * word. Null and undefined are fields that are not set.
 */
export function checkMessage(type: ProtobufType, value: unknown, path = ''): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) throw new SerdeFault(`it is ${kindOf(value)}, and the schema says ${type.name}`, path)
  // An Any is written by its own rules.
  if (type.fullName === '.google.protobuf.Any') return
  const given = value as Readonly<Record<string, unknown>>
  for (const [name, each] of Object.entries(given)) {
    if (each === undefined || each === null) continue
    if (!Object.hasOwn(type.fields, name)) throw new SerdeFault(`${type.name} has no field of that name`, deeper(path, name))
    checkField(type.fields[name]!, each, deeper(path, name))
  }
  for (const { name, required } of type.fieldsArray) if (required && (given[name] === undefined || given[name] === null)) throw new SerdeFault('it is required, and not there', deeper(path, name))
  for (const { name, oneof } of type.oneofsArray) {
    const set = oneof.filter(each => given[each] !== undefined && given[each] !== null)
    if (set.length > 1) throw new SerdeFault(`${set.join(' and ')} are set, of which ${name} has one`, path)
  }
}

function checkField(field: ProtobufField, value: unknown, path: string): void {
  if (field.map) {
    if (typeof value !== 'object' || Array.isArray(value) || value instanceof Map) throw new SerdeFault(`it is ${kindOf(value)}, and the schema says a map: give an object`, path)
    for (const [name, each] of Object.entries(value as object)) checkOne(field, each, deeper(path, name))
    return
  }
  if (!field.repeated) {
    checkOne(field, value, path)
    return
  }
  if (!Array.isArray(value)) throw new SerdeFault(`it is ${kindOf(value)}, and the schema says repeated: give an array`, path)
  for (const [index, each] of (value as unknown[]).entries()) checkOne(field, each, deeper(path, index))
}

function checkOne(field: ProtobufField, value: unknown, path: string): void {
  field.resolve()
  const { resolvedType } = field
  if (resolvedType?.values !== undefined) {
    if (typeof value === 'number' ? isWhole(value, -(2 ** 31), 2 ** 31 - 1) : typeof value === 'string' && Object.hasOwn(resolvedType.values, value)) return
    throw new SerdeFault(`it is ${kindOf(value)}, and no name or number of ${field.type}`, path)
  }
  if (resolvedType !== null) checkMessage(resolvedType as ProtobufType, value, path)
  else if (scalars[field.type]?.(value) !== true) throw new SerdeFault(`it is ${kindOf(value)}, and the schema says ${field.type}`, path)
}

const isWhole = (value: unknown, min: number, max: number): boolean => typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
const isInt32 = (value: unknown): boolean => isWhole(value, -(2 ** 31), 2 ** 31 - 1)
const isUint32 = (value: unknown): boolean => isWhole(value, 0, 2 ** 32 - 1)

/** A bigint, a safe integer, decimal digits, or the Long that protobufjs makes. */
function isLong(value: unknown, min: bigint, max: bigint): boolean {
  if (typeof value === 'object' && value !== null) return typeof (value as { low?: unknown }).low === 'number' && typeof (value as { high?: unknown }).high === 'number'
  const isText = typeof value === 'string' && /^-?\d{1,20}$/.test(value)
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value) && !isText) return false
  const exact = BigInt(value as bigint | number | string)
  return exact >= min && exact <= max
}
const isInt64 = (value: unknown): boolean => isLong(value, -(2n ** 63n), 2n ** 63n - 1n)
const isUint64 = (value: unknown): boolean => isLong(value, 0n, 2n ** 64n - 1n)
const isNumber = (value: unknown): boolean => typeof value === 'number'

const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  int32: isInt32, sint32: isInt32, sfixed32: isInt32, uint32: isUint32, fixed32: isUint32, int64: isInt64, sint64: isInt64, sfixed64: isInt64, uint64: isUint64,
  fixed64: isUint64, float: isNumber, double: isNumber, bool: value => typeof value === 'boolean', bytes: value => value instanceof Uint8Array,
  string: value => typeof value === 'string' && !loneSurrogate.test(value),
}
