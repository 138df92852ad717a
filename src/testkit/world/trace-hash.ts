const scratch = new DataView(new ArrayBuffer(8))

/**
 * FNV-1a of 64 bits, in two halves of 32: quick, and good enough to tell two runs apart that should be equal. No defence against anybody.
 */
export class TraceHash {
  private high = 0xcbf2_9ce4
  private low = 0x8422_2325

  addByte(byte: number): void {
    const low = (this.low ^ byte) >>> 0
    // Times the prime 2^40 + 0x1b3: the small factor with its carry, and the low half shifted into the high one.
    const lowProduct = (low & 0xffff) * 0x1b3
    const middle = (low >>> 16) * 0x1b3 + (lowProduct >>> 16)
    this.high = (Math.imul(this.high, 0x1b3) + Math.floor(middle / 0x1_0000) + (low << 8)) >>> 0
    this.low = ((middle & 0xffff) << 16 | (lowProduct & 0xffff)) >>> 0
  }

  /** Each UTF-16 unit as two bytes. */
  addText(text: string): void {
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      this.addByte(unit & 255)
      this.addByte(unit >>> 8)
    }
  }

  /** The eight bytes of a double. */
  addNumber(value: number): void {
    scratch.setFloat64(0, value)
    for (let index = 0; index < 8; index++) this.addByte(scratch.getUint8(index))
  }

  addBytes(bytes: Uint8Array, offset = 0, length = bytes.length - offset): void {
    for (let index = offset; index < offset + length; index++) this.addByte(bytes[index]!)
  }

  /** 16 hexadecimal digits of what was added so far. */
  digest(): string {
    return hexadecimal(this.high) + hexadecimal(this.low)
  }
}

const hexadecimal = (half: number): string => half.toString(16).padStart(8, '0')
