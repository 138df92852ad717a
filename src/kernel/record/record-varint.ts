/**
 * How records are read where every nanosecond counts: by the skim and by BatchReader. Varints of one and two bytes are written out there; the
 * rest is here. The functions leave the position after what they read in `cursor`, module-level so that two results need no object.
 *
 * It stays safe with few checks because the position only ever grows, a malformed varint moves it to `nowhere`, past every end, and a record
 * is accepted only when its parts end exactly where its length says. Bytes read too far (or, beyond the array, undefined) do not pass.
 */

/** Past every end. */
const nowhere = 2 ** 40

/** Position after the varint read last, or `nowhere`. */
export let cursor = 0

/** Attributes, timestamp, offset, key length, value length and number of headers take a byte each. */
export const recordLengthMin = 6

/** A zigzag varint of 32 bits. */
export function varint(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  cursor = at + 1
  const raw = first < 0x80 ? first : longer(bytes, cursor, first & 0x7f, 7)
  return (raw >>> 1) ^ -(raw & 1)
}

/** The rest of an unsigned varint from `at` on, of which `low` was read before, `shift` bits. Malformed: 0, and the cursor is nowhere. */
export function longer(bytes: Uint8Array, start: number, low: number, shiftStart: number): number {
  let raw = low
  let at = start
  for (let shift = shiftStart; shift < 35; shift += 7) {
    const byte = bytes[at++]!
    raw |= (byte & 0x7f) << shift
    if (byte < 0x80) {
      if (shift === 28 && byte > 0x0f) break
      cursor = at
      return raw
    }
  }
  cursor = nowhere
  return 0
}

/** A zigzag varlong as a number; one that is malformed or beyond ±(2^53 - 1) leaves the cursor nowhere. */
export function varlong(bytes: Uint8Array, start: number): number {
  let low = 0
  let at = start
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = bytes[at++]!
    low |= (byte & 0x7f) << shift
    if (byte < 0x80) {
      cursor = at
      return (low >>> 1) ^ -(low & 1)
    }
  }
  let high = 0
  let scale = 1
  // Four bytes hold 28 bits, and past 26 of them the value is beyond 2^53.
  for (let index = 0; index < 4; index++) {
    const byte = bytes[at++]!
    high += (byte & 0x7f) * scale
    if (byte < 0x80) {
      const magnitude = high * 0x800_0000 + (low >>> 1)
      if (magnitude > Number.MAX_SAFE_INTEGER - (low & 1)) break
      cursor = at
      return (low & 1) === 0 ? magnitude : -magnitude - 1
    }
    scale *= 128
  }
  cursor = nowhere
  return 0
}

/** Position after the headers, which begin with their number; `nowhere` when something is wrong with them. */
export function skipHeaders(bytes: Uint8Array, start: number, end: number): number {
  const count = varint(bytes, start)
  let at = cursor
  // A header takes two bytes at least; without this a made-up count would keep the loop busy for nothing.
  if (count < 0 || count > (end - at) >> 1) return nowhere
  for (let index = 0; index < count; index++) {
    const keyLength = varint(bytes, at)
    at = cursor + keyLength
    const valueLength = varint(bytes, at)
    at = valueLength < 0 ? cursor : cursor + valueLength
    if (keyLength < 0 || valueLength < -1 || at > end) return nowhere
  }
  return at
}
