import { Prng } from '../../base/prng.ts'
import { type Random } from '../../kernel/ports/clock.ts'

/** The Random port from a seed: the same seed gives the same draws. */
export class SeededRandom implements Random {
  private readonly prng: Prng

  constructor(seed: number | Prng) {
    this.prng = typeof seed === 'number' ? new Prng(seed) : seed
  }

  fraction(): number {
    return this.prng.float()
  }

  bytes(length: number): Uint8Array {
    return this.prng.bytes(length)
  }
}
