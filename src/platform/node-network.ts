import * as net from 'node:net'
import * as tls from 'node:tls'
import { type Endpoint, type Listener, type Network, type Socket, type TlsClientOptions } from '../kernel/ports/network.ts'
import { connectError, listenError } from './network-error.ts'
import { NodeSocket } from './node-socket.ts'
import { Receiver, withOwnMemory } from './socket-receive.ts'

export interface NodeNetworkOptions {
  /** `shared`: bytes land in memory that is used again, where this Node can; `chunks`: fresh memory each time. Default shared. */
  readonly receive?: 'shared' | 'chunks'
}

/** A peer that vanished without a word is noticed after this and some probes. */
const keepAliveDelayMs = 60_000
const common = { noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelayMs, allowHalfOpen: true } as const

/** TCP of this machine, and TLS outwards. */
export class NodeNetwork implements Network {
  private readonly sharedMemory: boolean

  constructor(options: NodeNetworkOptions = {}) {
    this.sharedMemory = options.receive !== 'chunks'
  }

  listen(at: Endpoint, accept: (socket: Socket) => void): Promise<Listener> {
    const server = net.createServer({ ...common, pauseOnConnect: true }, stream => this.accepted(stream, accept))
    return startListening(server, at)
  }

  connect(to: Endpoint, options: { readonly timeoutMs: number, readonly tls?: TlsClientOptions }): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const receiver = new Receiver()
      const stream = options.tls === undefined ? this.connectPlain(to, receiver) : connectTls(to, options.tls, receiver)
      const fail = (error: unknown): void => {
        clearTimeout(timer)
        stream.destroy()
        reject(connectError(error, to))
      }
      const gone = (): void => fail(new Error('the connection closed at once'))
      const timer = setTimeout(() => fail(new Error(`timed out after ${options.timeoutMs} ms`)), options.timeoutMs)
      stream.once('error', fail)
      stream.once('close', gone)
      stream.once(options.tls === undefined ? 'connect' : 'secureConnect', () => {
        clearTimeout(timer)
        stream.off('error', fail)
        stream.off('close', gone)
        receiver.socket = new NodeSocket(stream)
        resolve(receiver.socket)
      })
    })
  }

  private accepted(stream: net.Socket, accept: (socket: Socket) => void): void {
    // Gone before it was looked at.
    if (stream.remoteAddress === undefined) return void stream.destroy()
    const receiver = new Receiver()
    const shared = this.sharedMemory ? withOwnMemory(stream, receiver) : undefined
    if (shared === undefined) receiver.onData(stream)
    // Listening to data lets a stream flow; nothing may come before the socket is opened.
    if (shared === undefined) stream.pause()
    receiver.socket = new NodeSocket(shared ?? stream)
    accept(receiver.socket)
  }

  private connectPlain(to: Endpoint, receiver: Receiver): net.Socket {
    const onread = this.sharedMemory ? { onread: receiver.onread() } : {}
    const stream = net.connect({ ...common, host: to.host, port: to.port, ...onread })
    if (!this.sharedMemory) receiver.onData(stream)
    return stream.pause()
  }
}

function connectTls(to: Endpoint, options: TlsClientOptions, receiver: Receiver): net.Socket {
  const { ca, cert, key, serverName, verify = true } = options
  // Names go into the handshake, addresses must not.
  const name = serverName ?? (net.isIP(to.host) === 0 ? to.host : undefined)
  const stream = tls.connect({
    ...common, host: to.host, port: to.port, rejectUnauthorized: verify,
    ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }),
    ...(name === undefined ? {} : { servername: name }),
  })
  receiver.onData(stream)
  return stream.pause()
}

/** Starts a server of Node's, for TCP or HTTP, and gives it the port's shape. */
export function startListening(server: net.Server, at: Endpoint, closing: () => void = () => {}): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const refused = (error: unknown): void => reject(listenError(error, at))
    server.once('error', refused)
    server.listen({ host: at.host, port: at.port, exclusive: true }, () => {
      server.off('error', refused)
      // Accepting may fail, for instance when the process is out of descriptors; the next connection may succeed, so the listener stays.
      server.on('error', () => {})
      const { address, port } = server.address() as net.AddressInfo
      resolve({ endpoint: { host: address, port }, close: () => stopListening(server, closing) })
    })
  })
}

/** The port is free when the handle is closed; the server's own callback would wait for its connections. */
function stopListening(server: net.Server, closing: () => void): Promise<void> {
  return new Promise(resolve => {
    if (server.listening) server.close()
    closing()
    setImmediate(resolve)
  })
}
