import { BoundedQueue } from '../../base/bounded-queue.ts'
import { BytesReader } from '../../base/bytes-reader.ts'
import { BytesWriter } from '../../base/bytes-writer.ts'
import { isMillraceError, MillraceError, reasonOf } from '../../kernel/errors/index.ts'
import { type Timer, type Timers, type Clock } from '../../kernel/ports/clock.ts'
import { type Endpoint, type Socket, type SocketHandler } from '../../kernel/ports/network.ts'
import {
  apiKeys, codecFor, kafkaErrors, readCorrelationId, readResponseHeaderRest, writeRequestFrame, type RequestDraftOf,
} from '../../wire/index.ts'
import { type AnyApi, type SendDone, type SendOptions } from './channel.ts'
import { FrameAssembler } from './frame-assembler.ts'

interface Pending {
  readonly api: AnyApi
  readonly version: number
  readonly correlationId: number
  readonly timeoutMs: number
  readonly deadlineMs: number
  readonly keepBytes: boolean
  readonly done: SendDone<AnyApi>
}

interface Held {
  readonly api: AnyApi
  readonly version: number
  readonly request: object
  readonly options: SendOptions
  readonly done: SendDone<AnyApi>
}

export interface ConnectionOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly endpoint: Endpoint
  readonly clientId: string | null
  readonly responseBytesMax: number
  /** Called once, when the connection is gone; undefined when the peer closed it in order while nothing was under way. */
  readonly onClosed: (error: unknown) => void
}

const noLimit = 0x4000_0000
/** Writers kept for reuse; more are needed only while the kernel takes nothing. */
const sparesMax = 8
const writerBytesKept = 1 << 16

/**
 * One connection: requests out, in order; responses in, matched by order and checked by correlation id. A request that is not answered in time ends
 * the connection, since whatever comes after it would be answered even later.
 */
export class Connection implements SocketHandler {
  private readonly options: ConnectionOptions
  private readonly socket: Socket
  private readonly frames: FrameAssembler
  private readonly reader = new BytesReader()
  private readonly spares: BytesWriter[] = []
  private readonly pending = new BoundedQueue<Pending>(noLimit)
  /** While it authenticates again, other requests wait. */
  private held: Held[] | undefined
  private nextCorrelationId = 0
  private timer: Timer | undefined
  private timerDueMs = Infinity
  private closedBy: { readonly error: unknown } | undefined

  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket
    this.options = options
    this.frames = new FrameAssembler({
      frameBytesMax: options.responseBytesMax,
      keepNext: () => this.pending.peek()?.keepBytes ?? false,
      onFrame: (bytes, start, end) => this.takeFrame(bytes, start, end),
    })
    socket.open(this)
  }

  get isClosed(): boolean {
    return this.closedBy !== undefined
  }

  /** Requests sent or held, and not answered. */
  get inFlight(): number {
    return this.pending.size + (this.held?.length ?? 0)
  }

  send<A extends AnyApi>(api: A, version: number, request: RequestDraftOf<A>, options: SendOptions, done: SendDone<A>): void {
    if (this.closedBy !== undefined) {
      const { error } = this.closedBy
      this.options.timers.soon(() => { done(this.disconnected(api, error), undefined) })
    } else if (this.held === undefined) {
      this.write(api, version, request, options, done as SendDone<AnyApi>)
    } else {
      this.held.push({ api, version, request, options, done: done as SendDone<AnyApi> })
    }
  }

  /** From now on only `sendNow` writes; other requests are kept until `release`. */
  hold(): void {
    this.held ??= []
  }

  release(): void {
    const held = this.held ?? []
    this.held = undefined
    for (const { api, version, request, options, done } of held) this.send(api, version, request as never, options, done)
  }

  /** Sends past the held ones. */
  sendNow<A extends AnyApi>(api: A, version: number, request: RequestDraftOf<A>, options: SendOptions, done: SendDone<A>): void {
    if (this.closedBy === undefined) this.write(api, version, request, options, done as SendDone<AnyApi>)
    else this.send(api, version, request, options, done)
  }

  /** Ends the connection. What is under way fails with `error`, or as cut off. */
  close(error?: unknown): void {
    if (this.closedBy !== undefined) return
    this.socket.destroy()
    this.finish(error)
  }

  data(bytes: Uint8Array, offset: number, length: number): void {
    if (this.closedBy !== undefined) return
    try {
      this.frames.feed(bytes, offset, length)
    } catch (error) {
      // A stream that cannot be read has no next frame. Anything else is a broken invariant and goes on up.
      if (!isMillraceError(error)) throw error
      this.close(error)
    }
  }

  closed(error?: unknown): void {
    this.finish(error)
  }

  private write(api: AnyApi, version: number, request: object, options: SendOptions, done: SendDone<AnyApi>): void {
    const writer = this.spares.pop() ?? new BytesWriter(512)
    const correlationId = this.nextCorrelationId
    try {
      writeRequestFrame(writer, api, { version, correlationId, clientId: this.options.clientId }, request as never)
    } catch (error) {
      this.recycle(writer)
      throw error
    }
    this.nextCorrelationId = (correlationId + 1) & 0x7fff_ffff
    if (options.answered === false) {
      this.socket.write(writer.pieces(), () => {
        this.recycle(writer)
        done(this.closedBy === undefined ? undefined : this.disconnected(api, this.closedBy.error), undefined)
      })
      return
    }
    const deadlineMs = this.options.clock.monotonicMs() + options.timeoutMs
    this.pending.push({
      api, version, correlationId, timeoutMs: options.timeoutMs, deadlineMs, keepBytes: options.keepBytes ?? false, done,
    })
    this.socket.write(writer.pieces(), () => { this.recycle(writer) })
    if (deadlineMs < this.timerDueMs) this.arm(deadlineMs)
  }

  private recycle(writer: BytesWriter): void {
    writer.reset()
    if (this.spares.length < sparesMax && writer.bytes.length <= writerBytesKept) this.spares.push(writer)
  }

  private takeFrame(bytes: Uint8Array, start: number, end: number): boolean {
    const { reader } = this
    reader.reset(bytes, start, end)
    const correlationId = readCorrelationId(reader)
    const request = this.pending.shift()
    if (request?.correlationId !== correlationId) {
      if (request !== undefined) this.pendingLost(request)
      throw new MillraceError('MR_PROTOCOL_MALFORMED', {
        what: 'a response', position: 0, reason: `correlation id ${correlationId} where ${request?.correlationId ?? 'none'} was expected`,
      })
    }
    let response: object
    try {
      readResponseHeaderRest(reader, request.api.key, request.version)
      response = codecFor(request.api.response, bodyVersion(request, reader)).read(reader)
    } catch (error) {
      this.pendingLost(request, error)
      throw error
    }
    if (this.pending.size === 0) this.disarm()
    request.done(undefined, response as never)
    return this.closedBy === undefined
  }

  /** Fails a request that has left the queue, after the connection has been closed. */
  private pendingLost(request: Pending, error?: unknown): void {
    this.options.timers.soon(() => { request.done(this.disconnected(request.api, error ?? this.closedBy?.error), undefined) })
  }

  private arm(deadlineMs: number): void {
    this.timer?.cancel()
    this.timerDueMs = deadlineMs
    this.timer = this.options.timers.after(Math.max(0, deadlineMs - this.options.clock.monotonicMs()), () => { this.checkDeadlines() })
  }

  private disarm(): void {
    this.timer?.cancel()
    this.timer = undefined
    this.timerDueMs = Infinity
  }

  private checkDeadlines(): void {
    this.timer = undefined
    this.timerDueMs = Infinity
    const nowMs = this.options.clock.monotonicMs()
    let earliestMs = Infinity
    for (const request of this.pending) {
      if (request.deadlineMs <= nowMs) {
        this.close(new MillraceError('MR_CLIENT_REQUEST_TIMEOUT', {
          api: request.api.name, host: this.options.endpoint.host, port: this.options.endpoint.port, timeoutMs: request.timeoutMs,
        }))
        return
      }
      earliestMs = Math.min(earliestMs, request.deadlineMs)
    }
    if (earliestMs < Infinity) this.arm(earliestMs)
  }

  private finish(error: unknown): void {
    if (this.closedBy !== undefined) return
    this.closedBy = { error }
    this.disarm()
    const lost = [...this.pending]
    this.pending.clear()
    const held = this.held ?? []
    this.held = undefined
    const idle = lost.length === 0 && held.length === 0
    this.options.onClosed(error ?? (idle ? undefined : this.disconnected(undefined, error)))
    for (const request of lost) request.done(this.disconnected(request.api, error), undefined)
    for (const request of held) request.done(this.disconnected(request.api, error), undefined)
  }

  /** What a request is told when its connection ended: the cause itself where it says all, else that it was cut off. */
  private disconnected(api: AnyApi | undefined, error: unknown): unknown {
    if (isMillraceError(error) && !isMillraceError(error, 'MR_NET_CLOSED')) return error
    const reason = error instanceof Error ? reasonOf(error) : 'the broker closed it'
    const { host, port } = this.options.endpoint
    return new MillraceError('MR_CLIENT_DISCONNECTED', { host, port, api: api?.name ?? 'a request', reason }, error)
  }
}

/** A broker that does not know the version of an ApiVersions request answers it in version 0 (quirk 1). */
function bodyVersion(request: Pending, reader: BytesReader): number {
  if (request.api.key !== apiKeys.ApiVersions || reader.remaining < 2) return request.version
  return reader.view.getInt16(reader.position) === kafkaErrors.UNSUPPORTED_VERSION ? 0 : request.version
}
