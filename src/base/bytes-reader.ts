import { BytesError } from './bytes-error.ts'
import { readUuid, type Uuid } from './uuid.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const noBytes = new Uint8Array(0)

/** Below this many bytes a loop over ASCII beats the decoder. */
const shortText = 10

/**
 * A cursor over bytes, big-endian, without copies. Every read is checked against `end` and throws BytesError; after a throw the position
 * is where the failed primitive began or inside it, and nothing but reset is of use. Meant to be reused by reset: reading a new range of the
 * same Uint8Array allocates nothing.
 */
export class BytesReader {
  bytes: Uint8Array
  view: DataView
  /** Index in `bytes` of the next byte to read. May be set by hand to any value within [0, end]. */
  position: number
  /** Index in `bytes` after the last byte that may be read. */
  end: number

  constructor(bytes: Uint8Array = noBytes, start = 0, end = bytes.length) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.position = start
    this.end = end
    if (start < 0 || start > end || end > bytes.length) this.fail('malformed', 'range', start, `range ${start} to ${end} is outside the bytes`)
  }

  reset(bytes: Uint8Array, start = 0, end = bytes.length): void {
    if (start < 0 || start > end || end > bytes.length) this.fail('malformed', 'range', start, `range ${start} to ${end} is outside the bytes`)
    if (bytes !== this.bytes) {
      this.bytes = bytes
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
    this.position = start
    this.end = end
  }

  get remaining(): number {
    return this.end - this.position
  }

  int8(): number {
    const at = this.advance(1, 'int8')
    return this.view.getInt8(at)
  }

  uint8(): number {
    const at = this.advance(1, 'uint8')
    return this.view.getUint8(at)
  }

  int16(): number {
    const at = this.advance(2, 'int16')
    return this.view.getInt16(at)
  }

  uint16(): number {
    const at = this.advance(2, 'uint16')
    return this.view.getUint16(at)
  }

  int32(): number {
    const at = this.advance(4, 'int32')
    return this.view.getInt32(at)
  }

  uint32(): number {
    const at = this.advance(4, 'uint32')
    return this.view.getUint32(at)
  }

  /** A 64-bit integer as a number. Outside ±(2^53 - 1): BytesError of kind `range`. */
  int64(): number {
    const at = this.advance(8, 'int64')
    const high = this.view.getInt32(at)
    const value = high * 0x1_0000_0000 + this.view.getUint32(at + 4)
    if (high < -0x20_0000 || high > 0x1f_ffff || value === -0x20_0000_0000_0000) this.fail('range', 'int64', at, 'it is beyond 2^53 - 1')
    return value
  }

  /** A 64-bit integer of any value. Slow: for settings and rare fields. */
  int64Raw(): bigint {
    const at = this.advance(8, 'int64')
    return this.view.getBigInt64(at)
  }

  float64(): number {
    const at = this.advance(8, 'float64')
    return this.view.getFloat64(at)
  }

  /** 0 to 2^32 - 1, in at most 5 bytes. */
  uvarint(): number {
    const start = this.position
    if (start < this.end) {
      const first = this.bytes[start]!
      if (first < 0x80) {
        this.position = start + 1
        return first
      }
    }
    return this.longUvarint('uvarint')
  }

  /** Zigzag, 32 bits. */
  varint(): number {
    const start = this.position
    if (start < this.end) {
      const first = this.bytes[start]!
      if (first < 0x80) {
        this.position = start + 1
        return (first >>> 1) ^ -(first & 1)
      }
    }
    const value = this.longUvarint('varint')
    return (value >>> 1) ^ -(value & 1)
  }

  /** Zigzag, 64 bits, as a number. Outside ±(2^53 - 1): BytesError of kind `range`. */
  varlong(): number {
    const start = this.position
    let low = 0
    let shift = 0
    while (shift < 28) {
      const byte = this.nextByte(start, 'varlong')
      low |= (byte & 0x7f) << shift
      if (byte < 0x80) return (low >>> 1) ^ -(low & 1)
      shift += 7
    }
    let high = 0
    let scale = 1
    for (let index = 4; ; index++) {
      const byte = this.nextByte(start, 'varlong')
      if (index === 9 && byte > 1) this.fail('malformed', 'varlong', start, 'it is longer than 64 bits')
      high += (byte & 0x7f) * scale
      if (byte < 0x80) break
      scale *= 128
    }
    const magnitude = high * 0x800_0000 + (low >>> 1)
    if (magnitude > Number.MAX_SAFE_INTEGER - (low & 1)) this.fail('range', 'varlong', start, 'it is beyond 2^53 - 1')
    return (low & 1) === 0 ? magnitude : -magnitude - 1
  }

  /** UTF-8 text of `length` bytes. Bytes that are not UTF-8 become U+FFFD. */
  utf8(length: number): string {
    const start = this.advance(length, 'string')
    const end = start + length
    if (length <= shortText) {
      let text = ''
      let at = start
      for (; at < end; at++) {
        const byte = this.bytes[at]!
        if (byte >= 0x80) break
        text += String.fromCharCode(byte)
      }
      if (at === end) return text
    }
    return decoder.decode(this.bytes.subarray(start, end))
  }

  /** 16 bytes as the 22 characters that stand for them. */
  uuid(): Uuid {
    return readUuid(this.view, this.advance(16, 'uuid'))
  }

  /** A view of the next `length` bytes: no copy, so it lives and changes with the bytes below it. */
  slice(length: number): Uint8Array {
    const start = this.advance(length, 'bytes')
    return this.bytes.subarray(start, start + length)
  }

  skip(length: number): void {
    this.advance(length, 'bytes')
  }

  /** Moves on by `length` and gives the position before. */
  advance(length: number, what: string): number {
    const start = this.position
    const next = start + length
    // Written so that NaN fails too.
    if (!(length >= 0 && next <= this.end)) this.failLength(length, what)
    this.position = next
    return start
  }

  fail(kind: 'short' | 'malformed' | 'range', what: string, position: number, reason: string): never {
    throw new BytesError(kind, what, position, reason)
  }

  private failLength(length: number, what: string): never {
    if (!(length >= 0)) this.fail('malformed', what, this.position, `its length is ${length}`)
    this.fail('short', what, this.position, `${length} bytes are needed and ${this.remaining} are left`)
  }

  private nextByte(start: number, what: string): number {
    if (this.position >= this.end) this.fail('short', what, start, 'the bytes end inside it')
    return this.bytes[this.position++]!
  }

  private longUvarint(what: string): number {
    const start = this.position
    let value = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.nextByte(start, what)
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    const last = this.nextByte(start, what)
    if (last > 0x0f) this.fail('malformed', what, start, 'it is longer than 32 bits')
    return (value | (last << 28)) >>> 0
  }
}
