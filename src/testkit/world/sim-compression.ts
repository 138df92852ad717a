import { type Timers } from '../../kernel/ports/clock.ts'
import { type Compression } from '../../kernel/ports/compression.ts'

/** Codecs whose other threads are the simulation's: the work is done on this one, and told when simulated time has passed. */
export class SimCompression implements Compression {
  private readonly inner: Compression
  private readonly timers: Timers
  private readonly takesMs: (bytes: number) => number

  /** `takesMs` says how long decompressing or compressing so many bytes takes. Default: a millisecond for 500 KB. */
  constructor(inner: Compression, timers: Timers, takesMs = (bytes: number): number => bytes / 500_000) {
    this.inner = inner
    this.timers = timers
    this.takesMs = takesMs
  }

  available(...call: Parameters<Compression['available']>): boolean {
    return this.inner.available(...call)
  }

  compress(...call: Parameters<Compression['compress']>): Uint8Array {
    return this.inner.compress(...call)
  }

  decompress(...call: Parameters<Compression['decompress']>): Uint8Array {
    return this.inner.decompress(...call)
  }

  compressLater(...[codec, bytes, level, done]: Parameters<Compression['compressLater']>): void {
    this.later(bytes.length, () => this.inner.compress(codec, bytes, level), done)
  }

  decompressLater(...[codec, bytes, limitBytes, done]: Parameters<Compression['decompressLater']>): void {
    this.later(bytes.length, () => this.inner.decompress(codec, bytes, limitBytes), done)
  }

  private later(bytes: number, work: () => Uint8Array, done: (error: unknown, result: Uint8Array | undefined) => void): void {
    this.timers.after(this.takesMs(bytes), () => {
      let result: Uint8Array
      try {
        result = work()
      } catch (error) {
        return done(error, undefined)
      }
      done(undefined, result)
    })
  }
}
