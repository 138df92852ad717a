import { MillraceError, type ErrorCode } from '../../kernel/errors/index.ts'
import { type Clock, type Random, type Timers } from '../../kernel/ports/clock.ts'
import { type Endpoint, type Listener, type Network, type Socket, type TlsClientOptions } from '../../kernel/ports/network.ts'
import { MemoryConnection } from './memory-connection.ts'
import { type MemorySocket } from './memory-socket.ts'

/** What the network has to work with. */
export interface MemoryNetworkOptions {
  readonly clock: Clock
  /** Of the network itself; those of a machine are given to `host`. */
  readonly timers: Timers
  readonly random: Random
  /** One way, asked for each packet. Default: 0.05 to 0.5 ms, by chance. */
  readonly latencyMs?: (from: string, to: string) => number
  /** Cuts what is sent into pieces by chance. Default true. */
  readonly fragments?: boolean
  /** Bytes of one direction that may be on the way or unread. Default 256 KiB. */
  readonly windowBytes?: number
  /** `write` answers false above this. Default 256 KiB. */
  readonly outgoingBytesMax?: number
  /** A connection with something to send across a cut breaks after this. Default 30 s. */
  readonly giveUpMs?: number
  /** Sees connections made and refused, and packets arriving. */
  readonly observe?: (event: string, from: string, to: string) => void
}

const loopbackNames: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1'])
const anyNames: ReadonlySet<string> = new Set(['0.0.0.0', '::'])
const firstFreePort = 20_000
const firstClientPort = 40_000
const endStallMs = 5000

interface ListenerState {
  readonly endpoint: Endpoint
  readonly accept: (socket: Socket) => void
}

/**
 * TCP between named machines in memory. Bytes of a direction arrive whole and in order, in pieces of any size, after a delay by chance;
 * buffers are bounded and slow the sender. Pairs of machines can be cut apart, connections reset, machines crashed.
 */
export class MemoryNetwork {
  readonly options: Required<Omit<MemoryNetworkOptions, 'observe'>>
  readonly observe: (event: string, from: string, to: string) => void
  private readonly hosts = new Map<string, MemoryHost>()
  private readonly connections = new Set<MemoryConnection>()
  private readonly cuts = new Set<string>()

  constructor(options: MemoryNetworkOptions) {
    const { random } = options
    this.observe = options.observe ?? (() => {})
    this.options = {
      latencyMs: () => 0.05 + random.fraction() * 0.45,
      fragments: true, windowBytes: 256 * 1024, outgoingBytesMax: 256 * 1024, giveUpMs: 30_000, ...options,
    }
  }

  /** The network as a machine of this name sees it. A name used again is a machine that started again: it has no listeners yet. */
  host(name: string, timers = this.options.timers): Network {
    const host = new MemoryHost(this, name, timers, this.hosts.get(name))
    this.hosts.set(name, host)
    return host
  }

  /** No packet passes from one to the other, or back, until `heal`. Connections wait, and break when they have waited too long. */
  cut(left: string, right: string): void {
    this.cutOneWay(left, right)
    this.cutOneWay(right, left)
  }

  cutOneWay(from: string, to: string): void {
    this.cuts.add(`${from}>${to}`)
  }

  /** Cuts a machine off from all others. */
  isolate(name: string): void {
    for (const other of this.hosts.keys()) if (other !== name) this.cut(name, other)
  }

  /** Undoes the cuts between the two, or all cuts. */
  heal(left?: string, right?: string): void {
    if (left === undefined || right === undefined) this.cuts.clear()
    else for (const way of [`${left}>${right}`, `${right}>${left}`]) this.cuts.delete(way)
    for (const connection of this.connections) connection.retry()
  }

  isCut(from: string, to: string): boolean {
    return this.cuts.has(`${from}>${to}`)
  }

  /** Breaks the connections between two machines, or all of one; both ends are told. Gives their number. */
  reset(left: string, right?: string): number {
    const broken = [...this.connections].filter(({ from, to }) =>
      (from === left && (right === undefined || to === right)) || (to === left && (right === undefined || from === right)))
    for (const connection of broken) connection.break('ECONNRESET')
    return broken.length
  }

  /**
   * The processes of a machine are gone, with their listeners. Their system tells the peers, unless it is gone too (`silent`): then the
   * peers find out when they have waited long enough.
   */
  crash(name: string, options: { readonly silent: boolean }): void {
    this.hosts.get(name)?.crash(options.silent)
    for (const connection of [...this.connections]) {
      if (connection.from !== name && connection.to !== name) continue
      connection.crash(name, options.silent ? this.options.giveUpMs : this.latencyMs(name, name))
      this.connections.delete(connection)
    }
  }

  /** Connections that have something unread or unsent, for the report of a simulation that is stuck. */
  describe(): readonly string[] {
    return [...this.connections].flatMap(connection => connection.describe())
  }

  /** Connections that are not closed at both ends. */
  get openConnections(): number {
    return this.connections.size
  }

  latencyMs(from: string, to: string): number {
    return this.options.latencyMs(from, to)
  }

  /** The machine that a name means for one that asks. */
  find(name: string, asking: MemoryHost): MemoryHost | undefined {
    return loopbackNames.has(name) || anyNames.has(name) ? asking : this.hosts.get(name)
  }

  /** Joins two machines. Gives both ends, none of them opened. */
  join(client: MemoryHost, server: MemoryHost, clientEnd: Endpoint, serverEnd: Endpoint): MemoryConnection {
    const connection = new MemoryConnection(this, {
      client, server, clientEnd, serverEnd, endStallMs, onClosed: () => this.connections.delete(connection),
    })
    this.connections.add(connection)
    return connection
  }
}

/** The network as one machine sees it. */
export class MemoryHost implements Network {
  readonly name: string
  readonly timers: Timers
  private readonly network: MemoryNetwork
  private readonly listeners = new Map<number, ListenerState>()
  private silent = false
  private nextPort: number
  private nextClientPort: number

  constructor(network: MemoryNetwork, name: string, timers: Timers, before: MemoryHost | undefined) {
    this.network = network
    this.name = name
    this.timers = timers
    this.nextPort = before?.nextPort ?? firstFreePort
    this.nextClientPort = before?.nextClientPort ?? firstClientPort
  }

  listen(at: Endpoint, accept: (socket: Socket) => void): Promise<Listener> {
    return new Promise((resolve, reject) => {
      const port = at.port === 0 ? this.freePort() : at.port
      const own = loopbackNames.has(at.host) || anyNames.has(at.host) || at.host === this.name
      if (!own) return this.timers.soon(() => reject(failure('MR_NET_LISTEN', at, 'EADDRNOTAVAIL')))
      if (this.listeners.has(port)) return this.timers.soon(() => reject(failure('MR_NET_ADDRESS_IN_USE', at, 'EADDRINUSE')))
      const state: ListenerState = { endpoint: { host: at.host, port }, accept }
      this.listeners.set(port, state)
      const close = (): Promise<void> => new Promise(closed => {
        if (this.listeners.get(port) === state) this.listeners.delete(port)
        this.timers.soon(closed)
      })
      this.timers.soon(() => resolve({ endpoint: state.endpoint, close }))
    })
  }

  connect(to: Endpoint, options: { readonly timeoutMs: number, readonly tls?: TlsClientOptions }): Promise<Socket> {
    return new Promise((resolve, reject) => {
      if (options.tls !== undefined) {
        return this.timers.soon(() => reject(failure('MR_NET_CONNECT', to, 'the network in memory has no TLS')))
      }
      let answered = false
      const answer = (give: () => void, ifLate?: () => void): void => {
        if (answered) return ifLate?.()
        answered = true
        timer.cancel()
        give()
      }
      const refuse = (reason: string): void => answer(() => {
        this.network.observe(`refused ${reason}`, this.name, to.host)
        reject(failure('MR_NET_CONNECT', to, reason))
      })
      const timer = this.timers.after(options.timeoutMs, () => refuse(`timed out after ${options.timeoutMs} ms`))
      const far = this.network.find(to.host, this)
      if (far === undefined) return void this.timers.after(this.network.latencyMs(this.name, to.host), () => refuse('ENOTFOUND'))
      this.knock(to, refuse, socket => answer(() => resolve(socket), () => socket.destroy()))
    })
  }

  /** All listeners are gone; a silent machine does not even refuse. */
  crash(silent: boolean): void {
    this.listeners.clear()
    this.silent = silent
  }

  /** There and back again: the far machine accepts or refuses when the knock arrives, and its answer takes its time too. */
  private knock(to: Endpoint, refuse: (reason: string) => void, connected: (socket: MemorySocket) => void): void {
    const { network } = this
    const { timers } = network.options
    timers.after(network.latencyMs(this.name, to.host), () => {
      // Looked up on arrival: the machine may have started again meanwhile.
      const far = network.find(to.host, this)!
      const back = network.latencyMs(far.name, this.name)
      const passes = (): boolean => !network.isCut(this.name, far.name) && !network.isCut(far.name, this.name)
      if (far.silent || !passes()) return
      const listener = far.listeners.get(to.port)
      if (listener === undefined) return void this.timers.after(back, () => refuse('ECONNREFUSED'))
      network.observe('connected', this.name, far.name)
      const clientHost = far === this ? to.host : this.name
      const clientEnd = { host: clientHost, port: this.nextClientPort++ }
      const { client, server } = network.join(this, far, clientEnd, { host: to.host, port: to.port })
      far.timers.soon(() => listener.accept(server))
      this.timers.after(back, () => connected(client))
    })
  }

  private freePort(): number {
    while (this.listeners.has(this.nextPort)) this.nextPort++
    return this.nextPort++
  }
}

function failure(code: ErrorCode, { host, port }: Endpoint, reason: string): MillraceError {
  return new MillraceError(code, { host, port, reason })
}
