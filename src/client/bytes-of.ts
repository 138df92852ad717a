/** What may be given as a key or a value. Text stands for its UTF-8. */
export type Bytes = Uint8Array | string | null

const encoder = new TextEncoder()
/** Longer texts cost so much by themselves that a view does not matter. */
const viewBytesMax = 4096

/**
 * Makes bytes of text in memory that is used again: what it gave is valid until its next call. A record needs two of them at once, its key's and its
 * value's, so there are two.
 */
export class TextBytes {
  private scratch = new Uint8Array(1024)
  /** Views of the scratch memory by their length: making one costs as much as filling it. */
  private views: (Uint8Array | undefined)[] = []

  of(text: string): Uint8Array {
    const { length } = text
    if (length * 3 > this.scratch.length) {
      this.scratch = new Uint8Array(length * 3)
      this.views = []
    }
    const { scratch } = this
    if (length <= 24) {
      let index = 0
      for (; index < length; index++) {
        const unit = text.charCodeAt(index)
        if (unit >= 0x80) break
        scratch[index] = unit
      }
      if (index === length) return this.view(length)
    }
    return this.view(encoder.encodeInto(text, scratch).written)
  }

  private view(length: number): Uint8Array {
    if (length > viewBytesMax) return this.scratch.subarray(0, length)
    return this.views[length] ??= this.scratch.subarray(0, length)
  }
}

/** Bytes of one's own. */
export function bytesOf(value: Uint8Array | string): Uint8Array {
  return typeof value === 'string' ? encoder.encode(value) : value
}
