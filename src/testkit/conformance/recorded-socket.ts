import { type Endpoint, type Network, type Socket, type SocketHandler } from '../../kernel/ports/network.ts'

/** The owner of a socket that keeps what it is told, and lets a test wait for it. */
export class RecordedSocket implements SocketHandler {
  readonly socket: Socket
  /** How often each was called. */
  dataCalls = 0
  drainedCalls = 0
  closedCalls = 0
  closedWith: unknown
  /** Calls after `closed`: there must be none. */
  lateCalls = 0
  /** Called for every piece of data, after it was kept. */
  onData: (() => void) | undefined
  onDrained: (() => void) | undefined
  private store = new Uint8Array(1024)
  private filled = 0
  private waiting: { readonly condition: () => boolean, readonly resolve: () => void }[] = []

  constructor(socket: Socket) {
    this.socket = socket
    socket.open(this)
  }

  /** All bytes that came, in order. */
  get received(): Uint8Array {
    return this.store.subarray(0, this.filled)
  }

  data(bytes: Uint8Array, offset: number, length: number): void {
    this.noteLate()
    this.dataCalls++
    if (this.filled + length > this.store.length) {
      const longer = new Uint8Array(Math.max(this.filled + length, this.store.length * 2))
      longer.set(this.received)
      this.store = longer
    }
    this.store.set(bytes.subarray(offset, offset + length), this.filled)
    this.filled += length
    this.onData?.()
    this.wake()
  }

  drained(): void {
    this.noteLate()
    this.drainedCalls++
    this.onDrained?.()
    this.wake()
  }

  closed(error?: unknown): void {
    this.noteLate()
    this.closedCalls++
    this.closedWith = error
    this.wake()
  }

  /** Resolves when the condition holds; it is looked at after every call to this handler and to `wake`. */
  until(condition: () => boolean): Promise<void> {
    return new Promise(resolve => {
      this.waiting.push({ condition, resolve })
      this.wake()
    })
  }

  bytesReceived(count: number): Promise<void> {
    return this.until(() => this.filled >= count)
  }

  gone(): Promise<void> {
    return this.until(() => this.closedCalls > 0)
  }

  private noteLate(): void {
    if (this.closedCalls > 0) this.lateCalls++
  }

  /** Looks at the conditions again: for those that other callbacks change. */
  wake(): void {
    for (const entry of this.waiting.filter(each => each.condition())) {
      this.waiting.splice(this.waiting.indexOf(entry), 1)
      entry.resolve()
    }
  }
}

/** Both ends of one connection. */
export interface RecordedPair {
  readonly client: RecordedSocket
  readonly server: RecordedSocket
}

/** Two ends of a new connection to a listener of this queue. */
export async function connectPair(network: Network, accepted: AcceptQueue, to: Endpoint): Promise<RecordedPair> {
  const client = new RecordedSocket(await network.connect(to, { timeoutMs: 10_000 }))
  return { client, server: await accepted.peerOf(client.socket.local.port) }
}

/** Keeps accepted sockets until somebody asks for them. */
export class AcceptQueue {
  private readonly ready: RecordedSocket[] = []
  private readonly wanted: { readonly port: number | undefined, readonly give: (socket: RecordedSocket) => void }[] = []

  readonly accept = (socket: Socket): void => {
    const recorded = new RecordedSocket(socket)
    const index = this.wanted.findIndex(({ port }) => port === undefined || port === socket.remote.port)
    if (index < 0) this.ready.push(recorded)
    else this.wanted.splice(index, 1)[0]!.give(recorded)
  }

  /** The one that was accepted first and not asked for yet. */
  next(): Promise<RecordedSocket> {
    return this.take(undefined)
  }

  /** The one whose client has this port. */
  peerOf(port: number): Promise<RecordedSocket> {
    return this.take(port)
  }

  private take(port: number | undefined): Promise<RecordedSocket> {
    const index = this.ready.findIndex(({ socket }) => port === undefined || port === socket.remote.port)
    if (index >= 0) return Promise.resolve(this.ready.splice(index, 1)[0]!)
    return new Promise(give => this.wanted.push({ port, give }))
  }
}
