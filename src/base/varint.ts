/**
 * Sizes of base-128 integers, least significant group first, high bit = more bytes follow. `varint` and `varlong` are the zigzag forms
 * of 32 and 64 bits. Reading and writing them is in BytesReader and BytesWriter.
 */

/** Bytes of `value` (0 to 2^32 - 1) as an unsigned varint: 1 to 5. */
export function uvarintSize(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x20_0000) return 3
  return value < 0x1000_0000 ? 4 : 5
}

/** Bytes of the signed 32-bit `value` as a zigzag varint: 1 to 5. */
export function varintSize(value: number): number {
  return uvarintSize(((value << 1) ^ (value >> 31)) >>> 0)
}

/** Bytes of `value`, any safe integer, as a zigzag varlong: 1 to 8. */
export function varlongSize(value: number): number {
  if (value >= -0x4000_0000 && value < 0x4000_0000) return varintSize(value)
  // Zigzag doubles the magnitude, which would leave the safe range; so count 7-bit groups of half of it, the first one of 6 bits.
  let rest = Math.floor((value < 0 ? -(value + 1) : value) / 64)
  let size = 1
  while (rest > 0) {
    rest = Math.floor(rest / 128)
    size++
  }
  return size
}
