import { MillraceError } from '../errors/millrace-error.ts'
import { hiddenValue, isSensitive, type ConfigRow } from './config-row.ts'

/** Longs beyond 2^53 - 1 are Infinity: Kafka's settings use the largest long for "without bound". */
export type ConfigValue = boolean | number | string | readonly string[]

export interface ParsedConfig {
  readonly value: ConfigValue
  /** The value as Kafka writes it: no blanks around, lists joined by commas. */
  readonly text: string
}

const wholeNumber = /^[+-]?\d+$/
const decimalNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/
const replicaPair = /^\d+:\d+$/

const bounds = {
  short: [-0x8000n, 0x7fffn],
  int: [-0x8000_0000n, 0x7fff_ffffn],
  long: [-0x8000_0000_0000_0000n, 0x7fff_ffff_ffff_ffffn],
} as const

/** Reads and checks one value. Throws MR_CONFIG_INVALID with what is allowed. A sensitive value is never part of the error. */
export function parseConfigValue(row: ConfigRow, given: string): ParsedConfig {
  const text = row.type === 'password' ? given : given.trim()
  switch (row.type) {
    case 'boolean': return parseBoolean(row, text)
    case 'int':
    case 'short':
    case 'long': return parseWhole(row, text, row.type)
    case 'double': return parseDouble(row, text)
    case 'list': return parseList(row, text)
    case 'string':
    case 'class':
    case 'password': return parseText(row, text)
  }
}

/** What a row allows, for messages and pages: `a whole number from 1 to 9`, `one of gzip, lz4`. */
export function allowedValues(row: ConfigRow): string {
  switch (row.type) {
    case 'boolean': return 'true or false'
    case 'int':
    case 'short':
    case 'long': return `a whole number${rangeText(row)}`
    case 'double': return `a number${rangeText(row)}`
    case 'list':
      if (row.replicaList) return '* or PARTITION:BROKER pairs, separated by commas'
      if (row.values !== undefined) return `any of ${row.values.join(', ')}, separated by commas`
      return row.filled ? 'one or more items, separated by commas' : 'items separated by commas'
    default:
      if (row.values !== undefined) return `one of ${row.values.join(', ')}`
      return row.filled ? 'any text but none' : 'any text'
  }
}

export function invalidConfig(row: ConfigRow, value: string | null, reason: string): MillraceError {
  return new MillraceError('MR_CONFIG_INVALID', { key: row.name, value: isSensitive(row) ? hiddenValue : value === '' ? '(nothing)' : String(value), reason })
}

function fail(row: ConfigRow, text: string): never {
  throw invalidConfig(row, text, `it must be ${allowedValues(row)}`)
}

function parseBoolean(row: ConfigRow, text: string): ParsedConfig {
  const lower = text.toLowerCase()
  if (lower !== 'true' && lower !== 'false') fail(row, text)
  return { value: lower === 'true', text: lower }
}

function parseWhole(row: ConfigRow, text: string, type: 'int' | 'short' | 'long'): ParsedConfig {
  if (!wholeNumber.test(text)) fail(row, text)
  const exact = BigInt(text.startsWith('+') ? text.slice(1) : text)
  const [least, most] = bounds[type]
  if (exact > most) throw invalidConfig(row, text, `it must be ${allowedValues(row)}, and at most ${most}`)
  const inRange = (row.min === undefined || exact >= BigInt(row.min)) && (row.max === undefined || exact <= BigInt(row.max))
  if (exact < least || !(inRange || (row.also !== undefined && exact === BigInt(row.also)))) fail(row, text)
  let value = Number(exact)
  if (value > Number.MAX_SAFE_INTEGER) value = Infinity
  if (value < Number.MIN_SAFE_INTEGER) value = -Infinity
  return { value, text: exact.toString() }
}

function parseDouble(row: ConfigRow, text: string): ParsedConfig {
  const value = decimalNumber.test(text) ? Number(text) : NaN
  if (!Number.isFinite(value) || value < (row.min ?? -Infinity) || value > (row.max ?? Infinity)) fail(row, text)
  return { value, text }
}

function parseList(row: ConfigRow, text: string): ParsedConfig {
  const value = text === '' ? [] : text.split(/\s*,\s*/)
  if (row.filled && value.length === 0) fail(row, text)
  if (value.includes('')) throw invalidConfig(row, text, 'an item is empty')
  if (new Set(value).size !== value.length) throw invalidConfig(row, text, 'an item is there twice')
  if (row.values !== undefined && !value.every((item) => row.values!.includes(item))) fail(row, text)
  if (row.replicaList && !(text === '*' || value.every((item) => replicaPair.test(item)))) fail(row, text)
  return { value, text: value.join(',') }
}

function parseText(row: ConfigRow, text: string): ParsedConfig {
  if (row.filled && text === '') fail(row, text)
  if (row.values === undefined) return { value: text, text }
  const found = row.anyCase ? row.values.find((item) => item.toLowerCase() === text.toLowerCase()) : row.values.find((item) => item === text)
  if (found === undefined) fail(row, text)
  return { value: text, text }
}

function rangeText(row: ConfigRow): string {
  const also = row.also === undefined ? '' : ` or ${row.also}`
  if (row.min !== undefined && row.max !== undefined) return ` from ${row.min} to ${row.max}${also}`
  if (row.min !== undefined) return ` of ${row.min} or more${also}`
  return row.max === undefined ? '' : ` of ${row.max} or less${also}`
}
