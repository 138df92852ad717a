import { type Clock, type Random, type Timers } from '../../kernel/ports/clock.ts'
import { type Endpoint } from '../../kernel/ports/network.ts'
import { MemoryPipe } from './memory-pipe.ts'
import { MemorySocket } from './memory-socket.ts'
import { MemoryWire } from './memory-wire.ts'

/** A machine, as a connection sees it. */
export interface ConnectionHost {
  readonly name: string
  readonly timers: Timers
}

/** The network, as a connection sees it. */
export interface ConnectionNetwork {
  readonly options: {
    readonly clock: Clock
    readonly random: Random
    readonly fragments: boolean
    readonly windowBytes: number
    readonly outgoingBytesMax: number
    readonly giveUpMs: number
  }
  latencyMs(from: string, to: string): number
  isCut(from: string, to: string): boolean
  readonly observe: (event: string, from: string, to: string) => void
}

export interface MemoryConnectionOptions {
  readonly client: ConnectionHost
  readonly server: ConnectionHost
  readonly clientEnd: Endpoint
  readonly serverEnd: Endpoint
  readonly endStallMs: number
  /** Both ends are closed. */
  readonly onClosed: () => void
}

/** Two sockets and the two ways between them. */
export class MemoryConnection {
  /** Names of the machines: of the one that connected, and of the one that accepted. */
  readonly from: string
  readonly to: string
  readonly client: MemorySocket
  readonly server: MemorySocket
  private readonly network: ConnectionNetwork
  private readonly options: MemoryConnectionOptions
  private readonly wires: readonly MemoryWire[]
  private openEnds = 2

  constructor(network: ConnectionNetwork, options: MemoryConnectionOptions) {
    this.network = network
    this.options = options
    const { client, server, clientEnd, serverEnd } = options
    this.from = client.name
    this.to = server.name
    this.client = this.makeSocket(client, clientEnd, serverEnd)
    this.server = this.makeSocket(server, serverEnd, clientEnd)
    const there = this.makeWire(client, server)
    const back = this.makeWire(server, client)
    this.wires = [there, back]
    const outward = this.makePipe(there, client, this.client, this.server)
    const inward = this.makePipe(back, server, this.server, this.client)
    this.client.attach(outward, inward)
    this.server.attach(inward, outward)
    this.client.resetPeer = () => this.resetLater(client, server, this.server)
    this.server.resetPeer = () => this.resetLater(server, client, this.client)
  }

  /** Cuts may have changed. */
  retry(): void {
    for (const wire of this.wires) wire.retry()
  }

  /** Both ends break now. */
  break(reason: string): void {
    this.client.break(reason)
    this.server.break(reason)
  }

  /** The machine of one end is gone: that end is silent for ever, the other one breaks after a while. */
  crash(name: string, afterMs: number): void {
    const survivor = name === this.from ? this.server : this.client
    const host = name === this.from ? this.options.server : this.options.client
    if (this.from !== this.to) host.timers.after(afterMs, () => survivor.break('ECONNRESET'))
  }

  describe(): string[] {
    return [this.client.describe(), this.server.describe()].filter(line => line !== undefined)
  }

  private makeSocket(host: ConnectionHost, local: Endpoint, remote: Endpoint): MemorySocket {
    const { random, outgoingBytesMax } = this.network.options
    return new MemorySocket({
      local, remote, timers: host.timers, random, outgoingBytesMax, endStallMs: this.options.endStallMs,
      onClosed: () => {
        if (--this.openEnds === 0) this.options.onClosed()
      },
    })
  }

  private makeWire(from: ConnectionHost, to: ConnectionHost): MemoryWire {
    const { clock, windowBytes, fragments, giveUpMs } = this.network.options
    return new MemoryWire({
      clock, receiverTimers: to.timers, windowBytes, fragments, giveUpMs,
      latencyMs: () => this.network.latencyMs(from.name, to.name),
      isCut: () => this.network.isCut(from.name, to.name),
      gaveUp: () => this.break('ETIMEDOUT'),
      observe: length => this.network.observe(`arrived ${length}`, from.name, to.name),
    })
  }

  private makePipe(wire: MemoryWire, host: ConnectionHost, sender: MemorySocket, receiver: MemorySocket): MemoryPipe {
    return new MemoryPipe({ senderTimers: host.timers, wire, random: this.network.options.random, receiver, emptied: sender.emptied })
  }

  private resetLater(from: ConnectionHost, to: ConnectionHost, peer: MemorySocket): void {
    to.timers.after(this.network.latencyMs(from.name, to.name), () => {
      if (!this.network.isCut(from.name, to.name)) peer.break('ECONNRESET')
    })
  }
}
