import { type Socket as NetSocket } from 'node:net'

interface PendingWrite {
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
  readonly written: (() => void) | undefined
}

/** Writes of one tick that are no more than this together are copied into one buffer: cheaper than a chunk each in the stream. */
const copiedBytesMax = 32 * 1024

/**
 * What a socket has still to send. All writes of one tick leave in one system call: a call for each response is what makes small
 * requests slow. Small writes are copied and their pieces given back at once.
 */
export class OutgoingBytes {
  pendingBytes = 0
  private readonly stream: NetSocket
  private readonly emptied: () => void
  private batch: PendingWrite[] = []
  private batchBytes = 0
  /** Handed to the stream, in order; one entry for each callback that will come. */
  private inFlight: PendingWrite[] = []
  private closed = false

  /** `emptied` is called whenever the last byte has gone. */
  constructor(stream: NetSocket, emptied: () => void) {
    this.stream = stream
    this.emptied = emptied
  }

  write(pieces: readonly Uint8Array[], written: (() => void) | undefined): void {
    let bytes = 0
    for (const piece of pieces) bytes += piece.length
    this.batch.push({ pieces, bytes, written })
    this.batchBytes += bytes
    this.pendingBytes += bytes
    if (this.batch.length === 1) process.nextTick(this.flush)
  }

  /** Hands the writes of this tick to the stream. */
  readonly flush = (): void => {
    if (this.closed || this.batch.length === 0 || this.stream.destroyed) return
    const batch = this.batch
    const bytes = this.batchBytes
    this.batch = []
    this.batchBytes = 0
    if (bytes <= copiedBytesMax && (batch.length > 1 || batch[0]!.pieces.length > 1)) return this.sendCopied(batch, bytes)
    this.stream.cork()
    for (const write of batch) this.send(write)
    this.stream.uncork()
  }

  /** The connection is gone: every piece is given back, in order. */
  close(): void {
    this.closed = true
    const left = [...this.inFlight, ...this.batch]
    this.inFlight = []
    this.batch = []
    this.pendingBytes = 0
    for (const { written } of left) written?.()
  }

  private sendCopied(batch: readonly PendingWrite[], bytes: number): void {
    const copy = Buffer.allocUnsafe(bytes)
    let at = 0
    for (const { pieces } of batch) {
      for (const piece of pieces) {
        copy.set(piece, at)
        at += piece.length
      }
    }
    this.send({ pieces: [copy], bytes, written: undefined })
    for (const { written } of batch) written?.()
  }

  private send(write: PendingWrite): void {
    this.inFlight.push(write)
    const last = write.pieces.length - 1
    for (let index = 0; index < last; index++) this.stream.write(write.pieces[index]!)
    this.stream.write(last < 0 ? nothing : write.pieces[last]!, this.onWritten)
  }

  private readonly onWritten = (): void => {
    // After destroy the stream gives its callbacks in no useful order: `close` gives everything back when the handle is gone.
    if (this.closed || this.stream.destroyed) return
    const write = this.inFlight.shift()!
    this.pendingBytes -= write.bytes
    write.written?.()
    if (this.pendingBytes === 0 && !this.closed) this.emptied()
  }
}

const nothing = new Uint8Array(0)
