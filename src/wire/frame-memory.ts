const classBytesMin = 4096
const classBytesMax = 8 * 1024 * 1024

/**
 * Memory in which frames are put together that arrive in pieces. Connections share it, so that memory follows the bytes on their way and not
 * the number of connections. It comes in powers of two; a little is kept for the next frames, and larger pieces are made each time.
 */
export class FrameMemory {
  private readonly keptBytesMax: number
  private readonly free: Uint8Array[][] = []
  private keptBytes = 0

  constructor(keptBytesMax = 16 * 1024 * 1024) {
    this.keptBytesMax = keptBytesMax
  }

  /** At least so many bytes, of any content. */
  take(bytesMin: number): Uint8Array {
    const index = classOf(bytesMin)
    const bytes = this.free[index]?.pop()
    if (bytes === undefined) return new Uint8Array(bytesMin > classBytesMax ? bytesMin : classBytesMin << index)
    this.keptBytes -= bytes.length
    return bytes
  }

  /** Nobody looks at these bytes any more. They came from `take`. */
  give(bytes: Uint8Array): void {
    if (bytes.length === 0 || bytes.length > classBytesMax || this.keptBytes + bytes.length > this.keptBytesMax) return
    const index = classOf(bytes.length);
    (this.free[index] ??= []).push(bytes)
    this.keptBytes += bytes.length
  }
}

function classOf(bytes: number): number {
  return bytes <= classBytesMin ? 0 : 32 - Math.clz32((bytes - 1) >>> 12)
}
