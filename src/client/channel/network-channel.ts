import { backoffMs } from '../../base/backoff.ts'
import { MillraceError, isMillraceError } from '../../kernel/errors/index.ts'
import { type Timer } from '../../kernel/ports/clock.ts'
import { type Endpoint } from '../../kernel/ports/network.ts'
import { type RequestDraftOf } from '../../wire/index.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { authenticate } from '../sasl/authenticate.ts'
import { askVersions, commonVersion, type BrokerVersions } from './api-versions.ts'
import { type AnyApi, type Channel, type SendDone, type SendOptions } from './channel.ts'
import { Connection } from './connection.ts'

/** Part of a session's lifetime after which the client authenticates again, before the broker would end the connection. */
const reauthenticateAfter = 0.85

/** Error codes of OpenSSL and Node about certificates, and about a peer that does not speak TLS. */
const finalTlsReasons = /CERT|^UNABLE_TO_|^ERR_TLS_|^ERR_SSL_|^EPROTO/

/**
 * A channel over TCP or TLS. It connects when it is asked to open, agrees on versions, authenticates, and does so again before the session ends.
 * A connection that is lost is not restored until somebody asks again: an idle client stays idle.
 */
export class NetworkChannel implements Channel {
  private readonly world: ClientWorld
  private readonly settings: ClientSettings
  private readonly endpoint: Endpoint
  private connection: Connection | undefined
  private versions: BrokerVersions = new Map()
  private opening = false
  private readonly waiting: ((error?: unknown) => void)[] = []
  private failures = 0
  private retryAtMs = 0
  private timer: Timer | undefined
  private sessionTimer: Timer | undefined
  private isShut = false

  constructor(world: ClientWorld, settings: ClientSettings, endpoint: Endpoint) {
    this.world = world
    this.settings = settings
    this.endpoint = endpoint
  }

  get isOpen(): boolean {
    return this.connection !== undefined && !this.opening
  }

  get inFlight(): number {
    return this.connection?.inFlight ?? 0
  }

  open(opened: (error?: unknown) => void): void {
    if (this.isShut) {
      this.world.timers.soon(() => { opened(this.closedError()) })
      return
    }
    if (this.isOpen) {
      this.world.timers.soon(opened)
      return
    }
    this.waiting.push(opened)
    if (this.opening) return
    this.opening = true
    const delayMs = this.retryAtMs - this.world.clock.monotonicMs()
    if (delayMs <= 0) void this.connect()
    else this.timer = this.world.timers.after(delayMs, () => { void this.connect() })
  }

  version(api: AnyApi, newest?: number): number | undefined {
    return commonVersion(api, this.versions.get(api.key), newest)
  }

  send<A extends AnyApi>(api: A, version: number, request: RequestDraftOf<A>, options: SendOptions, done: SendDone<A>): void {
    if (this.isOpen) {
      this.connection!.send(api, version, request, options, done)
    } else {
      const { host, port } = this.endpoint
      const error = new MillraceError('MR_CLIENT_DISCONNECTED', { host, port, api: api.name, reason: 'it was not open' })
      this.world.timers.soon(() => { done(error, undefined) })
    }
  }

  close(): void {
    if (this.isShut) return
    this.isShut = true
    this.timer?.cancel()
    this.sessionTimer?.cancel()
    this.connection?.close(this.closedError())
    this.settle(this.closedError())
  }

  /** Never rejects: who asked to open is told. */
  private async connect(): Promise<void> {
    this.timer = undefined
    const { connectTimeoutMs, tls, sasl, requestTimeoutMs } = this.settings
    try {
      const socket = await this.world.network.connect(this.endpoint, { timeoutMs: connectTimeoutMs, ...(tls === undefined ? {} : { tls }) })
      // `open` of the socket belongs into this turn: nothing is awaited before the connection is made.
      const connection: Connection = new Connection(socket, {
        clock: this.world.clock, timers: this.world.timers, endpoint: this.endpoint, clientId: this.settings.clientId,
        responseBytesMax: this.settings.responseBytesMax, onClosed: error => { this.lose(connection, error) },
      })
      if (this.isShut) {
        connection.close(this.closedError())
        return
      }
      this.connection = connection
      const versions = await askVersions(connection, requestTimeoutMs)
      const lifetimeMs = sasl === undefined
        ? 0 : await authenticate(this.world, connection, this.endpoint, versions, sasl, requestTimeoutMs)
      if (connection.isClosed) {
        throw new MillraceError('MR_CLIENT_DISCONNECTED', { ...this.endpoint, api: 'the opening', reason: 'the broker closed it' })
      }
      this.versions = versions
      this.planReauthentication(connection, lifetimeMs)
      this.failures = 0
      this.retryAtMs = 0
      this.settle(undefined)
    } catch (error) {
      this.fail(this.explained(error))
    }
  }

  /** A certificate that is not accepted today will not be accepted in a second either. */
  private explained(error: unknown): unknown {
    if (this.settings.tls === undefined || !isMillraceError(error, 'MR_NET_CONNECT')) return error
    const reason = String(error.details['reason'])
    return finalTlsReasons.test(reason) ? new MillraceError('MR_CLIENT_TLS', { ...this.endpoint, reason }, error) : error
  }

  private fail(error: unknown): void {
    const { connection } = this
    this.connection = undefined
    connection?.close(error)
    if (this.isShut) return
    this.failures++
    this.retryAtMs = this.world.clock.monotonicMs() + backoffMs(this.failures, this.settings.backoff, () => this.world.random.fraction())
    this.world.logger?.warn('cannot open a connection', { ...this.endpoint, error })
    this.settle(error)
  }

  private settle(error: unknown): void {
    this.opening = false
    for (const opened of this.waiting.splice(0)) opened(error)
  }

  private lose(connection: Connection, error: unknown): void {
    if (this.connection !== connection) return
    this.sessionTimer?.cancel()
    this.connection = undefined
    // While it opens, the request under way fails with this and `connect` sees it.
    if (this.opening || this.isShut || error === undefined) return
    this.world.logger?.info('connection lost', { ...this.endpoint, error })
  }

  private planReauthentication(connection: Connection, lifetimeMs: number): void {
    if (lifetimeMs <= 0) return
    const delayMs = lifetimeMs * reauthenticateAfter * (1 - 0.1 * this.world.random.fraction())
    this.sessionTimer = this.world.timers.after(delayMs, () => { void this.reauthenticate(connection) })
  }

  /** Requests wait meanwhile: a broker accepts none between handshake and proof. */
  private async reauthenticate(connection: Connection): Promise<void> {
    connection.hold()
    try {
      const { sasl, requestTimeoutMs } = this.settings
      const lifetimeMs = await authenticate(this.world, connection, this.endpoint, this.versions, sasl!, requestTimeoutMs)
      if (connection.isClosed) return
      this.planReauthentication(connection, lifetimeMs)
      connection.release()
    } catch (error) {
      if (isMillraceError(error, 'MR_CLIENT_AUTHENTICATION')) this.world.logger?.warn('cannot authenticate again', { ...this.endpoint, error })
      connection.close(error)
    }
  }

  private closedError(): MillraceError {
    return new MillraceError('MR_CLIENT_CLOSED', { what: 'client' })
  }
}
