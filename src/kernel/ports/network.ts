import { token } from '../plugin/token.ts'

/** How a connection is secured, and whom it trusts: without `ca`, the authorities that Node trusts. */
export interface TlsClientOptions {
  /** PEM texts. */
  readonly ca?: string
  /** Certificate of this client, for servers that ask for one; PEM. Goes with `key`. */
  readonly cert?: string
  /** Its private key, PEM, without a passphrase. */
  readonly key?: string
  /** The name that the server's certificate is to be for. By default the host that is connected to, where it is a name. */
  readonly serverName?: string
  /** Default true. False accepts any certificate: for tests. */
  readonly verify?: boolean
}

/** An address: a name or an IP address (IPv6 without brackets), and a port from 0 to 65535. */
export interface Endpoint {
  /** A name or an IP address. */
  readonly host: string
  /** 0 to 65535; 0 is any free one, and only to listen on. */
  readonly port: number
}

/** What a socket tells its owner. Calls come one at a time; none comes after `closed`. None may throw. */
export interface SocketHandler {
  /** Bytes came: `bytes[offset, offset + length)`. They are only valid during the call; keep nothing of it. */
  data(bytes: Uint8Array, offset: number, length: number): void
  /** The buffer of outgoing bytes is empty again, after `write` had returned false. */
  drained?(): void
  /** The connection is gone; `error` says why unless it was closed in order. Exactly once. */
  closed(error?: unknown): void
}

/** One connection: bytes in order both ways. No call throws, also when the connection is gone: what was wrong comes with `closed`. */
export interface Socket {
  /** This end; the same for as long as the object lives. */
  readonly local: Endpoint
  /** The peer. Still told when the connection is gone. */
  readonly remote: Endpoint
  /** Must be called once, in the turn in which the socket was given; before it no byte is read. */
  open(handler: SocketHandler): void
  /**
   * Sends the pieces in order, after all earlier ones. They belong to the socket until `written` is called, which happens exactly
   * once, also when the connection is gone. False means that the outgoing buffer is full: write no more until `drained`.
   */
  write(pieces: readonly Uint8Array[], written?: () => void): boolean
  /** Bytes taken by `write` and not yet by the kernel. */
  readonly pendingBytes: number
  /** No `data` until `resume`; the peer is slowed by TCP. */
  pause(): void
  /** `data` may come again, in a later turn; fine when nothing was paused. */
  resume(): void
  /** Sends what is pending, then closes. */
  end(): void
  /** Closes now. */
  destroy(): void
}

/** An address on which connections are accepted. */
export interface Listener {
  /** Where it listens: the port is the one that was taken, also where 0 was asked for. */
  readonly endpoint: Endpoint
  /** Stops accepting. Connections stay. Resolves when the port is free; never rejects, and a second close is fine. */
  close(): Promise<void>
}

/** TCP of one machine. */
export interface Network {
  /** Port 0 takes a free one. Rejects with MR_NET_ADDRESS_IN_USE or MR_NET_LISTEN. */
  listen(at: Endpoint, accept: (socket: Socket) => void): Promise<Listener>
  /** Rejects with MR_NET_CONNECT, also when `timeoutMs` has passed. */
  connect(to: Endpoint, options: { readonly timeoutMs: number, readonly tls?: TlsClientOptions }): Promise<Socket>
}
export const Network = token<Network>('Network', { listen: true, connect: true })
