/**
 * A seeded source of randomness: xoshiro128** (Blackman and Vigna), its state filled by splitmix32. The same seed gives the same
 * sequence on every machine and in every release; it is not for secrets.
 */
export class Prng {
  private a: number
  private b: number
  private c: number
  private d: number

  /** `seed` is any safe integer. */
  constructor(seed: number) {
    let state = Math.floor(seed / 0x1_0000_0000) ^ 0x6a09_e667
    const next = (input: number): number => {
      state = (state + input + 0x9e37_79b9) | 0
      let mixed = state ^ (state >>> 16)
      mixed = Math.imul(mixed, 0x21f0_aaad)
      mixed ^= mixed >>> 15
      mixed = Math.imul(mixed, 0x735a_2d97)
      return mixed ^ (mixed >>> 15)
    }
    this.a = next(seed >>> 0)
    this.b = next(0)
    this.c = next(0)
    this.d = next(0)
    if ((this.a | this.b | this.c | this.d) === 0) this.d = 1
  }

  /** 32 random bits, unsigned. */
  uint32(): number {
    const product = Math.imul(this.b, 5)
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0
    const shifted = this.b << 9
    this.c ^= this.a
    this.d ^= this.b
    this.b ^= this.c
    this.a ^= this.d
    this.c ^= shifted
    this.d = (this.d << 11) | (this.d >>> 21)
    return result
  }

  /** In [0, 1), 53 random bits, like Math.random. */
  float(): number {
    return ((this.uint32() >>> 5) * 0x400_0000 + (this.uint32() >>> 6)) / 0x20_0000_0000_0000
  }

  /** An integer in [0, limit), each equally likely. `limit` is 1 to 2^53. */
  below(limit: number): number {
    if (limit > 0x1_0000_0000) return Math.floor(this.float() * limit)
    const unfair = 0x1_0000_0000 % limit
    for (;;) {
      const value = this.uint32()
      if (value >= unfair) return value % limit
    }
  }

  /** An integer in [low, high], both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.float() < probability
  }

  pick<T>(values: readonly T[]): T {
    if (values.length === 0) throw new RangeError('nothing to pick from')
    return values[this.below(values.length)]!
  }

  /** Shuffles in place (Fisher and Yates). */
  shuffle<T>(values: T[]): T[] {
    for (let index = values.length - 1; index > 0; index--) {
      const other = this.below(index + 1)
      const value = values[index]!
      values[index] = values[other]!
      values[other] = value
    }
    return values
  }

  bytes(length: number): Uint8Array {
    const result = new Uint8Array(length)
    for (let at = 0; at < length; at += 4) {
      const word = this.uint32()
      for (let index = 0; index < 4 && at + index < length; index++) result[at + index] = word >>> (index * 8)
    }
    return result
  }

  /**
   * A stream of its own for the named part, derived from this one's present state without using it up: what one part draws does not
   * move another.
   */
  fork(name: string): Prng {
    let hash = 0x811c_9dc5
    for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x0100_0193)
    return new Prng(((this.a ^ this.c ^ hash) >>> 0) * 0x20_0000 + (((this.b ^ this.d) >>> 11) ^ (hash & 0x1f_ffff)))
  }
}
