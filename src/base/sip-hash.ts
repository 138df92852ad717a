/**
 * SipHash-2-4 with 128 bits of output (Aumasson and Bernstein): a hash under a secret key, so that nobody who does not know the key can make two
 * inputs meet. 64-bit words are kept as two halves of 32 bits. The result of the last `hash` is in four fields, to be used before the next.
 */
export class SipHash {
  /** The 16 bytes of the hash, as little-endian words of 32 bits. */
  readonly words = new Int32Array(4)
  private readonly key: Int32Array

  /** `key`: 16 bytes. */
  constructor(key: Uint8Array) {
    this.key = new Int32Array(4)
    for (let index = 0; index < 4; index++) this.key[index] = littleEndian(key, index * 4, 4)
  }

  /**
   * Of `bytes[start, end)`. The state is in variables from the first round to the last, low halves and high ones, and there is one place at which a round is made: so it stays in
   * registers. Sums of low halves are compared to find the carry; a rotation by 32 swaps the halves.
   */
  hash(bytes: Uint8Array, start: number, end: number): void {
    const { key, words } = this
    let a = key[0]! ^ 0x70736575
    let A = key[1]! ^ 0x736f6d65
    let b = key[2]! ^ 0x6e646f6d ^ 0xee
    let B = key[3]! ^ 0x646f7261
    let c = key[0]! ^ 0x6e657261
    let C = key[1]! ^ 0x6c796765
    let d = key[2]! ^ 0x79746573
    let D = key[3]! ^ 0x74656462
    const whole = (end - start) >>> 3
    // Words of the input, the last one with what is left and the length; then the two halves of the result.
    for (let word = 0; word <= whole + 2; word++) {
      let low = 0
      let high = 0
      let rounds = 4
      if (word < whole) {
        const at = start + word * 8
        low = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
        high = bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24)
        rounds = 2
      } else if (word === whole) {
        const at = start + word * 8
        low = littleEndian(bytes, at, Math.min(end - at, 4))
        high = (end - at > 4 ? littleEndian(bytes, at + 4, end - at - 4) : 0) | ((end - start) << 24)
        rounds = 2
      } else if (word === whole + 1) {
        c ^= 0xee
      } else {
        words[0] = a ^ b ^ c ^ d
        words[1] = A ^ B ^ C ^ D
        b ^= 0xdd
      }
      d ^= low
      D ^= high
      for (let round = 0; round < rounds; round++) {
        let sum = (a + b) | 0
        A = (A + B + (sum >>> 0 < a >>> 0 ? 1 : 0)) | 0
        let turned = (b << 13) | (B >>> 19)
        B = ((B << 13) | (b >>> 19)) ^ A
        b = turned ^ sum
        a = A
        A = sum

        sum = (c + d) | 0
        C = (C + D + (sum >>> 0 < c >>> 0 ? 1 : 0)) | 0
        c = sum
        turned = (d << 16) | (D >>> 16)
        D = ((D << 16) | (d >>> 16)) ^ C
        d = turned ^ c

        sum = (a + d) | 0
        A = (A + D + (sum >>> 0 < a >>> 0 ? 1 : 0)) | 0
        a = sum
        turned = (d << 21) | (D >>> 11)
        D = ((D << 21) | (d >>> 11)) ^ A
        d = turned ^ a

        sum = (c + b) | 0
        C = (C + B + (sum >>> 0 < c >>> 0 ? 1 : 0)) | 0
        turned = (b << 17) | (B >>> 15)
        B = ((B << 17) | (b >>> 15)) ^ C
        b = turned ^ sum
        c = C
        C = sum
      }
      a ^= low
      A ^= high
    }
    words[2] = a ^ b ^ c ^ d
    words[3] = A ^ B ^ C ^ D
  }
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let word = 0
  for (let index = 0; index < count; index++) word |= bytes[at + index]! << (8 * index)
  return word
}
