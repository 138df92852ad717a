import { assert } from '../../base/assert.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { type Random, type Timer, type Timers } from '../../kernel/ports/clock.ts'
import { type Endpoint, type Socket, type SocketHandler } from '../../kernel/ports/network.ts'
import { type MemoryPipe, type PipeReceiver } from './memory-pipe.ts'

export interface MemorySocketOptions {
  readonly local: Endpoint
  readonly remote: Endpoint
  readonly timers: Timers
  readonly random: Random
  /** Above so many pending bytes `write` answers false. */
  readonly outgoingBytesMax: number
  /** A connection that is to end and makes no progress for so long is cut. */
  readonly endStallMs: number
  /** This end is gone for its owner. */
  readonly onClosed: (socket: MemorySocket) => void
}

/** Bytes are handed over in the middle of this one buffer, which is spoiled afterwards: whoever keeps a view of it finds out. */
const landing = new Uint8Array(96 * 1024)
const spoiled = 0xdb

/** One end of a connection in memory, with the manners of a real one: see NodeSocket in platform for what `end` waits for. */
export class MemorySocket implements Socket, PipeReceiver {
  readonly local: Endpoint
  readonly remote: Endpoint
  private readonly options: MemorySocketOptions
  private outgoing!: MemoryPipe
  private incoming!: MemoryPipe
  private handler: SocketHandler | undefined
  /** Arrived, not read yet by the owner. */
  private readonly unread: Uint8Array[] = []
  private peerDone = false
  private paused = false
  private reading = false
  private needsDrain = false
  private ending = false
  private closed = false
  private told = false
  private failure: unknown
  private stallTimer: Timer | undefined

  constructor(options: MemorySocketOptions) {
    this.options = options
    this.local = options.local
    this.remote = options.remote
  }

  /** The two directions, made after both ends. */
  attach(outgoing: MemoryPipe, incoming: MemoryPipe): void {
    this.outgoing = outgoing
    this.incoming = incoming
  }

  open(handler: SocketHandler): void {
    assert(this.handler === undefined, 'a socket is opened once')
    this.handler = handler
    if (this.closed) this.options.timers.soon(() => this.tellClosed())
    else this.readSoon()
  }

  get pendingBytes(): number {
    return this.closed ? 0 : this.outgoing.pendingBytes
  }

  write(pieces: readonly Uint8Array[], written?: () => void): boolean {
    if (this.ending || this.closed) {
      if (written !== undefined) this.options.timers.soon(written)
      return false
    }
    this.outgoing.write(pieces, written)
    if (this.outgoing.pendingBytes < this.options.outgoingBytesMax) return true
    this.needsDrain = true
    return false
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
    this.readSoon()
  }

  end(): void {
    if (this.ending || this.closed) return
    this.ending = true
    this.outgoing.end()
    this.readSoon()
    this.watchProgress()
  }

  destroy(): void {
    if (this.closed) return
    // As the kernel does: a close with unread bytes tells the peer that they were lost.
    if (this.unread.length > 0) this.resetPeer()
    this.close(undefined)
  }

  arrive(packet: Uint8Array | 'fin'): void {
    if (this.closed) {
      if (packet !== 'fin') this.resetPeer()
      return
    }
    if (packet === 'fin') this.peerDone = true
    else this.unread.push(packet)
    this.readNow()
  }

  /** The connection broke: at this end nothing goes on. */
  break(reason: string): void {
    if (this.closed) return
    const { host, port } = this.remote
    this.incoming.drop()
    this.outgoing.drop()
    this.close(new MillraceError('MR_NET_CLOSED', { host, port, reason }))
  }

  /** Called by the outgoing direction when all was taken. */
  readonly emptied = (): void => {
    if (!this.needsDrain || this.closed) return
    this.needsDrain = false
    if (!this.ending) this.handler?.drained?.()
  }

  /** How this end resets the other. Set by the network. */
  resetPeer: () => void = () => {}

  /** For the report of a simulation that is stuck; undefined when there is nothing to say. */
  describe(): string | undefined {
    if (this.closed) return undefined
    const unread = this.unread.reduce((sum, bytes) => sum + bytes.length, 0)
    if (unread === 0 && this.outgoing.pendingBytes === 0) return undefined
    const state = `${unread} bytes unread${this.paused ? ' while paused' : ''}, ${this.outgoing.pendingBytes} bytes unsent`
    return `connection ${this.local.host}:${this.local.port} to ${this.remote.host}:${this.remote.port}: ${state}`
  }

  private readSoon(): void {
    if (this.reading || (this.unread.length === 0 && !this.peerDone)) return
    this.reading = true
    this.options.timers.soon(() => {
      this.reading = false
      this.readNow()
    })
  }

  /** Hands over one piece; the next one in an event of its own, so that a pause takes effect. */
  private readNow(): void {
    if (this.closed || this.reading || (!this.ending && (this.paused || this.handler === undefined))) return
    const bytes = this.unread.shift()
    if (bytes === undefined) {
      if (this.peerDone) this.peerEnded()
      return
    }
    if (!this.ending) this.handOver(bytes)
    // The owner may have closed meanwhile; the window is the connection's, not the owner's.
    this.incoming.read(bytes.length)
    this.readSoon()
  }

  private handOver(bytes: Uint8Array): void {
    const offset = Math.floor(this.options.random.fraction() * (landing.length - bytes.length))
    landing.set(bytes, offset)
    try {
      this.handler!.data(landing, offset, bytes.length)
    } finally {
      landing.fill(spoiled, offset, offset + bytes.length)
    }
  }

  private peerEnded(): void {
    this.end()
    if (this.outgoing.finished) this.close(undefined)
    // Otherwise what is pending goes out first; `watchProgress` looks again.
    else this.outgoing.onFinished = () => this.options.timers.soon(() => this.close(undefined))
  }

  private watchProgress(): void {
    const before = this.outgoing.pendingBytes
    this.stallTimer = this.options.timers.after(this.options.endStallMs, () => {
      if (this.closed) return
      if (before === this.outgoing.pendingBytes) this.destroy()
      else this.watchProgress()
    })
  }

  private close(failure: unknown): void {
    if (this.closed) return
    this.closed = true
    this.failure = failure
    this.stallTimer?.cancel()
    this.unread.length = 0
    const callbacks = this.outgoing.abandon()
    this.options.onClosed(this)
    this.options.timers.soon(() => {
      for (const callback of callbacks) callback()
      if (this.handler !== undefined) this.tellClosed()
    })
  }

  private tellClosed(): void {
    if (this.told) return
    this.told = true
    if (this.failure === undefined) this.handler!.closed()
    else this.handler!.closed(this.failure)
  }
}
