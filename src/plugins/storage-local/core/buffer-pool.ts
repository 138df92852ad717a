import { assert } from '../../../base/assert.ts'

const smallestBytes = 4096

/** A buffer on loan. `release` is made once a buffer, so that lending allocates nothing. */
export class PooledBuffer {
  readonly bytes: Uint8Array
  readonly release: () => void
  lent = false

  constructor(bytes: Uint8Array, pool: BufferPool) {
    this.bytes = bytes
    this.release = () => pool.giveBack(this)
  }
}

/**
 * Buffers for reads, of powers of two from 4 KiB, used again: fresh memory for each response halves the speed of reads. What comes back
 * beyond `keptBytesMax` is left to the garbage collector.
 */
export class BufferPool {
  private readonly free = new Map<number, PooledBuffer[]>()
  private readonly keptBytesMax: number
  private keptBytes = 0

  constructor(keptBytesMax: number) {
    this.keptBytesMax = keptBytesMax
  }

  /** At least so many bytes, of any content. */
  lend(bytes: number): PooledBuffer {
    const size = Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(bytes)))
    let buffer = this.free.get(size)?.pop()
    if (buffer === undefined) buffer = new PooledBuffer(new Uint8Array(size), this)
    else this.keptBytes -= size
    buffer.lent = true
    return buffer
  }

  giveBack(buffer: PooledBuffer): void {
    assert(buffer.lent, 'a buffer is released once')
    buffer.lent = false
    const size = buffer.bytes.length
    if (this.keptBytes + size > this.keptBytesMax) return
    this.keptBytes += size
    const kept = this.free.get(size)
    if (kept === undefined) this.free.set(size, [buffer])
    else kept.push(buffer)
  }
}
