import { type Socket } from '../../../kernel/ports/network.ts'
import { type Counter } from '../../../kernel/ports/telemetry.ts'
import { type OutgoingBatch, type OutgoingBatchPool } from './outgoing-batch.ts'

/**
 * What leaves on one connection: answers are encoded behind one another and go out in one write a turn of the event loop. One write a
 * turn instead of one an answer is worth a factor of three with small requests.
 */
export class ConnectionOutput {
  /** False from when the socket's buffer was full until it is empty again. */
  writable = true
  private readonly socket: Socket
  private readonly pool: OutgoingBatchPool
  private readonly sentBytes: Counter
  /** Called after each flush. */
  private readonly flushed: () => void
  private open: OutgoingBatch | undefined
  private readonly ready: OutgoingBatch[] = []
  private readyBytes = 0
  private flushWaits = false
  private closed = false

  constructor(socket: Socket, pool: OutgoingBatchPool, sentBytes: Counter, flushed: () => void) {
    this.socket = socket
    this.pool = pool
    this.sentBytes = sentBytes
    this.flushed = flushed
  }

  /** Bytes that the socket was not given yet. */
  get waitingBytes(): number {
    return this.readyBytes + (this.open?.writer.length ?? 0)
  }

  get isEmpty(): boolean {
    return this.open === undefined && this.ready.length === 0
  }

  /** Where the next answer is to be written, behind all that left before. */
  current(): OutgoingBatch {
    this.open ??= this.pool.take()
    return this.open
  }

  /** Sends a batch that was written apart, after everything so far. */
  append(batch: OutgoingBatch): void {
    this.closeOpen()
    this.ready.push(batch)
    this.readyBytes += batch.writer.length
  }

  /** Flushes at the end of this turn. */
  flushLater(): void {
    if (this.flushWaits || !this.writable || this.isEmpty) return
    this.flushWaits = true
    queueMicrotask(this.flushNow)
  }

  drained(): void {
    this.writable = true
    this.flush()
  }

  /** Hands over now what waits, for a connection that is about to end. */
  flushAtOnce(): void {
    this.flush()
  }

  /** The connection is gone: what waits is let go. */
  close(): void {
    this.closed = true
    this.closeOpen()
    for (const batch of this.ready.splice(0)) batch.done()
    this.readyBytes = 0
  }

  private readonly flushNow = (): void => {
    this.flushWaits = false
    this.flush()
  }

  private flush(): void {
    if (this.closed || !this.writable) return
    this.closeOpen()
    if (this.ready.length > 0) this.write(this.ready.splice(0))
    this.flushed()
  }

  private write(batches: OutgoingBatch[]): void {
    const [first] = batches
    const only = batches.length === 1
    this.readyBytes = 0
    for (const batch of batches) this.sentBytes.add(batch.writer.length)
    const pieces = only ? first!.writer.pieces() : batches.flatMap((batch) => batch.writer.pieces())
    this.writable = this.socket.write(pieces, only ? first!.done : () => { for (const batch of batches) batch.done() })
  }

  private closeOpen(): void {
    if (this.open === undefined) return
    this.ready.push(this.open)
    this.readyBytes += this.open.writer.length
    this.open = undefined
  }
}
