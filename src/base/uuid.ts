/** 16 bytes as 22 characters of URL-safe base64 without padding: the way Kafka prints its ids. Equal ids are equal strings. */
export type Uuid = string

/** All bits zero: "no id". */
export const zeroUuid: Uuid = 'AAAAAAAAAAAAAAAAAAAAAA'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const valueOfCharacter = new Int8Array(128).fill(-1)
for (let value = 0; value < 64; value++) valueOfCharacter[alphabet.charCodeAt(value)] = value

/**
 * Text of the ids seen last, one a slot, so that reading the id of a topic in use builds no string. A slot is four words and the text;
 * a collision only means to build it again.
 */
const slots = 1024
const cachedWords = new Int32Array(slots * 4)
const cachedText: Uuid[] = new Array<Uuid>(slots).fill(zeroUuid)

/** The id whose 16 bytes begin at `at`. The caller has checked that they are there. */
export function readUuid(view: DataView, at: number): Uuid {
  return uuidOfWords(view.getInt32(at), view.getInt32(at + 4), view.getInt32(at + 8), view.getInt32(at + 12))
}

/** The id of four words of 32 bits, the first bytes first. */
export function uuidOfWords(a: number, b: number, c: number, d: number): Uuid {
  const slot = (Math.imul(a ^ (b >>> 7) ^ c ^ (d >>> 3), 0x9e37_79b1) >>> 22) & (slots - 1)
  const word = slot * 4
  if (cachedWords[word] === a && cachedWords[word + 1] === b && cachedWords[word + 2] === c && cachedWords[word + 3] === d) {
    return cachedText[slot]!
  }
  const text = encodeWords(a, b, c, d)
  cachedWords[word] = a
  cachedWords[word + 1] = b
  cachedWords[word + 2] = c
  cachedWords[word + 3] = d
  cachedText[slot] = text
  return text
}

/** The id of 16 bytes. */
export function uuidFromBytes(bytes: Uint8Array): Uuid {
  if (bytes.length !== 16) throw new RangeError(`an id has 16 bytes, these are ${bytes.length}`)
  return readUuid(new DataView(bytes.buffer, bytes.byteOffset, 16), 0)
}

const scratch = new Uint8Array(16)

/** The 16 bytes of an id, in an array that the next call overwrites. Throws RangeError for text that is no id. */
export function uuidBytes(text: Uuid): Uint8Array {
  if (!decodeInto(text)) throw new RangeError(`${JSON.stringify(text)} is not an id of 22 characters of URL-safe base64`)
  return scratch
}

/** Whether the text is an id as it is printed: 22 characters of URL-safe base64, the unused last bits zero. */
export function isUuid(text: string): text is Uuid {
  return decodeInto(text)
}

/**
 * A random id (RFC 9562, version 4). Like Kafka it never gives one that begins with '-', which command lines take for an option.
 * `nextUint32` gives 32 random bits at a call.
 */
export function randomUuid(nextUint32: () => number): Uuid {
  for (;;) {
    const b = (nextUint32() & 0xffff_0fff) | 0x4000
    const c = (nextUint32() & 0x3fff_ffff) | 0x8000_0000
    const text = encodeWords(nextUint32() | 0, b | 0, c | 0, nextUint32() | 0)
    if (!text.startsWith('-')) return text
  }
}

function decodeInto(text: string): boolean {
  if (text.length !== 22) return false
  let bits = 0
  let count = 0
  let at = 0
  for (let index = 0; index < 22; index++) {
    const unit = text.charCodeAt(index)
    const value = unit < 128 ? valueOfCharacter[unit]! : -1
    if (value < 0) return false
    bits = ((bits << 6) | value) & 0xffff
    count += 6
    if (count >= 8) {
      count -= 8
      scratch[at++] = bits >>> count
    }
  }
  // 22 characters hold 132 bits; the last four belong to no byte.
  return (bits & 0x0f) === 0
}

function encodeWords(a: number, b: number, c: number, d: number): Uuid {
  const words = [a, b, c, d]
  let text = ''
  for (let start = 0; start < 132; start += 6) {
    const index = start >>> 5
    const offset = start & 31
    const word = words[index]!
    const next = words[index + 1] ?? 0
    const value = offset <= 26 ? word >>> (26 - offset) : (word << (offset - 26)) | (next >>> (58 - offset))
    text += alphabet[value & 63]!
  }
  return text
}
