import { MillraceError } from '../../kernel/errors/index.ts'
import { type RecordHeader } from '../../kernel/record/log-record.ts'
import { isArray, isDate, isPlain, kindOf, unknownName } from '../arguments.ts'
import { bytesOf } from '../bytes-of.ts'
import { type HeadersToSend, type ProducerRecord } from './producer-record.ts'

/** Written as an object, so that the compiler finds a name that is missing here. */
const names: Readonly<Record<keyof ProducerRecord, true>> = { topic: true, key: true, value: true, headers: true, timestamp: true, partition: true }
const recordNames = Object.keys(names)

const headerShapes = 'they are an object of names and values, or [{ key, value }] where a name occurs more than once'

/**
 * Throws MR_CLIENT_RECORD_INVALID for a record without a value, which would be a tombstone that nobody asked for, and for a name that a record does not
 * have: who writes without types would lose what stands there. A name is looked for in plain objects alone.
 */
export function checkNames(record: ProducerRecord): void {
  if (record.value !== undefined && hasKnownNames(record)) return
  const unknown = unknownName(record, recordNames)
  if (unknown !== undefined) {
    throw invalid(record.topic, 'messages' in record ? `${unknown}; send takes one record, and sendMany([{ topic, key, value }]) several` : unknown)
  }
  // TypeScript's callers do not get here; the others do.
  if (record.value === undefined) throw invalid(record.topic, 'value is missing; to delete the key in a compacted topic say value: null')
}

/** On the way of every record: a loop over names that the engine keeps with the shape of the object. */
function hasKnownNames(record: object): boolean {
  for (const name in record) {
    switch (name) {
      case 'topic': case 'key': case 'value': case 'headers': case 'timestamp': case 'partition': break
      default: return false
    }
  }
  return true
}

/** What is wrong with a key or a value that is neither bytes nor text nor null. */
export function notBytes(topic: string, { key, value }: ProducerRecord): MillraceError {
  const isKey = key !== null && key !== undefined && typeof key !== 'string' && !(key instanceof Uint8Array)
  return invalid(topic, `${isKey ? 'key' : 'value'} is ${kindOf(isKey ? key : value)}; key and value are bytes, text or null, such as JSON.stringify gives`)
}

export function notTimestamp(topic: string, given: unknown): MillraceError {
  const remedy = isDate(given) ? ': take getTime() of the Date' : ''
  return invalid(topic, `${typeof given === 'number' ? given : kindOf(given)} is no timestamp; it is a whole number of milliseconds since 1970${remedy}`)
}

export function headerList(topic: string, given: HeadersToSend): readonly RecordHeader[] {
  const pairs: readonly unknown[] = isArray(given) ? given as readonly unknown[] : Object.entries(named(topic, given)).map(([key, value]) => ({ key, value }))
  return pairs.map((pair, index) => {
    if (typeof pair !== 'object' || pair === null || Array.isArray(pair)) throw invalid(topic, `header ${index} is ${kindOf(pair)}; headers: ${headerShapes}`)
    const { key, value } = pair as { readonly key: unknown, readonly value: unknown }
    const unknown = isPlain(pair) ? unknownName(pair, ['key', 'value']) : undefined
    if (unknown !== undefined) throw invalid(topic, `header ${index}: ${unknown}`)
    if (typeof key !== 'string') throw invalid(topic, `the name of header ${index} is ${kindOf(key)}; it is a text`)
    if (value !== null && typeof value !== 'string' && !(value instanceof Uint8Array)) throw invalid(topic, `header ${key} is ${kindOf(value)}; it is bytes, text or null`)
    return { key, value: value === null ? null : bytesOf(value) }
  })
}

/** Refuses what has no names of its own, and would lose all headers: a Map, a text. */
function named(topic: string, given: unknown): Readonly<Record<string, unknown>> {
  if (typeof given === 'object' && given !== null && !(Symbol.iterator in given)) return given as Readonly<Record<string, unknown>>
  throw invalid(topic, `headers are ${kindOf(given)}; ${headerShapes}`)
}

export function invalid(topic: unknown, reason: string): MillraceError {
  return new MillraceError('MR_CLIENT_RECORD_INVALID', { topic: String(topic), reason })
}
