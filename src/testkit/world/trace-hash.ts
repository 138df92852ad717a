const scratch = new DataView(new ArrayBuffer(8))
const scratchBytes = new Uint8Array(scratch.buffer)
/** Of the text at hand; grows. */
let units = new Uint8Array(256)

/**
 * FNV-1a of 64 bits, in two halves of 32: quick, and good enough to tell two runs apart that should be equal. No defence against anybody.
 */
export class TraceHash {
  /** Both signed: small integers, which need no object each. */
  private high = 0xcbf2_9ce4 | 0
  private low = 0x8422_2325 | 0

  addByte(byte: number): void {
    scratchBytes[0] = byte
    this.addBytes(scratchBytes, 0, 1)
  }

  /** ASCII as a byte each; any other UTF-16 unit as two behind a mark that no ASCII is. */
  addText(text: string): void {
    if (units.length < text.length * 3) units = new Uint8Array(text.length * 3)
    let length = 0
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (unit < 0x80) {
        units[length++] = unit
        continue
      }
      units[length++] = 0xff
      units[length++] = unit & 255
      units[length++] = unit >>> 8
    }
    this.addBytes(units, 0, length)
  }

  /** The eight bytes of a double. */
  addNumber(value: number): void {
    scratch.setFloat64(0, value)
    this.addBytes(scratchBytes, 0, 8)
  }

  addBytes(bytes: Uint8Array, offset = 0, length = bytes.length - offset): void {
    let { high, low } = this
    for (let index = offset; index < offset + length; index++) {
      low ^= bytes[index]!
      // Times the prime 2^40 + 0x1b3: the small factor with its carry, and the low half shifted into the high one.
      const lowProduct = (low & 0xffff) * 0x1b3
      const middle = (low >>> 16) * 0x1b3 + (lowProduct >>> 16)
      high = (Math.imul(high, 0x1b3) + (middle >>> 16) + (low << 8)) | 0
      low = (middle & 0xffff) << 16 | (lowProduct & 0xffff)
    }
    this.high = high
    this.low = low
  }

  /** 16 hexadecimal digits of what was added so far. */
  digest(): string {
    return hexadecimal(this.high) + hexadecimal(this.low)
  }
}

const hexadecimal = (half: number): string => (half >>> 0).toString(16).padStart(8, '0')
