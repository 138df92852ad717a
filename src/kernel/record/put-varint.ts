import { assert } from '../../base/assert.ts'

/** Writes a zigzag varint of 32 bits at `start`. Gives the position behind it. */
export function putVarint(bytes: Uint8Array, start: number, value: number): number {
  if (value >= -64 && value < 64) {
    bytes[start] = (value << 1) ^ (value >> 31)
    return start + 1
  }
  let rest = ((value << 1) ^ (value >> 31)) >>> 0
  let at = start
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  bytes[at++] = rest
  return at
}

/** The same of a safe integer, as a zigzag varlong. */
export function putVarlong(bytes: Uint8Array, start: number, value: number): number {
  if (value >= -0x4000_0000 && value < 0x4000_0000) return putVarint(bytes, start, value)
  assert(Number.isSafeInteger(value), 'a timestamp delta is a safe integer')
  const magnitude = value < 0 ? -(value + 1) : value
  let at = start
  bytes[at++] = ((magnitude & 0x3f) << 1) | (value < 0 ? 1 : 0) | 0x80
  let rest = Math.floor(magnitude / 64)
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest = Math.floor(rest / 128)
  }
  bytes[at++] = rest
  return at
}
