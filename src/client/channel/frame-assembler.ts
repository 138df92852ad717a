import { MillraceError } from '../../kernel/errors/index.ts'

const sizeBytes = 4
/** A response holds a correlation id at least. */
const frameBytesMin = 4

export interface FrameAssemblerOptions {
  readonly frameBytesMax: number
  /** Asked when a frame begins: whether its bytes must outlive the call of `onFrame`. */
  readonly keepNext: () => boolean
  /** A whole frame, without its size: `bytes[start, end)`. False ends the reading: the connection is gone. */
  readonly onFrame: (bytes: Uint8Array, start: number, end: number) => boolean
}

/**
 * Puts the frames of responses together. A frame that lies within one chunk and need not be kept is given where it is; any other one gets memory
 * of its own, of its exact size, into which chunks are copied once. A client knows which request comes next, so it knows who will keep the bytes:
 * the records of a Fetch go to the application without a further copy.
 */
export class FrameAssembler {
  private readonly options: FrameAssemblerOptions
  private readonly size = new Uint8Array(sizeBytes)
  private sizeFilled = 0
  private body: Uint8Array | undefined
  private bodyFilled = 0

  constructor(options: FrameAssemblerOptions) {
    this.options = options
  }

  /** Takes `bytes[offset, offset + length)`, which are not looked at after the call. Throws MR_PROTOCOL_FRAME_SIZE. */
  feed(bytes: Uint8Array, offset: number, length: number): void {
    const end = offset + length
    let at = offset
    while (at < end) {
      if (this.body === undefined) {
        at = this.readSize(bytes, at, end)
        if (this.sizeFilled < sizeBytes) return
        const size = this.checkedSize()
        this.sizeFilled = 0
        if (end - at >= size && !this.options.keepNext()) {
          at += size
          if (!this.options.onFrame(bytes, at - size, at)) return
          continue
        }
        this.body = new Uint8Array(size)
        this.bodyFilled = 0
      }
      at = this.fillBody(this.body, bytes, at, end)
      if (this.bodyFilled < this.body.length) return
      const body = this.body
      this.body = undefined
      if (!this.options.onFrame(body, 0, body.length)) return
    }
  }

  private readSize(bytes: Uint8Array, from: number, end: number): number {
    let at = from
    while (this.sizeFilled < sizeBytes && at < end) this.size[this.sizeFilled++] = bytes[at++]!
    return at
  }

  private fillBody(body: Uint8Array, bytes: Uint8Array, at: number, end: number): number {
    const count = Math.min(end - at, body.length - this.bodyFilled)
    body.set(at === 0 && count === bytes.length ? bytes : bytes.subarray(at, at + count), this.bodyFilled)
    this.bodyFilled += count
    return at + count
  }

  private checkedSize(): number {
    const { size } = this
    const value = (size[0]! << 24) | (size[1]! << 16) | (size[2]! << 8) | size[3]!
    if (value < frameBytesMin || value > this.options.frameBytesMax) {
      throw new MillraceError('MR_PROTOCOL_FRAME_SIZE', { size: value, min: frameBytesMin, max: this.options.frameBytesMax })
    }
    return value
  }
}
