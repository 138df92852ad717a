/**
 * SipHash-2-4 with 128 bits of output (Aumasson and Bernstein): a hash under a secret key, so that nobody who does not know the key can make two
 * inputs meet. 64-bit words are kept as two halves of 32 bits. The result of the last `hash` is in four fields, to be used before the next.
 */
export class SipHash {
  /** The 16 bytes of the hash, as little-endian words of 32 bits. */
  readonly words = new Int32Array(4)
  private readonly key: Int32Array
  /** v0 to v3, low half first. */
  private readonly v = new Int32Array(8)

  /** `key`: 16 bytes. */
  constructor(key: Uint8Array) {
    this.key = new Int32Array(4)
    for (let index = 0; index < 4; index++) this.key[index] = littleEndian(key, index * 4, 4)
  }

  /** Of `bytes[start, end)`. */
  hash(bytes: Uint8Array, start: number, end: number): void {
    const { v, key, words } = this
    const [k0, k1, k2, k3] = [key[0]!, key[1]!, key[2]!, key[3]!]
    v[0] = k0 ^ 0x70736575
    v[1] = k1 ^ 0x736f6d65
    v[2] = k2 ^ 0x6e646f6d ^ 0xee
    v[3] = k3 ^ 0x646f7261
    v[4] = k0 ^ 0x6e657261
    v[5] = k1 ^ 0x6c796765
    v[6] = k2 ^ 0x79746573
    v[7] = k3 ^ 0x74656462
    let at = start
    for (; at + 8 <= end; at += 8) this.take(littleEndian(bytes, at, 4), littleEndian(bytes, at + 4, 4))
    const left = end - at
    const high = left > 4 ? littleEndian(bytes, at + 4, left - 4) : 0
    this.take(littleEndian(bytes, at, Math.min(left, 4)), high | ((end - start) << 24))
    v[4]! ^= 0xee
    rounds(v, 4)
    words[0] = v[0]! ^ v[2]! ^ v[4]! ^ v[6]!
    words[1] = v[1]! ^ v[3]! ^ v[5]! ^ v[7]!
    v[2]! ^= 0xdd
    rounds(v, 4)
    words[2] = v[0]! ^ v[2]! ^ v[4]! ^ v[6]!
    words[3] = v[1]! ^ v[3]! ^ v[5]! ^ v[7]!
  }

  private take(low: number, high: number): void {
    const { v } = this
    v[6]! ^= low
    v[7]! ^= high
    rounds(v, 2)
    v[0]! ^= low
    v[1]! ^= high
  }
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  if (count === 4) return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
  let word = 0
  for (let index = 0; index < count; index++) word |= bytes[at + index]! << (8 * index)
  return word
}

/** SipRound, so many times. Sums of low halves are compared to find the carry; a rotation by 32 swaps the halves. */
function rounds(v: Int32Array, count: number): void {
  let [a, A, b, B, c, C, d, D] = [v[0]!, v[1]!, v[2]!, v[3]!, v[4]!, v[5]!, v[6]!, v[7]!]
  let [low, high] = [0, 0]
  for (let round = 0; round < count; round++) {
    low = (a + b) | 0
    A = (A + B + (low >>> 0 < a >>> 0 ? 1 : 0)) | 0
    a = low
    low = (b << 13) | (B >>> 19)
    high = (B << 13) | (b >>> 19)
    b = low ^ a
    B = high ^ A
    ;[a, A] = [A, a]

    low = (c + d) | 0
    C = (C + D + (low >>> 0 < c >>> 0 ? 1 : 0)) | 0
    c = low
    low = (d << 16) | (D >>> 16)
    high = (D << 16) | (d >>> 16)
    d = low ^ c
    D = high ^ C

    low = (a + d) | 0
    A = (A + D + (low >>> 0 < a >>> 0 ? 1 : 0)) | 0
    a = low
    low = (d << 21) | (D >>> 11)
    high = (D << 21) | (d >>> 11)
    d = low ^ a
    D = high ^ A

    low = (c + b) | 0
    C = (C + B + (low >>> 0 < c >>> 0 ? 1 : 0)) | 0
    c = low
    low = (b << 17) | (B >>> 15)
    high = (B << 17) | (b >>> 15)
    b = low ^ c
    B = high ^ C
    ;[c, C] = [C, c]
  }
  v[0] = a
  v[1] = A
  v[2] = b
  v[3] = B
  v[4] = c
  v[5] = C
  v[6] = d
  v[7] = D
}
