import { type Random, type Timers } from '../../kernel/ports/clock.ts'
import { type MemoryWire } from './memory-wire.ts'

interface PendingWrite {
  readonly pieces: readonly Uint8Array[]
  readonly written: (() => void) | undefined
  /** Where the first byte that is not taken yet lies. */
  piece: number
  offset: number
}

/** What travels: bytes, or the sign that none follow. */
type Packet = Uint8Array | 'fin'

export interface PipeReceiver {
  /** Bytes arrived, or the last byte has. They arrive one call at a time, in order. */
  arrive(packet: Packet): void
}

export interface PipeOptions {
  /** Of the sending process: what it is told happens on these. */
  readonly senderTimers: Timers
  readonly wire: MemoryWire
  readonly random: Random
  readonly receiver: PipeReceiver
  /** The last pending byte was taken. */
  readonly emptied: () => void
}

/** The largest piece that travels at once. */
const packetBytesMax = 64 * 1024

/**
 * One direction of a connection. What is written waits until the window has room, is copied then, travels in pieces of random size, and
 * arrives in order. The window counts what is on its way and what the receiver has not read.
 */
export class MemoryPipe {
  pendingBytes = 0
  /** Called when the sign is on its way. */
  onFinished: (() => void) | undefined
  private readonly options: PipeOptions
  private readonly queue: PendingWrite[] = []
  private readonly travelling: { readonly packet: Packet, readonly dueMs: number }[] = []
  private windowUsed = 0
  private taking = false
  private ended = false
  private finSent = false
  private dropped = false

  constructor(options: PipeOptions) {
    this.options = options
  }

  write(pieces: readonly Uint8Array[], written: (() => void) | undefined): void {
    for (const piece of pieces) this.pendingBytes += piece.length
    this.queue.push({ pieces, written, piece: 0, offset: 0 })
    this.takeSoon()
  }

  /** No more writes: the sign follows the last pending byte. */
  end(): void {
    this.ended = true
    this.takeSoon()
  }

  /** The receiver has read so many bytes. */
  read(bytes: number): void {
    this.windowUsed -= bytes
    if (this.queue.length > 0) this.takeSoon()
  }

  /** The sender closed: what was not taken is never sent, what was travels on, followed by the sign. Gives what must be called back. */
  abandon(): (() => void)[] {
    const callbacks = this.queue.splice(0).flatMap(({ written }) => written === undefined ? [] : [written])
    this.pendingBytes = 0
    this.end()
    return callbacks
  }

  /** Nothing of this arrives any more. */
  drop(): void {
    this.dropped = true
    this.travelling.length = 0
  }

  /** Whether all was taken and the sign is on its way. */
  get finished(): boolean {
    return this.finSent
  }

  private takeSoon(): void {
    if (this.taking || this.dropped) return
    this.taking = true
    this.options.senderTimers.soon(() => {
      this.taking = false
      this.take()
    })
  }

  private take(): void {
    if (this.dropped) return
    while (this.queue.length > 0) {
      const room = this.options.wire.windowBytes - this.windowUsed
      const first = this.queue[0]!
      if (room <= 0 && first.piece < first.pieces.length) return
      const packet = takeFrom(first, Math.min(room, packetBytesMax))
      if (packet.length > 0) this.send(packet)
      if (first.piece < first.pieces.length) continue
      this.queue.shift()
      first.written?.()
    }
    if (this.pendingBytes === 0 && !this.ended) this.options.emptied()
    if (!this.ended || this.queue.length > 0 || this.finSent) return
    this.finSent = true
    this.send('fin')
    this.onFinished?.()
  }

  private send(packet: Packet): void {
    if (packet !== 'fin') {
      this.pendingBytes -= packet.length
      this.windowUsed += packet.length
    }
    this.travelling.push({ packet, dueMs: this.options.wire.arrivalMs() })
    if (this.travelling.length === 1) this.travel()
  }

  /** One packet after another: a later one never overtakes. */
  private travel(): void {
    const first = this.travelling[0]
    if (first === undefined) return
    this.options.wire.deliver(first.dueMs, () => {
      if (this.dropped) return
      const { packet } = this.travelling[0]!
      if (packet === 'fin') {
        this.travelling.shift()
        this.options.wire.arrived(0)
        this.options.receiver.arrive('fin')
        return
      }
      const length = this.fragmentOf(packet)
      if (length === packet.length) this.travelling.shift()
      else this.travelling[0] = { packet: packet.subarray(length), dueMs: first.dueMs }
      this.travel()
      this.options.wire.arrived(length)
      this.options.receiver.arrive(packet.subarray(0, length))
    })
  }

  /** How much of it arrives at once: mostly all, sometimes cut anywhere. */
  private fragmentOf(packet: Uint8Array): number {
    const { random } = this.options
    if (!this.options.wire.fragments || packet.length < 2 || random.fraction() < 0.7) return packet.length
    return 1 + Math.floor(random.fraction() * (packet.length - 1))
  }
}

/** Copies up to `room` bytes of what is left of a write, and moves on in it. */
function takeFrom(write: PendingWrite, room: number): Uint8Array {
  let length = 0
  for (let piece = write.piece, offset = write.offset; piece < write.pieces.length && length < room; piece++, offset = 0) {
    length += write.pieces[piece]!.length - offset
  }
  const packet = new Uint8Array(Math.min(length, Math.max(0, room)))
  let at = 0
  while (write.piece < write.pieces.length) {
    const piece = write.pieces[write.piece]!
    const count = Math.min(piece.length - write.offset, packet.length - at)
    packet.set(piece.subarray(write.offset, write.offset + count), at)
    at += count
    write.offset += count
    if (write.offset < piece.length) break
    write.piece++
    write.offset = 0
  }
  return packet
}
