import { assert } from './assert.ts'
import { uuidBytes, type Uuid } from './uuid.ts'

const encoder = new TextEncoder()

/** Below this many characters a loop over ASCII beats the encoder. */
const shortText = 16

interface Piece {
  /** Own bytes that come before it. */
  readonly at: number
  readonly bytes: Uint8Array
}

/**
 * Writes big-endian primitives into a buffer that grows, and is kept by reset. Large byte ranges of others may be put between the own bytes
 * without a copy (`piece`); the result is then read as `pieces()`, in order, for one gathering write.
 *
 * `position` counts own bytes and is what the patch methods take; `length` counts pieces too.
 */
export class BytesWriter {
  bytes: Uint8Array
  view: DataView
  position = 0
  private external: Piece[] = []
  private externalLength = 0

  constructor(initialBytes = 256) {
    this.bytes = new Uint8Array(initialBytes)
    this.view = new DataView(this.bytes.buffer)
  }

  /** Bytes written, pieces of others included. */
  get length(): number {
    return this.position + this.externalLength
  }

  /** Forgets what was written and keeps the buffer. Views given out before become invalid. */
  reset(): void {
    this.position = 0
    if (this.external.length > 0) {
      this.external = []
      this.externalLength = 0
    }
  }

  int8(value: number): void {
    const at = this.reserve(1)
    this.view.setInt8(at, value)
  }

  uint8(value: number): void {
    const at = this.reserve(1)
    this.view.setUint8(at, value)
  }

  int16(value: number): void {
    const at = this.reserve(2)
    this.view.setInt16(at, value)
  }

  uint16(value: number): void {
    const at = this.reserve(2)
    this.view.setUint16(at, value)
  }

  int32(value: number): void {
    const at = this.reserve(4)
    this.view.setInt32(at, value)
  }

  uint32(value: number): void {
    const at = this.reserve(4)
    this.view.setUint32(at, value)
  }

  /** A safe integer as 64 bits. */
  int64(value: number): void {
    assert(Number.isSafeInteger(value), 'a 64-bit integer to write is a safe integer')
    const at = this.reserve(8)
    this.view.setInt32(at, Math.floor(value / 0x1_0000_0000))
    this.view.setUint32(at + 4, value >>> 0)
  }

  int64Raw(value: bigint): void {
    const at = this.reserve(8)
    this.view.setBigInt64(at, value)
  }

  float64(value: number): void {
    const at = this.reserve(8)
    this.view.setFloat64(at, value)
  }

  /** 0 to 2^32 - 1. */
  uvarint(value: number): void {
    if (this.position + 5 > this.bytes.length) this.grow(5)
    let rest = value
    while (rest >= 0x80) {
      this.bytes[this.position++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.bytes[this.position++] = rest
  }

  /** A signed 32-bit integer, zigzag. */
  varint(value: number): void {
    this.uvarint(((value << 1) ^ (value >> 31)) >>> 0)
  }

  /** Any safe integer, zigzag. */
  varlong(value: number): void {
    if (value >= -0x4000_0000 && value < 0x4000_0000) {
      this.varint(value)
      return
    }
    assert(Number.isSafeInteger(value), 'a 64-bit integer to write is a safe integer')
    if (this.position + 8 > this.bytes.length) this.grow(8)
    const magnitude = value < 0 ? -(value + 1) : value
    // Zigzag doubles the magnitude, which would leave the safe range: the sign bit goes in with the first 6 bits.
    this.bytes[this.position++] = ((magnitude & 0x3f) << 1) | (value < 0 ? 1 : 0) | 0x80
    let rest = Math.floor(magnitude / 64)
    while (rest >= 0x80) {
      this.bytes[this.position++] = (rest & 0x7f) | 0x80
      rest = Math.floor(rest / 128)
    }
    this.bytes[this.position++] = rest
  }

  /** The text as UTF-8, no length before it. Gives the number of bytes. A lone surrogate becomes U+FFFD. */
  utf8(text: string): number {
    const start = this.position
    const length = text.length
    if (start + length * 3 > this.bytes.length) this.grow(length * 3)
    if (length <= shortText) {
      let index = 0
      for (; index < length; index++) {
        const unit = text.charCodeAt(index)
        if (unit >= 0x80) break
        this.bytes[start + index] = unit
      }
      if (index === length) {
        this.position = start + length
        return length
      }
    }
    const written = encoder.encodeInto(text, this.bytes.subarray(start)).written
    this.position = start + written
    return written
  }

  uuid(value: Uuid): void {
    const at = this.reserve(16)
    this.bytes.set(uuidBytes(value), at)
  }

  /** Copies the bytes in. */
  raw(bytes: Uint8Array, start = 0, end = bytes.length): void {
    const length = end - start
    const at = this.reserve(length)
    if (length <= 32) {
      for (let index = 0; index < length; index++) this.bytes[at + index] = bytes[start + index]!
    } else {
      this.bytes.set(length === bytes.length ? bytes : bytes.subarray(start, end), at)
    }
  }

  /** Puts bytes in without copying them: they must not change until the pieces have been written out. Empty ones are left out. */
  piece(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.external.push({ at: this.position, bytes })
    this.externalLength += bytes.length
  }

  /** Leaves `length` bytes, of any content, to be patched later. Gives their position. It may replace `bytes` and `view`. */
  reserve(length: number): number {
    const at = this.position
    if (at + length > this.bytes.length) this.grow(length)
    this.position = at + length
    return at
  }

  patchInt8(at: number, value: number): void {
    this.view.setInt8(at, value)
  }

  patchInt16(at: number, value: number): void {
    this.view.setInt16(at, value)
  }

  patchInt32(at: number, value: number): void {
    this.view.setInt32(at, value)
  }

  patchUint32(at: number, value: number): void {
    this.view.setUint32(at, value)
  }

  /** All that was written, in order. The own parts are views, valid until the next write or reset. */
  pieces(): Uint8Array[] {
    if (this.external.length === 0) return this.position === 0 ? [] : [this.bytes.subarray(0, this.position)]
    const all: Uint8Array[] = []
    let from = 0
    for (const piece of this.external) {
      if (piece.at > from) all.push(this.bytes.subarray(from, piece.at))
      all.push(piece.bytes)
      from = piece.at
    }
    if (this.position > from) all.push(this.bytes.subarray(from, this.position))
    return all
  }

  /** All that was written as one array that the caller owns; the writer may be reset and reused at once. */
  finish(): Uint8Array {
    if (this.external.length === 0) return this.bytes.slice(0, this.position)
    const result = new Uint8Array(this.length)
    let at = 0
    for (const part of this.pieces()) {
      result.set(part, at)
      at += part.length
    }
    return result
  }

  /** A view of what was written, valid until the next write or reset. Only without pieces. */
  written(): Uint8Array {
    assert(this.external.length === 0, 'a writer with pieces has no single view')
    return this.bytes.subarray(0, this.position)
  }

  /** Makes room for `length` bytes beyond the position, so that a caller may write `bytes` by index itself. */
  ensure(length: number): void {
    if (this.position + length > this.bytes.length) this.grow(length)
  }

  private grow(length: number): void {
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.position + length))
    larger.set(this.bytes.subarray(0, this.position))
    this.bytes = larger
    this.view = new DataView(larger.buffer)
  }
}

/** Bytes of the text as UTF-8, as `BytesWriter.utf8` writes it. */
export function utf8Length(text: string): number {
  const length = text.length
  let bytes = length
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    if (unit < 0x800) {
      bytes += 1
      continue
    }
    bytes += 2
    // A surrogate pair is two units and four bytes; a lone surrogate is written as the three bytes of U+FFFD.
    if (unit >= 0xd800 && unit < 0xdc00 && index + 1 < length) {
      const next = text.charCodeAt(index + 1)
      if (next >= 0xdc00 && next < 0xe000) index++
    }
  }
  return bytes
}
