import { batchBytesOf } from '../kernel/record/batch-header.ts'
import { RecordBatch, isWholeBatch } from '../kernel/record/record-batch.ts'
import { type File } from '../kernel/ports/file-system.ts'

const chunkBytes = 1 << 20

export interface PlacedBatch {
  readonly position: number
  /** Its bytes are valid until the next one is asked for. */
  readonly batch: RecordBatch
}

/** Batches of a `.log` file in order, a chunk in memory at a time. Ends at the first bytes that are no whole batch; `tail` says where. */
export class LogFileReader {
  readonly #file: File
  #chunk = new Uint8Array(chunkBytes)
  /** First byte that was not read as a batch. */
  tail = 0

  constructor(file: File) {
    this.#file = file
  }

  *batches(): IterableIterator<PlacedBatch> {
    const sizeBytes = this.#file.size()
    while (this.tail < sizeBytes) {
      const length = this.#file.read(this.#chunk, 0, this.#chunk.length, this.tail)
      const view = this.#chunk.subarray(0, length)
      let at = 0
      while (isWholeBatch(view, at)) {
        const batch = new RecordBatch(view, at)
        const position = this.tail + at
        at += batch.sizeBytes
        yield { position, batch }
      }
      if (at === 0 && !this.#grow(view, sizeBytes)) return
      this.tail += at
    }
  }

  /** A batch larger than the chunk: a chunk that holds it, or false when the bytes are no batch. */
  #grow(view: Uint8Array, sizeBytes: number): boolean {
    if (view.length < 12) return false
    const wanted = batchBytesOf(view, 0)
    if (wanted <= this.#chunk.length || this.tail + wanted > sizeBytes) return false
    this.#chunk = new Uint8Array(wanted)
    return true
  }
}
