import { assert } from '../base/assert.ts'
import { type BytesWriter } from '../base/bytes-writer.ts'
import { MillraceError } from '../kernel/errors/index.ts'
import { FrameMemory } from './frame-memory.ts'

/** Every request and response is a frame: a 32-bit size, then that many bytes. */
export const frameSizeBytes = 4

const noBytes = new Uint8Array(0)
const firstBytes = 4096

export interface FrameSplitterOptions {
  /** The largest frame that is accepted, without its size field (Kafka: socket.request.max.bytes, 104857600). */
  readonly frameBytesMax: number
  /** Where frames are put together that arrive in pieces; give all connections the same. */
  readonly memory?: FrameMemory
}

/**
 * Splits a stream of bytes that arrives in chunks of any size into frames:
 *
 * ```ts
 * splitter.feed(chunk)
 * while (splitter.next()) handle(splitter.buffer, splitter.offset, splitter.length)
 * ```
 *
 * A frame that lies within one chunk is given as a range of that chunk, without a copy; one that spans chunks is put together in memory of
 * the splitter. Either way **a frame is valid until the next feed**, and no longer: who needs bytes for longer copies them. The chunk must
 * not change before `next` has returned false; after that the splitter does not look at it again, so receive memory can be reused.
 * The reader of frames may stop between two of them (back-pressure) and go on later.
 *
 * Memory follows what has arrived, not what a size field promises: it grows in doubling steps up to the size of the frame.
 */
export class FrameSplitter {
  /** The frame is `buffer` from `offset`, `length` bytes, without the size field. */
  buffer: Uint8Array = noBytes
  offset = 0
  length = 0
  /** May be changed at any time, e.g. raised once a client is authenticated. Holds for frames whose size has not been read yet. */
  frameBytesMax: number

  private chunk: Uint8Array = noBytes
  private position = 0
  private end = 0
  /** The frame that is being put together, its size field included. */
  private partial: Uint8Array = noBytes
  private partialLength = 0
  /** Memory of the frame put together last: it may still be read while the next one begins. */
  private finished: Uint8Array = noBytes
  private readonly memory: FrameMemory

  constructor(options: FrameSplitterOptions) {
    this.frameBytesMax = options.frameBytesMax
    this.memory = options.memory ?? new FrameMemory(firstBytes)
  }

  /** Bytes of a frame that has not arrived in full. Above 0 when a connection ends, the frame was cut off. */
  get pendingBytes(): number {
    return this.partialLength + (this.end - this.position)
  }

  /** Takes a chunk, from `start` to `end`. The frames of the last one must have been read to the end. */
  feed(chunk: Uint8Array, start = 0, end = chunk.length): void {
    assert(this.position === this.end, 'frames of a chunk are read before the next chunk is fed')
    this.release()
    this.chunk = chunk
    this.position = start
    this.end = end
  }

  /** The frames so far are not read any more: their memory is free. A feed does the same. */
  release(): void {
    if (this.finished.length === 0) return
    this.memory.give(this.finished)
    this.finished = noBytes
  }

  /** The stream ends: all memory is free, nothing may be called any more. */
  close(): void {
    this.release()
    this.memory.give(this.partial)
    this.partial = noBytes
    this.partialLength = 0
    this.leaveChunk()
  }

  /**
   * Copies what is left of the chunk, so that its memory may be reused before all of its frames were read: for a reader that has to stop
   * between two of them. False when nothing is left.
   */
  keepRest(): boolean {
    if (this.position === this.end) return false
    this.chunk = this.chunk.slice(this.position, this.end)
    this.end -= this.position
    this.position = 0
    return true
  }

  /**
   * Moves to the next frame; false when the chunk holds no further whole one. Throws MR_PROTOCOL_FRAME_SIZE for a size below 0 or above the
   * limit. After that the stream has no meaning any more and the connection must be closed.
   */
  next(): boolean {
    if (this.partialLength > 0) return this.finishPartial()
    const available = this.end - this.position
    if (available >= frameSizeBytes) {
      const size = this.checkedSize(this.chunk, this.position)
      if (available - frameSizeBytes >= size) {
        this.buffer = this.chunk
        this.offset = this.position + frameSizeBytes
        this.length = size
        this.position = this.offset + size
        return true
      }
    }
    // The chunk ends within a frame: its bytes are copied, since the chunk is not ours.
    if (available > 0) this.take(available)
    return this.leaveChunk()
  }

  private finishPartial(): boolean {
    if (this.partialLength < frameSizeBytes) this.take(frameSizeBytes)
    if (this.partialLength < frameSizeBytes) return this.leaveChunk()
    const size = this.checkedSize(this.partial, 0)
    this.take(frameSizeBytes + size)
    if (this.partialLength < frameSizeBytes + size) return this.leaveChunk()
    this.buffer = this.partial
    this.offset = frameSizeBytes
    this.length = size
    this.release()
    this.finished = this.partial
    this.partial = noBytes
    this.partialLength = 0
    return true
  }

  private leaveChunk(): false {
    this.chunk = noBytes
    this.position = 0
    this.end = 0
    return false
  }

  /** Moves bytes of the chunk to the partial frame until that has `wanted` bytes or the chunk ends. */
  private take(wanted: number): void {
    const count = Math.min(wanted - this.partialLength, this.end - this.position)
    const needed = this.partialLength + count
    if (this.partial.length < needed) {
      const larger = this.memory.take(Math.max(needed, Math.min(wanted, this.partial.length * 2)))
      larger.set(this.partial.subarray(0, this.partialLength))
      this.memory.give(this.partial)
      this.partial = larger
    }
    this.partial.set(this.chunk.subarray(this.position, this.position + count), this.partialLength)
    this.partialLength = needed
    this.position += count
  }

  private checkedSize(bytes: Uint8Array, at: number): number {
    const size = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
    if (size < 0 || size > this.frameBytesMax) {
      throw new MillraceError('MR_PROTOCOL_FRAME_SIZE', { size, min: 0, max: this.frameBytesMax })
    }
    return size
  }
}

/** Begins a frame and gives the position that `endFrame` takes. Several frames may follow one another in a writer. */
export function beginFrame(writer: BytesWriter): FrameStart {
  const length = writer.length
  return { at: writer.reserve(frameSizeBytes), length }
}

export interface FrameStart {
  /** Where the size field lies among the writer's own bytes. */
  readonly at: number
  /** The writer's length before the frame, pieces included. */
  readonly length: number
}

/** Ends the frame: its size is known now. */
export function endFrame(writer: BytesWriter, start: FrameStart): void {
  writer.patchInt32(start.at, writer.length - start.length - frameSizeBytes)
}
