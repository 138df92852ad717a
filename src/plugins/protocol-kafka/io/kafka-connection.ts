import { type BytesReader } from '../../../base/bytes-reader.ts'
import { isMillraceError, MillraceError } from '../../../kernel/errors/index.ts'
import { type Clock } from '../../../kernel/ports/clock.ts'
import { type Socket, type SocketHandler } from '../../../kernel/ports/network.ts'
import { type PeerInfo } from '../../../kernel/ports/protocol-handler.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { apiKeys, apiName } from '../../../wire/api-keys.ts'
import { writeResponseFrame } from '../../../wire/frames.ts'
import { type FrameMemory } from '../../../wire/frame-memory.ts'
import { FrameSplitter } from '../../../wire/framing.ts'
import { readRequestHeader, type RequestHeader } from '../../../wire/request-header.ts'
import { codecFor } from '../../../wire/schema/compile-codec.ts'
import { ConnectionMachine, stopReasons, type StopReason } from '../core/connection-machine.ts'
import { foreignClient, foreignProtocol } from '../core/foreign-protocol.ts'
import { detachBytes } from '../core/detach-bytes.ts'
import { type MemoryBudget, type MemoryHolder } from '../core/memory-budget.ts'
import { type Deadline, type Deadlines, type Expiring } from '../deadlines.ts'
import { unsupportedApiVersions } from '../handlers/18-api-versions.ts'
import { type ProtocolMetrics } from '../metrics.ts'
import { type RequestRouter, type ServedApi } from '../request-router.ts'
import { ConnectionOutput } from './connection-output.ts'
import { type OutgoingBatch, type OutgoingBatchPool } from './outgoing-batch.ts'
import { type ExchangeOwner, SocketExchange } from './socket-exchange.ts'

/** What the connections of a broker share. */
export interface ConnectionSetting {
  readonly router: RequestRouter
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly budget: MemoryBudget
  readonly batches: OutgoingBatchPool
  readonly metrics: ProtocolMetrics
  readonly logger: Logger
  /** Requests are read one at a time, so one cursor serves all connections. */
  readonly reader: BytesReader
  readonly frames: FrameMemory
  readonly frameBytesMax: number
  readonly requestsMax: number
  readonly requestElementsMax: number
  readonly outputBytesMax: number
  readonly idleMs: number
  readonly requestReadTimeoutMs: number
}

/** So long a peer may take to read the last answers of a connection that ends. */
const lingerMs = 5000

/**
 * One connection of a client: cuts what comes in into requests, hands them to the router, and sends answers in the order of the requests.
 *
 * It stops reading while a request holds the others, while too many requests are under way or too many bytes of answers wait for a slow
 * reader, and while memory for requests is short. The socket is paused late, when more has come: a peer that goes away is noticed at once
 * unless it had sent more.
 */
export class KafkaConnection implements SocketHandler, MemoryHolder, Expiring, ExchangeOwner {
  readonly peer: PeerInfo
  gone = false
  heldBytes = 0
  private readonly socket: Socket
  private readonly setting: ConnectionSetting
  private readonly onClosed: (connection: KafkaConnection) => void
  private readonly machine: ConnectionMachine<SocketExchange>
  private readonly splitter: FrameSplitter
  private readonly output: ConnectionOutput
  /** Answers that are encoded and wait for those before them. */
  private parkedBytes = 0
  private keptBytes = 0
  /** Bytes that came were not looked at yet; the socket is paused then. */
  private backlog = false
  private running = false
  private paused = false
  private ending = false
  /** A whole frame has come: the peer speaks the protocol. */
  private hasSpoken = false
  private heardMs: number
  private frameSinceMs = Infinity
  private deadline: Deadline | undefined

  constructor(socket: Socket, peer: PeerInfo, setting: ConnectionSetting, onClosed: (connection: KafkaConnection) => void) {
    this.socket = socket
    this.peer = peer
    this.setting = setting
    this.onClosed = onClosed
    this.machine = new ConnectionMachine(setting.requestsMax)
    this.splitter = new FrameSplitter({ frameBytesMax: setting.frameBytesMax, memory: setting.frames })
    this.output = new ConnectionOutput(socket, setting.batches, setting.metrics.sentBytes, () => { this.afterFlush() })
    this.heardMs = setting.clock.monotonicMs()
    this.watch(this.heardMs)
  }

  /** No request is handled until `goOn`. */
  stopIntake(reason: StopReason): void {
    this.machine.stop(reason)
  }

  goOn(reason: StopReason): void {
    this.machine.goOn(reason)
    this.intake()
  }

  /** Answers what is in hand, takes no more, and closes. */
  finish(): void {
    this.machine.stop(stopReasons.closing)
    this.endWhenDone()
  }

  destroy(): void {
    if (!this.gone) this.socket.destroy()
  }

  // --- what the socket tells

  data(bytes: Uint8Array, offset: number, length: number): void {
    if (this.gone || this.ending) return
    this.heardMs = this.setting.clock.monotonicMs()
    this.setting.metrics.receivedBytes.add(length)
    if (this.machine.open) {
      this.splitter.feed(bytes, offset, offset + length)
      this.run()
      return
    }
    // Taken, not handled: nothing more is read until it can be.
    this.splitter.feed(bytes.slice(offset, offset + length))
    this.backlog = true
    this.pause()
    this.account()
  }

  drained(): void {
    if (!this.gone) this.output.drained()
  }

  closed(error?: unknown): void {
    if (this.gone) return
    this.gone = true
    this.machine.stop(stopReasons.closing)
    if (this.deadline !== undefined) this.setting.deadlines.remove(this.deadline)
    this.output.close()
    for (const exchange of this.machine.clear()) {
      exchange.parked?.done()
      exchange.parked = undefined
      exchange.tellGone()
    }
    if (!this.running) this.splitter.close()
    this.setting.budget.forget(this)
    this.onClosed(this)
    if (error !== undefined) this.setting.logger.debug('a connection broke', { peer: this.peer.host, connection: this.peer.connectionId, error })
  }

  // --- requests

  /** Goes on where it stopped, if it may. */
  private intake(): void {
    if (this.gone || this.running || !this.machine.open) return
    if (this.backlog) this.run()
    if (!this.backlog && this.machine.open) this.resume()
  }

  private run(): void {
    this.running = true
    try {
      this.backlog = true
      while (this.machine.open) {
        if (!this.splitter.next()) {
          this.backlog = false
          break
        }
        this.request()
      }
      if (this.backlog && !this.gone && !this.ending) this.keepRest()
      // All that is needed of the frames so far was taken by now.
      this.splitter.release()
    } catch (error) {
      this.abort(error)
    }
    this.running = false
    if (this.gone) this.splitter.close()
    this.account()
  }

  private keepRest(): void {
    if (this.splitter.keepRest()) this.pause()
    else this.backlog = false
  }

  private request(): void {
    const { reader, router, requestElementsMax } = this.setting
    const { buffer, offset, length } = this.splitter
    this.hasSpoken = true
    reader.reset(buffer, offset, offset + length)
    const header = readRequestHeader(reader)
    const served = router.served(header.apiKey)
    if (served === undefined) throw new MillraceError('MR_PROTOCOL_UNSUPPORTED_API', { api: apiName(header.apiKey) })
    if (header.apiVersion < served.min || header.apiVersion > served.max) {
      this.refuseVersion(served, header)
      return
    }
    const request = codecFor(served.api.request, header.apiVersion).read(reader, requestElementsMax)
    const exchange = new SocketExchange(this, served, header.apiVersion, header.correlationId, header.clientId, request, this.heardMs)
    this.machine.begin(exchange)
    router.handle(served, request, exchange)
    // A long poll blocks what follows on its connection, as in Kafka: a peer has the answer of one fetch in memory, not of thousands.
    if (served.key === apiKeys.Fetch && !exchange.over) exchange.hold()
  }

  private refuseVersion(served: ServedApi, { apiVersion, correlationId, clientId }: RequestHeader): void {
    if (served.key !== apiKeys.ApiVersions) {
      throw new MillraceError('MR_PROTOCOL_UNSUPPORTED_VERSION', { api: served.name, version: apiVersion, min: served.min, max: served.max })
    }
    // Quirk 1: the one request whose version nobody can know beforehand. Its body is not read, the answer has version 0.
    const exchange = new SocketExchange(this, served, 0, correlationId, clientId, undefined, this.heardMs)
    this.machine.begin(exchange)
    exchange.reply(unsupportedApiVersions(served.min, served.max))
  }

  keepBytes(exchange: SocketExchange): void {
    if (exchange.keptBytes > 0) return
    exchange.keptBytes = detachBytes(exchange.request, this.splitter.buffer.buffer)
    this.keptBytes += exchange.keptBytes
  }

  holdOthers(): () => void {
    this.machine.hold()
    let held = true
    return () => {
      if (!held) return
      held = false
      this.machine.letGo()
      this.intake()
    }
  }

  /** Tells the budget what this connection holds in memory. */
  private account(): void {
    if (this.gone) return
    const pending = this.splitter.pendingBytes
    if (pending === 0) this.frameSinceMs = Infinity
    else if (this.frameSinceMs === Infinity) this.frameSinceMs = this.heardMs
    const held = pending + this.keptBytes
    if (held === this.heldBytes) return
    if (!this.setting.budget.hold(this, held)) {
      this.machine.stop(stopReasons.memory)
      this.pause()
    } else if (this.machine.isStopped(stopReasons.memory)) {
      this.goOn(stopReasons.memory)
    }
  }

  memoryFreed(): void {
    this.goOn(stopReasons.memory)
  }

  private pause(): void {
    if (this.paused || this.gone) return
    this.paused = true
    this.socket.pause()
  }

  private resume(): void {
    if (!this.paused) return
    this.paused = false
    this.socket.resume()
  }

  // --- answers

  /** Encodes an answer: behind the others of this turn if it is next, by itself if it has to wait for those before it. */
  answer(exchange: SocketExchange, response: object, released: (() => void) | undefined): void {
    const { batches, clock, logger } = this.setting
    exchange.served.instruments.seconds.observe((clock.monotonicMs() - exchange.receivedMs) / 1000)
    if (this.gone) {
      released?.()
      return
    }
    const next = this.machine.isNext(exchange)
    const batch = next ? this.output.current() : batches.take()
    if (released !== undefined) batch.whenWritten(released)
    try {
      writeResponseFrame(batch.writer, exchange.served.api, exchange, response as Record<string, unknown>)
    } catch (error) {
      logger.error('an answer cannot be written', { api: exchange.served.name, version: exchange.apiVersion, error })
      if (!next) batch.done()
      this.destroy()
      return
    }
    if (!next) this.park(exchange, batch)
    this.advance()
  }

  private park(exchange: SocketExchange, batch: OutgoingBatch): void {
    exchange.parked = batch
    this.parkedBytes += batch.writer.length
  }

  /** Lets answers leave whose turn has come. */
  advance(): void {
    if (this.gone) return
    for (let exchange = this.machine.take(); exchange !== undefined; exchange = this.machine.take()) {
      const { parked } = exchange
      if (parked === undefined) continue
      exchange.parked = undefined
      this.parkedBytes -= parked.writer.length
      this.output.append(parked)
    }
    this.output.flushLater()
    this.checkOutput()
    if (this.running) return
    this.intake()
    if (this.machine.isStopped(stopReasons.closing)) this.endWhenDone()
  }

  /** A request is over: what it kept is free, and what it held goes on. */
  ended(exchange: SocketExchange): void {
    if (exchange.holding) this.machine.letGo()
    if (exchange.keptBytes === 0) return
    this.keptBytes -= exchange.keptBytes
    exchange.keptBytes = 0
    if (!this.running) this.account()
  }

  hold(): void {
    this.machine.hold()
  }

  private afterFlush(): void {
    this.checkOutput()
    this.intake()
    if (this.machine.isStopped(stopReasons.closing)) this.endWhenDone()
  }

  private checkOutput(): void {
    const { output } = this
    if (!output.writable || output.waitingBytes + this.parkedBytes > this.setting.outputBytesMax) this.machine.stop(stopReasons.output)
    else this.machine.goOn(stopReasons.output)
  }

  private endWhenDone(): void {
    if (!this.gone && !this.ending && this.machine.size === 0 && this.output.isEmpty) this.endSoon()
  }

  // --- the end

  /** Closes for an error: one line says who sent what. Answers that are ready leave before. */
  abort(error: unknown, exchange?: SocketExchange): void {
    if (this.gone || this.ending) return
    const { logger } = this.setting
    const peer = `${this.socket.remote.host}:${this.socket.remote.port}`
    const fields = { peer, listener: this.peer.listener, api: exchange?.served.name, error }
    const foreign = !this.hasSpoken && isMillraceError(error, 'MR_PROTOCOL_FRAME_SIZE') ? foreignProtocol(Number(error.details['size'])) : undefined
    // Nothing is wrong here, and no stack says more.
    if (foreign !== undefined) logger.info(`closing a connection: ${foreignClient(foreign, this.peer.listener)}`, { peer })
    else if (isMillraceError(error)) logger.info(`closing a connection: ${error.message}`, fields)
    else logger.error('closing a connection for an unexpected error', fields)
    this.machine.stop(stopReasons.closing)
    if (this.output.isEmpty) this.destroy()
    else this.endSoon()
  }

  private endSoon(): void {
    const { deadlines } = this.setting
    this.ending = true
    if (this.deadline !== undefined) deadlines.remove(this.deadline)
    this.deadline = deadlines.after(lingerMs, this)
    this.output.flushAtOnce()
    this.socket.end()
  }

  expired(nowMs: number, stalledMs: number): void {
    this.deadline = undefined
    if (this.ending) this.destroy()
    if (this.gone) return
    const { idleMs, requestReadTimeoutMs, logger } = this.setting
    // While this process stood still nobody could be heard, and when that began is not known: all time counts anew.
    if (stalledMs > 0) this.heardMs = nowMs
    if (stalledMs > 0 || this.paused) this.frameSinceMs = Math.max(this.frameSinceMs, nowMs)
    if (this.machine.size === 0 && nowMs - this.heardMs >= idleMs) {
      logger.debug('closing an idle connection', { peer: this.peer.host, connection: this.peer.connectionId })
      this.destroy()
    } else if (nowMs - this.frameSinceMs >= requestReadTimeoutMs) {
      this.abort(new MillraceError('MR_PROTOCOL_REQUEST_SLOW', { bytes: this.splitter.pendingBytes, timeoutMs: requestReadTimeoutMs }))
    } else {
      this.watch(nowMs)
    }
  }

  /** One entry in the heap a connection, looked at again when it may be due: a busy connection pays nothing for it. */
  private watch(nowMs: number): void {
    const { idleMs, requestReadTimeoutMs, deadlines } = this.setting
    const idleIn = this.heardMs + idleMs - nowMs
    this.deadline = deadlines.after(Math.max(1, Math.min(idleIn, requestReadTimeoutMs)), this)
  }
}
