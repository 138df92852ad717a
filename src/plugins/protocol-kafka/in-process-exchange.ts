import { assert } from '../../base/assert.ts'
import { type Exchange, type PeerInfo } from '../../kernel/ports/protocol-handler.ts'
import { type ServedApi } from './request-router.ts'

/** As RequestDispatcher.dispatch takes it. */
export type Done = (error: unknown, response: object | undefined, release: () => void) => void

/** What an exchange in process tells its dispatcher. */
export interface InProcessHost {
  readonly peer: PeerInfo
  /** Makes a handler's answer whole, with the defaults that a reader of its bytes would fill in. */
  complete(served: ServedApi, response: object): object
  /** Later requests wait until the returned function is called. */
  hold(): () => void
}

const nothing = (): void => undefined

/** A request of a client in this process: typed objects in and out. */
export class InProcessExchange implements Exchange {
  readonly served: ServedApi
  readonly apiVersion: number
  readonly clientId: string | null
  private readonly host: InProcessHost
  private readonly done: Done
  private over = false
  private goneCallback: (() => void) | undefined
  /** True while `dispatch` has not returned: the answer is told afterwards. */
  starting = true
  abandoned = false
  private outcome: { readonly error: unknown, readonly response: object | undefined, readonly release: () => void } | undefined

  constructor(host: InProcessHost, served: ServedApi, apiVersion: number, clientId: string | null, done: Done) {
    this.host = host
    this.served = served
    this.apiVersion = apiVersion
    this.clientId = clientId
    this.done = done
  }

  get apiKey(): number {
    return this.served.key
  }

  get peer(): PeerInfo {
    return this.host.peer
  }

  get listener(): string {
    return this.host.peer.listener
  }

  reply(response: object, released: () => void = nothing): void {
    this.end(undefined, this.host.complete(this.served, response), released)
  }

  silence(): void {
    this.end(undefined, undefined, nothing)
  }

  abort(error: unknown): void {
    if (!this.over) this.end(error, undefined, nothing)
  }

  /** The bytes are the broker's until it has answered. */
  keepBytes(): void {}

  holdOthers(): () => void {
    return this.host.hold()
  }

  onGone(callback: () => void): void {
    const earlier = this.goneCallback
    this.goneCallback = earlier === undefined ? callback : () => {
      earlier()
      callback()
    }
  }

  /** The broker stops: who waits gives up, and the client is told `error`. */
  giveUp(error: unknown): void {
    if (this.over) return
    this.abandoned = true
    this.goneCallback?.()
    if (!this.over) this.end(error, undefined, nothing)
  }

  private end(error: unknown, response: object | undefined, release: () => void): void {
    assert(!this.over, 'a request is answered once')
    this.over = true
    this.goneCallback = undefined
    this.outcome = { error, response, release }
    if (this.starting) queueMicrotask(this.tell)
    else this.tell()
  }

  private readonly tell = (): void => {
    const { error, response, release } = this.outcome!
    try {
      this.done(error, response, release)
    } catch (thrown) {
      // The client's fault must not reach the broker's code that happens to be below it on the stack: others wait there.
      queueMicrotask(() => { throw thrown })
    }
  }
}
