import { assert } from '../../../base/assert.ts'
import { type Exchange, type PeerInfo } from '../../../kernel/ports/protocol-handler.ts'
import { type Turn } from '../core/connection-machine.ts'
import { type ServedApi } from '../request-router.ts'
import { type OutgoingBatch } from './outgoing-batch.ts'

/** The connection, as its requests see it. */
export interface ExchangeOwner {
  readonly peer: PeerInfo
  readonly gone: boolean
  readonly abandoned: boolean
  answer(exchange: SocketExchange, response: object, released: (() => void) | undefined): void
  /** An answer may leave, or there is none. */
  advance(): void
  /** The exchange is over. */
  ended(exchange: SocketExchange): void
  abort(error: unknown, exchange: SocketExchange): void
  keepBytes(exchange: SocketExchange): void
  holdOthers(): () => void
  /** Until the exchange, which is `holding`, is over. */
  hold(): void
}

/** A request of a connection, from its arrival to its answer. */
export class SocketExchange implements Exchange, Turn<SocketExchange> {
  readonly served: ServedApi
  readonly apiVersion: number
  readonly correlationId: number
  readonly clientId: string | null
  readonly request: unknown
  readonly receivedMs: number
  private readonly connection: ExchangeOwner

  // As a turn of the connection.
  next: SocketExchange | undefined = undefined
  over = false
  /** The answer, already encoded, that waits for those before it. */
  parked: OutgoingBatch | undefined = undefined
  /** Bytes of the request that are kept. */
  keptBytes = 0
  /** Later requests of the connection wait for it. */
  holding = false
  private goneCallback: (() => void) | undefined = undefined

  constructor(
    connection: ExchangeOwner, served: ServedApi, apiVersion: number, correlationId: number, clientId: string | null, request: unknown,
    receivedMs: number,
  ) {
    this.connection = connection
    this.served = served
    this.apiVersion = apiVersion
    this.correlationId = correlationId
    this.clientId = clientId
    this.request = request
    this.receivedMs = receivedMs
  }

  get apiKey(): number {
    return this.served.key
  }

  get peer(): PeerInfo {
    return this.connection.peer
  }

  /** For the envelope of the answer. */
  get version(): number {
    return this.apiVersion
  }

  get listener(): string {
    return this.connection.peer.listener
  }

  get abandoned(): boolean {
    return this.connection.abandoned
  }

  reply(response: object, released?: () => void): void {
    this.end()
    this.connection.answer(this, response, released)
  }

  silence(): void {
    this.end()
    this.connection.advance()
  }

  abort(error: unknown): void {
    if (!this.over) this.end()
    this.connection.abort(error, this)
  }

  /** Later requests of the connection are not handled before this one is over. */
  hold(): void {
    this.holding = true
    this.connection.hold()
  }

  keepBytes(): void {
    this.connection.keepBytes(this)
  }

  holdOthers(): () => void {
    return this.connection.holdOthers()
  }

  onGone(callback: () => void): void {
    if (this.over) return
    if (this.connection.gone) {
      callback()
      return
    }
    const earlier = this.goneCallback
    this.goneCallback = earlier === undefined ? callback : () => {
      earlier()
      callback()
    }
  }

  /** The peer is gone. */
  tellGone(): void {
    const callback = this.goneCallback
    this.goneCallback = undefined
    callback?.()
  }

  private end(): void {
    assert(!this.over, 'a request is answered once')
    this.over = true
    this.goneCallback = undefined
    this.connection.ended(this)
  }
}
