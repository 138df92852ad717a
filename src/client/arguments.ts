import { nearestName } from '../base/suggestion.ts'
import { MillraceError } from '../kernel/errors/index.ts'

const shownLengthMax = 80

/** A value as it may stand in a message: on one line, not long, and whatever it is. Not for what may be secret. */
export function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (isDate(value)) return `the Date ${JSON.stringify(value)}`
  if (value instanceof RegExp) return cut(String(value))
  if (value instanceof Uint8Array || typeof value === 'function') return kindOf(value)
  let text: string | undefined
  try {
    text = JSON.stringify(value, (_name, each: unknown) => typeof each === 'bigint' ? `${each}n` : each)
  } catch {
    // A circle, or somebody's toJSON.
    return kindOf(value)
  }
  // Numbers that JSON has no word for, undefined and symbols.
  if (text === undefined || typeof value === 'number') return String(value)
  return cut(text)
}

const cut = (text: string): string => text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text

/** What sort of thing a value is, without its contents. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (value instanceof Uint8Array) return 'bytes'
  if (isDate(value)) return 'a Date'
  if (value instanceof Map) return 'a Map'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Whether it is a Date: a value that somebody made of a time, and no clock. */
export function isDate(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Date]'
}

/** As Array.isArray, which would make elements of any type of what it looks at. */
export function isArray(value: unknown): boolean {
  return Array.isArray(value)
}

/** Whether its names are all that it is: instances of classes may have more, and are given on purpose. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Other clients' names for what is meant. */
export type Synonyms = Readonly<Record<string, string>>

/** Why a name of an object is wrong: the first that is unknown, with what may have been meant. Undefined when all are known, or it is no plain object. */
export function unknownName(given: object, known: readonly string[], synonyms: Synonyms = {}): string | undefined {
  if (!isPlain(given)) return undefined
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || known.includes(name)) continue
    const meant = Object.hasOwn(synonyms, name) ? synonyms[name] : nearestName(name, known)
    return `${name} is unknown here; ${meant === undefined ? `what is known: ${known.join(', ')}` : `did you mean ${meant}?`}`
  }
  return undefined
}

/** MR_CLIENT_SETTING for an argument: `call` is whose, such as `consumer.seek`. */
export function argumentError(call: string, reason: string): MillraceError {
  return new MillraceError('MR_CLIENT_SETTING', { key: call, reason }, undefined, `${call}: ${reason}`)
}
