import { kindOf } from '../../arguments.ts'
import { deeper, SerdeFault } from '../serde.ts'
import { decodeUtf8 } from '../plain-serdes.ts'

const encoder = new TextEncoder()
/** RFC 8259 lets a reader step over a mark of byte order. */
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * JSON of a value, as JSON.stringify makes it. What JSON.stringify would lose without a word is refused with a SerdeFault that says where: NaN and infinities (it
 * writes null), Maps and Sets (it writes {}), and a value that it has no text for. What an object says of itself with toJSON (a Date) is taken.
 */
export function jsonBytes(value: unknown): Uint8Array {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    const bigint = find(value, each => typeof each === 'bigint')
    if (bigint !== undefined) throw new SerdeFault('it is a bigint, which JSON has no form for: send it as text', bigint)
    throw new SerdeFault(error instanceof RangeError ? 'it is nested too deeply' : messageOf(error), '', error)
  }
  if (text === undefined) throw new SerdeFault(`it is ${kindOf(value)}, which JSON has no form for`)
  // Only these two texts can stand for something that was lost, so most values are not looked through.
  if (text.includes('null')) refuse(value, each => typeof each === 'number' && !Number.isFinite(each), 'it is no finite number, and JSON would say null')
  if (text.includes('{}')) refuse(value, each => each instanceof Map || each instanceof Set, 'it is a Map or a Set, and JSON would say {}: send an array of it')
  return encoder.encode(text)
}

/**
 * The value of JSON in UTF-8. Throws a SerdeFault for what is none, without the contents in its words; and unless `rounds`, for an integer that JSON.parse
 * would change.
 */
export function jsonValue(bytes: Uint8Array, rounds: boolean): unknown {
  const text = decodeUtf8(decoder, bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new SerdeFault(`it is no JSON: ${withoutContents(messageOf(error))}`)
  }
  if (!rounds && longDigits.test(text)) refuseRounded(text)
  return value
}

/** Integers up to 15 digits are exact. */
const longDigits = /\d{16}/
/** Longer ones are infinite as numbers. */
const digitsMax = 309

/** Looks at the numbers of a text that is JSON. */
function refuseRounded(text: string): void {
  let at = 0
  while (at < text.length) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22) {
      at = endOfString(text, at)
      continue
    }
    if (unit !== 0x2d && (unit < 0x30 || unit > 0x39)) {
      at++
      continue
    }
    const from = at
    let isInteger = true
    for (at++; at < text.length; at++) {
      const each = text.charCodeAt(at)
      if (each >= 0x30 && each <= 0x39) continue
      if (each !== 0x2e && each !== 0x2b && each !== 0x2d && (each | 0x20) !== 0x65) break
      isInteger = false
    }
    if (!isInteger || at - from < 16) continue
    const digits = text.slice(from, at)
    // What JavaScript writes for a large number is the shortest text that stands for it, and comes back as it was.
    if (digits.length > digitsMax || (String(Number(digits)) !== digits && BigInt(Number(digits)) !== BigInt(digits))) {
      throw new SerdeFault(`it has an integer of ${at - from} digits at position ${from}, which a number cannot hold: send it as text, or say integers: 'round'`)
    }
  }
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0x5c) at++
    else if (unit === 0x22) return at + 1
  }
  return text.length
}

/** V8 quotes what it could not parse; it may be anybody's. */
function withoutContents(message: string): string {
  return message.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/su, ' is not valid JSON').replace(/^"undefined" is/u, 'it is')
}

function refuse(value: unknown, isLost: (each: unknown) => boolean, reason: string): void {
  const path = find(value, isLost)
  if (path !== undefined) throw new SerdeFault(reason, path)
}

/** Where in a value the first one of a sort is, as JSON.stringify goes through it. Undefined without one. */
function find(value: unknown, isIt: (each: unknown) => boolean): string | undefined {
  const paths = new Map<object, string>()
  let found: string | undefined
  try {
    JSON.stringify(value, function replacer(this: object, name: string, each: unknown): unknown {
      const holder = paths.get(this)
      const path = holder === undefined ? '' : deeper(holder, Array.isArray(this) ? Number(name) : name)
      if (found === undefined && isIt(each)) found = path
      if (found !== undefined) return undefined
      if (typeof each === 'object' && each !== null) paths.set(each, path)
      return each
    })
  } catch {
    // It ends where the first pass ended; what was found before counts.
  }
  return found
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
