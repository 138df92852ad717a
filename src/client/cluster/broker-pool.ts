import { type Endpoint } from '../../kernel/ports/network.ts'
import { type Channel } from '../channel/channel.ts'
import { InProcessChannel } from '../channel/in-process-channel.ts'
import { NetworkChannel } from '../channel/network-channel.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { type NodeInfo } from './topic-info.ts'

/**
 * Requests of one channel are answered in order, so a Fetch that waits for data holds up what comes behind it, and so does a Produce that waits for
 * replicas. Each kind of work has a channel of its own to each broker; `side fetch` is for partitions that cannot wait for a Fetch under way,
 * and each member of a group has a lane of its own for joining, which waits for other members: they may be of the same client.
 */
export type Lane = 'control' | 'produce' | 'fetch' | 'side fetch' | `group ${number}`

interface Node {
  readonly endpoint: Endpoint
  readonly channels: Map<Lane, Channel>
}

/** The channels of one client: to the brokers that the metadata names, and to those that it was told to begin with. */
export class BrokerPool {
  private readonly world: ClientWorld
  private readonly settings: ClientSettings
  private readonly nodes = new Map<number, Node>()
  private readonly bootstrap: Node[]
  private turn: number
  private groupLanes = 0

  constructor(world: ClientWorld, settings: ClientSettings) {
    this.world = world
    this.settings = settings
    this.bootstrap = settings.bootstrap.map(endpoint => ({ endpoint, channels: new Map() }))
    this.turn = Math.floor(world.random.fraction() * 1000)
  }

  /** The channel to a broker; undefined for one that the metadata does not name. */
  channel(nodeId: number, lane: Lane): Channel | undefined {
    const { inProcess } = this.settings
    if (inProcess !== undefined && (inProcess.nodeId === undefined || inProcess.nodeId === nodeId)) return this.local(lane)
    const node = this.nodes.get(nodeId)
    return node === undefined ? undefined : this.channelOf(node, lane)
  }

  /**
   * A channel to ask anybody: the broker in this process, else one that is open, else the known brokers in turn, and, once `attempt` has gone through
   * all of them, those of the bootstrap list in turn.
   */
  anyChannel(attempt: number): Channel {
    if (this.settings.inProcess !== undefined) return this.local('control')
    const known = [...this.nodes.values()]
    if (attempt === 0) {
      for (const node of known) {
        const channel = node.channels.get('control')
        if (channel?.isOpen === true) return channel
      }
    }
    const turn = this.turn++
    // Brokers known by the metadata may all be gone, e.g. moved to other addresses; the bootstrap list stays.
    const choice = known.length > 0 && attempt < known.length * 2 ? known : this.bootstrap.length > 0 ? this.bootstrap : known
    return this.channelOf(choice[turn % choice.length]!, 'control')
  }

  /** Takes the brokers of a metadata answer. Channels to those that moved or went are closed. */
  update(nodes: readonly NodeInfo[]): void {
    const gone = new Set(this.nodes.keys())
    for (const { id, host, port } of nodes) {
      gone.delete(id)
      const known = this.nodes.get(id)
      if (known?.endpoint.host === host && known.endpoint.port === port) continue
      known?.channels.forEach(channel => { channel.close() })
      this.nodes.set(id, { endpoint: { host, port }, channels: new Map() })
    }
    for (const id of gone) {
      this.nodes.get(id)!.channels.forEach(channel => { channel.close() })
      this.nodes.delete(id)
    }
    // Each node has its own channels now; those by which the cluster was found are spare.
    if (nodes.length === 0) return
    for (const node of this.bootstrap) this.closeIdle(node)
  }

  newGroupLane(): Lane {
    return `group ${this.groupLanes++}`
  }

  /** Closes the channels of a lane that nobody will use again. */
  closeLane(lane: Lane): void {
    for (const { channels } of [...this.nodes.values(), this.localNode]) {
      channels.get(lane)?.close()
      channels.delete(lane)
    }
  }

  /** Forgets the brokers, so that the bootstrap list is asked again. */
  forget(): void {
    this.update([])
  }

  close(): void {
    for (const node of [...this.bootstrap, ...this.nodes.values(), this.localNode]) {
      node.channels.forEach(channel => { channel.close() })
      node.channels.clear()
    }
    this.nodes.clear()
  }

  private readonly localNode: Node = { endpoint: { host: 'in process', port: 0 }, channels: new Map() }

  private local(lane: Lane): Channel {
    let channel = this.localNode.channels.get(lane)
    if (channel === undefined) {
      channel = new InProcessChannel(this.settings.inProcess!.dispatcher, this.world.timers, this.settings.clientId)
      this.localNode.channels.set(lane, channel)
    }
    return channel
  }

  private channelOf(node: Node, lane: Lane): Channel {
    let channel = node.channels.get(lane)
    if (channel === undefined) {
      channel = new NetworkChannel(this.world, this.settings, node.endpoint)
      node.channels.set(lane, channel)
    }
    return channel
  }

  private closeIdle(node: Node): void {
    for (const [lane, channel] of node.channels) {
      if (!channel.isOpen || channel.inFlight > 0) continue
      channel.close()
      node.channels.delete(lane)
    }
  }
}
