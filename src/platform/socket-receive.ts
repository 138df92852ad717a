import { Socket as NetSocket, type OnReadOpts } from 'node:net'
import { type NodeSocket } from './node-socket.ts'

/** One read of the network at most. Larger ones gained nothing in bench/socket-receive.ts, 64 KiB cost twice the CPU. */
const landingBytes = 256 * 1024

/**
 * Where the bytes of all connections land. One buffer serves all: the loop reads and hands over one connection at a time, and the
 * owner may keep nothing of it after the call. Fresh memory for each chunk, Node's default, costs half as much again in CPU.
 */
let landing: Uint8Array | undefined

/** Connects a stream with the socket that is made over it a moment later. */
export class Receiver {
  socket: NodeSocket | undefined

  /** The option with which Node reads into our memory. */
  onread(): OnReadOpts {
    const buffer = landing ??= new Uint8Array(landingBytes)
    return {
      buffer,
      callback: length => {
        this.socket?.received(buffer, 0, length)
        return true
      },
    }
  }

  /** The default way, for streams that cannot do the other: TLS, and accepted sockets where Node's inside has changed. */
  onData(stream: NetSocket): void {
    stream.on('data', (chunk: Buffer) => this.socket?.received(chunk, 0, chunk.length))
  }
}

/** Inside of Node, absent from its types: the handle of a stream, and the server that counts it. */
interface StreamInside {
  _handle: { readonly useUserBuffer?: unknown, readonly readStart?: unknown } | null
  _server: unknown
}

/**
 * Makes a stream over the handle of an accepted, still paused one, which then reads into the landing buffer. Node offers that for
 * outgoing connections only. Undefined where this Node's inside does not look as expected: use the stream as it is.
 */
export function withOwnMemory(accepted: NetSocket, receiver: Receiver): NetSocket | undefined {
  const inside = accepted as unknown as StreamInside
  const handle = inside._handle
  if (handle === null || typeof handle.useUserBuffer !== 'function' || typeof handle.readStart !== 'function') return undefined
  const options = { handle, allowHalfOpen: true, pauseOnCreate: true, onread: receiver.onread() }
  const stream = new NetSocket(options as ConstructorParameters<typeof NetSocket>[0])
  const outside = stream as unknown as StreamInside
  outside._server = inside._server
  // The first stream must not close the handle, which is no longer its own, nor be counted twice.
  inside._server = null
  inside._handle = null
  return stream
}
