import { randomFillSync } from 'node:crypto'
import { type Random } from '../kernel/ports/clock.ts'

const poolBytes = 4096

/** Randomness of the operating system, taken in blocks: a call of its own for eight bytes costs 20 times as much. */
export class SystemRandom implements Random {
  private readonly pool = new Uint8Array(poolBytes)
  private readonly view = new DataView(this.pool.buffer)
  private used = poolBytes

  fraction(): number {
    const at = this.take(8)
    const high = this.view.getUint32(at) >>> 5
    const low = this.view.getUint32(at + 4) >>> 6
    this.pool.fill(0, at, at + 8)
    return (high * 0x400_0000 + low) / 0x20_0000_0000_0000
  }

  bytes(length: number): Uint8Array {
    const result = new Uint8Array(length)
    if (length > poolBytes) return randomFillSync(result)
    const at = this.take(length)
    result.set(this.pool.subarray(at, at + length))
    // What was handed out may be a secret: it must not stay behind in the pool.
    this.pool.fill(0, at, at + length)
    return result
  }

  private take(length: number): number {
    if (this.used + length > poolBytes) {
      randomFillSync(this.pool)
      this.used = 0
    }
    const at = this.used
    this.used += length
    return at
  }
}
