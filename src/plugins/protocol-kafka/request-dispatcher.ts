import { MillraceError } from '../../kernel/errors/index.ts'
import { type PeerInfo, type RequestDispatcher } from '../../kernel/ports/protocol-handler.ts'
import { apiName } from '../../wire/api-keys.ts'
import { completeMessage } from '../../wire/schema/compile-codec.ts'
import { anonymousPrincipal } from './io/connection-set.ts'
import { type Done, InProcessExchange, type InProcessHost } from './in-process-exchange.ts'
import { type RequestRouter, type ServedApi } from './request-router.ts'

const nothing = (): void => undefined

interface Held {
  readonly served: ServedApi
  readonly request: object
  readonly exchange: InProcessExchange
}

/**
 * Hands requests of clients in this process to the handlers that serve the network: the same code, and no byte encoded. All of them are one
 * peer: a request that holds others holds those of every client in the process.
 */
export class InProcessDispatcher implements RequestDispatcher, InProcessHost {
  readonly peer: PeerInfo
  private readonly router: RequestRouter
  private readonly open = new Set<InProcessExchange>()
  private readonly held: Held[] = []
  private holds = 0
  private refusing = false

  /** Answers that name addresses name those of `listener`. */
  constructor(router: RequestRouter, listener: string) {
    this.router = router
    this.peer = { connectionId: 0, listener, host: 'in-process', principal: anonymousPrincipal }
  }

  versions(): ReadonlyMap<number, { readonly min: number, readonly max: number }> {
    return new Map(this.router.apis.map(({ key, min, max }) => [key, { min, max }]))
  }

  dispatch(apiKey: number, apiVersion: number, request: object, clientId: string | null, done: Done): void {
    const served = this.router.served(apiKey)
    if (served === undefined || apiVersion < served.min || apiVersion > served.max || this.refusing) {
      const error = this.refusal(served, apiKey, apiVersion)
      queueMicrotask(() => { done(error, undefined, nothing) })
      return
    }
    const exchange: InProcessExchange = new InProcessExchange(this, served, apiVersion, clientId, (error, response, release) => {
      this.open.delete(exchange)
      done(error, response, release)
    })
    this.open.add(exchange)
    if (this.holds > 0) this.held.push({ served, request, exchange })
    else this.router.handle(served, request, exchange)
    exchange.starting = false
  }

  complete(served: ServedApi, response: object): object {
    return completeMessage(served.api.response, response as Record<string, unknown>)
  }

  hold(): () => void {
    this.holds++
    let holding = true
    return () => {
      if (!holding) return
      holding = false
      this.holds--
      this.goOn()
    }
  }

  /** Further requests end with MR_BROKER_ENDED; those under way go on. A fetch that does not wait any more would be asked anew at once, without end. */
  refuse(): void {
    this.refusing = true
  }

  /** Requests under way end with MR_NET_CLOSED: what became of them is not known. */
  stop(): void {
    this.refuse()
    this.held.length = 0
    for (const exchange of [...this.open]) exchange.giveUp(closed())
  }

  private goOn(): void {
    while (this.holds === 0) {
      const next = this.held.shift()
      if (next === undefined) return
      this.router.handle(next.served, next.request, next.exchange)
    }
  }

  private refusal(served: ServedApi | undefined, apiKey: number, version: number): MillraceError {
    if (this.refusing) return new MillraceError('MR_BROKER_ENDED')
    if (served === undefined) return new MillraceError('MR_PROTOCOL_UNSUPPORTED_API', { api: apiName(apiKey) })
    return new MillraceError('MR_PROTOCOL_UNSUPPORTED_VERSION', { api: served.name, version, min: served.min, max: served.max })
  }
}

const closed = (): MillraceError => new MillraceError('MR_NET_CLOSED', { host: 'in-process', port: 0, reason: 'the broker stops' })
