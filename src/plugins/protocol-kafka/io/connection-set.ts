import { type Socket } from '../../../kernel/ports/network.ts'
import { type PeerInfo } from '../../../kernel/ports/protocol-handler.ts'
import { type ConnectionLimits } from '../core/connection-limits.ts'
import { stopReasons } from '../core/connection-machine.ts'
import { type DescriptorRoom } from '../core/descriptor-room.ts'
import { type ConnectionSetting } from './connection-setting.ts'
import { KafkaConnection } from './kafka-connection.ts'

/** Who nobody had to prove to be. */
export const anonymousPrincipal = 'User:ANONYMOUS'

const tellEveryMs = 60_000

/** All connections of the broker's listeners; one counts until what its peer left behind is done, since it takes memory until then. */
export class ConnectionSet {
  private readonly connections = new Set<KafkaConnection>()
  private readonly byAddress = new Map<string, number>()
  private readonly limits: ConnectionLimits
  private readonly setting: ConnectionSetting
  private readonly room: DescriptorRoom | undefined
  private toldMs = -Infinity
  private lastId = 0
  private ready = false
  private finishing = false
  /** Called when the last connection is gone, while finishing. */
  private allGone: (() => void) | undefined

  /** `room`: of what the process may have open; without it nobody counts. */
  constructor(limits: ConnectionLimits, setting: ConnectionSetting, room?: DescriptorRoom) {
    this.limits = limits
    this.setting = setting
    this.room = room
  }

  get size(): number {
    return this.connections.size
  }

  /** Takes a new connection, or closes it at once when there are too many. */
  accept(socket: Socket, listener: string): void {
    const { host } = socket.remote
    const fromHost = this.byAddress.get(host) ?? 0
    if (!this.takes(host, fromHost)) {
      this.setting.metrics.refusedConnections.add(1)
      socket.open({ data: () => undefined, closed: () => undefined })
      socket.destroy()
      return
    }
    const peer: PeerInfo = { connectionId: ++this.lastId, listener, host, principal: anonymousPrincipal }
    const connection = new KafkaConnection(socket, peer, this.setting, (gone) => { this.remove(gone, host) })
    if (!this.ready) connection.stopIntake(stopReasons.starting)
    this.connections.add(connection)
    this.byAddress.set(host, fromHost + 1)
    socket.open(connection)
  }

  /** Requests are handled from now on. */
  open(): void {
    this.ready = true
    for (const connection of [...this.connections]) connection.goOn(stopReasons.starting)
  }

  /** No new connections and no new requests; resolves when all requests in hand are answered or done and all connections gone. */
  finish(): Promise<void> {
    this.finishing = true
    return new Promise((resolve) => {
      this.allGone = resolve
      for (const connection of [...this.connections]) connection.finish()
      if (this.connections.size === 0) resolve()
    })
  }

  /** Closes all connections, and leaves undone what was begun. */
  giveUpAll(): void {
    for (const connection of [...this.connections]) connection.giveUp()
  }

  private takes(host: string, fromHost: number): boolean {
    const { clock, logger } = this.setting
    const open = this.connections.size
    if (this.finishing || open >= this.limits.connectionsMax || fromHost >= (this.limits.overrides.get(host) ?? this.limits.perAddressMax)) {
      logger.debug('refusing a connection: too many are open', { peer: host, open, fromPeer: fromHost })
      return false
    }
    const nowMs = clock.monotonicMs()
    if (this.room?.has(open, nowMs) !== false) return true
    // Whoever connects again and again does not fill the log.
    if (nowMs - this.toldMs >= tellEveryMs) {
      this.toldMs = nowMs
      logger.warn('connections are refused: the process may have hardly more files open, and keeps those for its logs; raise the limit of open files (ulimit -n), or bound max.connections', { open, peer: host })
    }
    return false
  }

  private remove(connection: KafkaConnection, host: string): void {
    this.connections.delete(connection)
    const left = this.byAddress.get(host)! - 1
    if (left === 0) this.byAddress.delete(host)
    else this.byAddress.set(host, left)
    if (this.connections.size === 0) this.allGone?.()
  }
}
