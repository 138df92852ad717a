import { MillraceError } from '../../kernel/errors/index.ts'
import { type Timers } from '../../kernel/ports/clock.ts'
import { type RequestDispatcher } from '../../kernel/ports/protocol-handler.ts'
import { completeMessage, fetchApi, type FetchResponse, type RequestDraftOf } from '../../wire/index.ts'
import { commonVersion, type BrokerVersions } from './api-versions.ts'
import { type AnyApi, type Channel, type SendDone, type SendOptions } from './channel.ts'

/**
 * A channel to the handlers of a broker in this process: typed requests, no bytes encoded. There are no timeouts, since nothing can get lost; the
 * broker answers in the time that a request itself allows.
 */
export class InProcessChannel implements Channel {
  private readonly dispatcher: RequestDispatcher
  private readonly timers: Timers
  private readonly clientId: string
  /** What a broker serves does not change while it runs. */
  private served: BrokerVersions | undefined
  private isShut = false
  private readonly underWay = new Set<(error: unknown) => void>()

  constructor(dispatcher: RequestDispatcher, timers: Timers, clientId: string) {
    this.dispatcher = dispatcher
    this.timers = timers
    this.clientId = clientId
  }

  get isOpen(): boolean {
    return !this.isShut
  }

  get inFlight(): number {
    return this.underWay.size
  }

  open(opened: (error?: unknown) => void): void {
    this.timers.soon(() => { opened(this.isShut ? closedError() : undefined) })
  }

  version(api: AnyApi, newest?: number): number | undefined {
    this.served ??= this.dispatcher.versions()
    return commonVersion(api, this.served.get(api.key), newest)
  }

  send<A extends AnyApi>(api: A, version: number, request: RequestDraftOf<A>, options: SendOptions, done: SendDone<A>): void {
    if (this.isShut) {
      this.timers.soon(() => { done(closedError(), undefined) })
      return
    }
    const abandon = (error: unknown): void => { done(error, undefined) }
    this.underWay.add(abandon)
    const complete = completeMessage(api.request, request) as object
    this.dispatcher.dispatch(api.key, version, complete, this.clientId, (error, response, release) => {
      try {
        // After `close` the caller has had its answer.
        if (!this.underWay.delete(abandon)) return
        if (error !== undefined && error !== null) done(error, undefined)
        else done(undefined, (options.keepBytes === true && response !== undefined ? ownBytes(api, response) : response) as never)
      } finally {
        release()
      }
    })
  }

  close(): void {
    if (this.isShut) return
    this.isShut = true
    const abandoned = [...this.underWay]
    this.underWay.clear()
    for (const abandon of abandoned) abandon(closedError())
  }
}

function closedError(): MillraceError {
  return new MillraceError('MR_CLIENT_CLOSED', { what: 'client' })
}

/** The records of a Fetch lie in buffers of the broker, which it wants back; who keeps them gets a copy. Other responses hold no such bytes. */
function ownBytes(api: AnyApi, response: object): object {
  if (api.key !== fetchApi.key) return response
  const fetched = response as FetchResponse
  return {
    ...fetched,
    responses: fetched.responses.map(topic => ({
      ...topic,
      partitions: topic.partitions.map(partition => ({ ...partition, records: partition.records === null ? null : partition.records.slice() })),
    })),
  }
}
