import { type Socket as NetSocket } from 'node:net'
import { assert } from '../base/assert.ts'
import { type Endpoint, type Socket, type SocketHandler } from '../kernel/ports/network.ts'
import { closedError } from './network-error.ts'
import { OutgoingBytes } from './outgoing-bytes.ts'

/** Above this many unsent bytes `write` answers false. */
const outgoingBytesMax = 1024 * 1024
/** A connection that is to end and makes no progress for so long is cut. */
const endStallMs = 5000

/**
 * One connection, over a stream of Node that was made with `allowHalfOpen`. When the peer has sent its last byte this side sends what is
 * pending and closes too. `end` waits for the peer's last byte and throws away what comes until then: closing with unread bytes
 * would make the kernel reset the connection, and the peer lose what it has not read yet.
 */
export class NodeSocket implements Socket {
  readonly local: Endpoint
  readonly remote: Endpoint
  private readonly stream: NetSocket
  private readonly outgoing: OutgoingBytes
  private handler: SocketHandler | undefined
  private failure: unknown
  private needsDrain = false
  private ending = false
  private closed = false
  private stallTimer: NodeJS.Timeout | undefined

  constructor(stream: NetSocket) {
    this.stream = stream
    this.local = { host: stream.localAddress ?? '', port: stream.localPort ?? 0 }
    this.remote = { host: stream.remoteAddress ?? '', port: stream.remotePort ?? 0 }
    this.outgoing = new OutgoingBytes(stream, this.onEmptied)
    stream.on('error', error => {
      this.failure ??= error
    })
    stream.on('end', () => this.end())
    stream.on('close', this.onClose)
  }

  open(handler: SocketHandler): void {
    assert(this.handler === undefined, 'a socket is opened once')
    this.handler = handler
    if (this.closed) process.nextTick(() => this.tellClosed())
    else this.stream.resume()
  }

  /** Bytes of the network, from whichever way of receiving the connection was made with. */
  received(bytes: Uint8Array, offset: number, length: number): void {
    if (!this.ending) this.handler?.data(bytes, offset, length)
  }

  get pendingBytes(): number {
    return this.outgoing.pendingBytes
  }

  write(pieces: readonly Uint8Array[], written?: () => void): boolean {
    if (this.ending || this.stream.destroyed) {
      if (written !== undefined) process.nextTick(written)
      return false
    }
    this.outgoing.write(pieces, written)
    if (this.outgoing.pendingBytes < outgoingBytesMax) return true
    this.needsDrain = true
    return false
  }

  pause(): void {
    if (!this.ending) this.stream.pause()
  }

  resume(): void {
    this.stream.resume()
  }

  end(): void {
    if (this.ending || this.stream.destroyed) return
    this.ending = true
    this.outgoing.flush()
    this.stream.end()
    this.stream.resume()
    this.watchProgress()
  }

  destroy(): void {
    this.ending = true
    this.stream.destroy()
  }

  private watchProgress(): void {
    const before = this.outgoing.pendingBytes
    this.stallTimer = setTimeout(() => {
      if (before === this.outgoing.pendingBytes) this.stream.destroy()
      else this.watchProgress()
    }, endStallMs)
    this.stallTimer.unref()
  }

  private readonly onEmptied = (): void => {
    if (!this.needsDrain) return
    this.needsDrain = false
    if (!this.ending) this.handler?.drained?.()
  }

  private readonly onClose = (): void => {
    clearTimeout(this.stallTimer)
    this.ending = true
    this.closed = true
    this.outgoing.close()
    if (this.handler !== undefined) this.tellClosed()
  }

  private tellClosed(): void {
    if (this.failure === undefined) this.handler!.closed()
    else this.handler!.closed(closedError(this.failure, this.remote))
  }
}
