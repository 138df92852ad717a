import { MillraceError } from '../../../kernel/errors/index.ts'
import { type Socket, type SocketHandler } from '../../../kernel/ports/network.ts'
import { type PeerInfo } from '../../../kernel/ports/protocol-handler.ts'
import { apiKeys, apiName } from '../../../wire/api-keys.ts'
import { writeResponseFrame } from '../../../wire/frames.ts'
import { FrameSplitter } from '../../../wire/framing.ts'
import { readRequestHeader, type RequestHeader } from '../../../wire/request-header.ts'
import { codecFor } from '../../../wire/schema/compile-codec.ts'
import { ConnectionMachine, stopReasons, type StopReason } from '../core/connection-machine.ts'
import { detachBytes } from '../core/detach-bytes.ts'
import { type MemoryHolder } from '../core/memory-holder.ts'
import { unsupportedApiVersions } from '../handlers/18-api-versions.ts'
import { type ServedApi } from '../request-router.ts'
import { logClosing } from './closing-line.ts'
import { ConnectionOutput } from './connection-output.ts'
import { type ConnectionSetting } from './connection-setting.ts'
import { ConnectionWatch, type Watched } from './connection-watch.ts'
import { starvedRequest } from './memory-watch.ts'
import { type ExchangeOwner, SocketExchange } from './socket-exchange.ts'

/**
 * One connection of a client: cuts what comes in into requests, hands them to the router, and sends answers in the order of the requests.
 *
 * It stops reading while a request holds the others, while too many requests are under way or too many bytes of answers wait for a slow
 * reader, and while memory for requests is short. The socket is paused late, when more has come: a peer that goes away is noticed at once
 * unless it had sent more.
 *
 * When the peer ends, in order or by a reset, requests that came whole before are still handled, as in Kafka and in their order, whether or not the
 * connection was held when they came: nobody sends those with acks=0 again (quirk 25). A reset tells no more than that the peer reads nothing
 * further, and comes of every close of a socket with unread answers. When the broker closes, for an error, an idle peer or its stop, requests that
 * no handler has seen are dropped: what follows nonsense has no meaning, what follows a failed batch with acks=0 would hide a gap, and a stop
 * takes nothing more. What a handler has begun is finished either way; only a stop whose time is over leaves it undone.
 */
export class KafkaConnection implements SocketHandler, MemoryHolder, ExchangeOwner, Watched {
  readonly peer: PeerInfo
  /** Nothing can be sent or received any more. */
  gone = false
  /** What was begun is to be left undone. */
  abandoned = false
  heldBytes = 0
  paused = false
  private readonly socket: Socket
  private readonly setting: ConnectionSetting
  private readonly onClosed: (connection: KafkaConnection) => void
  private readonly machine: ConnectionMachine<SocketExchange>
  private readonly splitter: FrameSplitter
  private readonly output: ConnectionOutput
  private readonly watch: ConnectionWatch
  /** Answers that are encoded and wait for those before them. */
  private parkedBytes = 0
  private keptBytes = 0
  /** Bytes that came were not looked at yet; the socket is paused then. */
  private backlog = false
  private running = false
  private ending = false
  /** Gone, with nothing left to do. */
  private left = false
  /** A whole frame has come: the peer speaks the protocol. */
  private hasSpoken = false

  constructor(socket: Socket, peer: PeerInfo, setting: ConnectionSetting, onClosed: (connection: KafkaConnection) => void) {
    this.socket = socket
    this.peer = peer
    this.setting = setting
    this.onClosed = onClosed
    this.machine = new ConnectionMachine(setting.requestsMax)
    this.splitter = new FrameSplitter({ frameBytesMax: setting.frameBytesMax, memory: setting.frames })
    this.output = new ConnectionOutput(socket, setting.batches, setting.metrics.sentBytes, () => { this.afterFlush() })
    this.watch = new ConnectionWatch(this, setting)
  }

  /** No request is handled until `goOn`. */
  stopIntake(reason: StopReason): void {
    this.machine.stop(reason)
  }

  goOn(reason: StopReason): void {
    this.machine.goOn(reason)
    this.intake()
  }

  /** Answers what is in hand, takes no more, and closes. What a peer that is gone has left behind is still handled, if that has begun. */
  finish(): void {
    if (!this.gone || this.machine.isStopped(stopReasons.starting)) this.machine.stop(stopReasons.closing)
    if (this.gone) this.goOnAlone()
    else this.endWhenDone()
  }

  /** Closes now, and leaves undone what was begun. */
  giveUp(): void {
    this.abandoned = true
    this.destroy()
    if (this.gone) this.goOnAlone()
  }

  destroy(): void {
    this.machine.stop(stopReasons.closing)
    if (!this.gone) this.socket.destroy()
  }

  // --- what the socket tells

  data(bytes: Uint8Array, offset: number, length: number): void {
    if (this.gone || this.ending) return
    this.watch.heardMs = this.setting.clock.monotonicMs()
    this.setting.metrics.receivedBytes.add(length)
    if (this.machine.open) {
      this.splitter.feed(bytes, offset, offset + length)
      return void this.run()
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
    const { machine, running } = this
    // Nothing goes on while those under way are told.
    this.running = true
    this.watch.stop()
    this.output.close()
    for (const exchange of machine.clear()) {
      exchange.parked?.done()
      exchange.parked = undefined
      exchange.tellGone()
      this.letGoFor(exchange)
    }
    this.running = running
    // Answers go nowhere, and what is in memory gives it back by being handled.
    machine.goOn(stopReasons.output)
    machine.goOn(stopReasons.memory)
    this.goOnAlone()
    if (error !== undefined) this.setting.logger.debug('a connection broke', { peer: this.peer.host, connection: this.peer.connectionId, error })
  }

  /** The socket is gone: handles what had come whole, and leaves when that and what was begun is done. */
  private goOnAlone(): void {
    if (this.running || this.left) return
    // Which calls this again.
    if (this.backlog && this.machine.open) return void this.run()
    // What is there now is half a request, or nobody is to handle it.
    if (this.machine.isStopped(stopReasons.closing)) this.backlog = false
    if (!this.backlog) this.splitter.close()
    if (!this.backlog && (!this.machine.held || this.abandoned)) this.leave()
    else this.account()
  }

  private leave(): void {
    this.left = true
    this.machine.stop(stopReasons.closing)
    this.setting.budget.forget(this)
    this.onClosed(this)
  }

  // --- requests

  /** Goes on where it stopped, if it may. */
  private intake(): void {
    if (this.gone) this.goOnAlone()
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
      if (this.backlog && !this.machine.isStopped(stopReasons.closing)) {
        this.backlog = this.splitter.keepRest()
        if (this.backlog) this.pause()
      }
      // All that is needed of the frames so far was taken by now.
      this.splitter.release()
    } catch (error) {
      this.abort(error)
    }
    this.running = false
    if (this.gone) this.goOnAlone()
    else this.account()
  }

  private request(): void {
    const { reader, router, requestElementsMax } = this.setting
    const { buffer, offset, length } = this.splitter
    this.hasSpoken = true
    reader.reset(buffer, offset, offset + length)
    const header = readRequestHeader(reader)
    const served = router.served(header.apiKey)
    if (served === undefined) throw new MillraceError('MR_PROTOCOL_UNSUPPORTED_API', { api: apiName(header.apiKey) })
    if (header.apiVersion < served.min || header.apiVersion > served.max) return void this.refuseVersion(served, header)
    // A fetch has no effect but its answer, and would wait for the time to send it.
    if (this.gone && served.key === apiKeys.Fetch) return
    const request = codecFor(served.api.request, header.apiVersion).read(reader, requestElementsMax)
    const exchange = new SocketExchange(this, served, header.apiVersion, header.correlationId, header.clientId, request, this.watch.heardMs)
    this.begin(exchange)
    router.handle(served, request, exchange)
    // A long poll blocks what follows on its connection, as in Kafka: a peer has the answer of one fetch in memory, not of thousands.
    if (served.key === apiKeys.Fetch && !exchange.over && !this.gone) exchange.hold()
  }

  private refuseVersion(served: ServedApi, { apiVersion, correlationId, clientId }: RequestHeader): void {
    if (served.key !== apiKeys.ApiVersions) {
      throw new MillraceError('MR_PROTOCOL_UNSUPPORTED_VERSION', { api: served.name, version: apiVersion, min: served.min, max: served.max })
    }
    // Quirk 1: the one request whose version nobody can know beforehand. Its body is not read, the answer has version 0.
    const exchange = new SocketExchange(this, served, 0, correlationId, clientId, undefined, this.watch.heardMs)
    this.begin(exchange)
    exchange.reply(unsupportedApiVersions(served.min, served.max))
  }

  /** Where nobody reads answers they have no order, and nothing waits for its turn. */
  private begin(exchange: SocketExchange): void {
    if (!this.gone) this.machine.begin(exchange)
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
    if (this.left) return
    const pending = this.splitter.pendingBytes
    this.watch.incomplete(pending > 0)
    if (pending + this.keptBytes === this.heldBytes) return
    const mayReadOn = this.setting.budget.hold(this, pending + this.keptBytes)
    if (this.gone) return
    if (!mayReadOn) {
      this.machine.stop(stopReasons.memory)
      this.pause()
    } else if (this.machine.isStopped(stopReasons.memory)) {
      this.goOn(stopReasons.memory)
    }
  }

  memoryFreed(): void {
    this.goOn(stopReasons.memory)
  }

  /** Anything but half a frame, with only its peer to blame, stays. */
  giveUpMemory(): boolean {
    if (this.gone || this.ending || this.running || this.backlog || this.keptBytes > 0 || this.splitter.pendingBytes === 0) return false
    this.abort(starvedRequest(this.splitter.pendingBytes))
    this.splitter.close()
    this.setting.budget.forget(this)
    return true
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
    if (this.gone) return void released?.()
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
    if (!next) {
      exchange.parked = batch
      this.parkedBytes += batch.writer.length
    }
    this.advance()
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
    this.letGoFor(exchange)
    if (exchange.keptBytes === 0) return
    this.keptBytes -= exchange.keptBytes
    exchange.keptBytes = 0
    if (!this.running) this.account()
  }

  hold(): void {
    this.machine.hold()
  }

  private letGoFor(exchange: SocketExchange): void {
    if (!exchange.holding) return
    exchange.holding = false
    this.machine.letGo()
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
    if (this.ending || (this.gone && this.machine.isStopped(stopReasons.closing))) return
    logClosing(this.setting.logger, { remote: this.socket.remote, listener: this.peer.listener, hasSpoken: this.hasSpoken, api: exchange?.served.name, error })
    this.machine.stop(stopReasons.closing)
    if (this.gone) this.goOnAlone()
    else if (this.output.isEmpty) this.destroy()
    else this.endSoon()
  }

  private endSoon(): void {
    this.ending = true
    this.watch.linger()
    this.output.flushAtOnce()
    this.socket.end()
  }

  // --- what the watch tells

  get idle(): boolean {
    return this.machine.size === 0
  }

  silent(): void {
    this.setting.logger.debug('closing an idle connection', { peer: this.peer.host, connection: this.peer.connectionId })
    this.destroy()
  }

  slow(): void {
    this.abort(new MillraceError('MR_PROTOCOL_REQUEST_SLOW', { bytes: this.splitter.pendingBytes, timeoutMs: this.setting.requestReadTimeoutMs }))
  }
}
