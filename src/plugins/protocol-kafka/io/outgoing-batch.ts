import { BytesWriter } from '../../../base/bytes-writer.ts'

/** Writers above this size are not kept: one large answer must not hold its memory for ever. */
const keptBytesMax = 64 * 1024
const keptBatchesMax = 256

/** Answers that leave together in one write, and what has to be told when they have left. */
export class OutgoingBatch {
  readonly writer = new BytesWriter(2048)
  private readonly released: (() => void)[] = []
  private readonly pool: OutgoingBatchPool

  constructor(pool: OutgoingBatchPool) {
    this.pool = pool
  }

  whenWritten(released: () => void): void {
    this.released.push(released)
  }

  /** The bytes have left, or never will. Made once per object and handed to the socket as it is. */
  readonly done = (): void => {
    const { released } = this
    // A release may run into anything that its owner does; the batch must be clean by then.
    const callbacks = released.length === 0 ? undefined : released.splice(0)
    this.writer.reset()
    this.pool.give(this)
    if (callbacks !== undefined) for (const callback of callbacks) callback()
  }
}

/** Memory of answers follows the bytes on their way out, not the number of connections. */
export class OutgoingBatchPool {
  private readonly free: OutgoingBatch[] = []

  take(): OutgoingBatch {
    return this.free.pop() ?? new OutgoingBatch(this)
  }

  give(batch: OutgoingBatch): void {
    if (this.free.length < keptBatchesMax && batch.writer.bytes.length <= keptBytesMax) this.free.push(batch)
  }
}
