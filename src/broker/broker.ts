import { MillraceError } from '../kernel/errors/millrace-error.ts'
import type { PluginHost } from '../kernel/plugin/plugin-host.ts'
import { Clock } from '../kernel/ports/clock.ts'
import { ServedEndpoint } from '../kernel/ports/lifecycle.ts'
import { type Endpoint } from '../kernel/ports/network.ts'
import { RequestDispatcher } from '../kernel/ports/protocol-handler.ts'
import { type BrokerIdentity } from '../kernel/ports/broker-identity.ts'
import { Logger } from '../kernel/ports/telemetry.ts'
import { type Token } from '../kernel/plugin/token.ts'

/** A composed broker. Made by `createBroker`; started and stopped once. */
export class Broker {
  /** Who it is in its cluster; fixed when it is made. But where no data directory says the cluster, and the log store keeps no identity there, `clusterId` is right from the start on: the metadata says it. */
  readonly identity: BrokerIdentity
  readonly #host: PluginHost
  readonly #life: BrokerLife
  #started = false
  #stopped = false
  readonly #check: (() => Promise<void>) | undefined

  /** `check` comes before anything is started. */
  constructor(host: PluginHost, identity: BrokerIdentity, life: BrokerLife, check?: () => Promise<void>) {
    this.#host = host
    this.identity = identity
    this.#life = life
    this.#check = check
  }

  /**
   * Resolves when clients may connect: everything that was on disk is recovered. Rejects with the MillraceError of the plugin that
   * could not start, after the others were stopped again. A second call rejects with MR_BROKER_STARTED, one after `stop` with MR_BROKER_STOPPED.
   */
  async start(): Promise<void> {
    if (this.#stopped && !this.#started) throw new MillraceError('MR_BROKER_STOPPED')
    if (this.#started) throw new MillraceError('MR_BROKER_STARTED')
    this.#started = true
    for (const warning of this.#life.warnings) this.#host.get(Logger).warn(warning)
    await this.#check?.()
    await this.#host.start()
    this.#life.ready = true
  }

  /** Stops in order within 10 s. Resolves with what did not stop in order or in time, for the log; never rejects; may be called again. */
  async stop(): Promise<readonly MillraceError[]> {
    const isFirst = this.#started && !this.#stopped
    this.#stopped = true
    this.#life.ready = false
    await this.#life.inquiry?.stop()
    if (!isFirst) return await this.#host.stop()
    const [clock, logger] = [this.#host.get(Clock), this.#host.get(Logger)]
    const beganMs = clock.monotonicMs()
    const problems = await this.#host.stop()
    logger.info(problems.length === 0 ? 'the broker has stopped in order' : 'the broker has stopped, not in order', { ms: Math.round(clock.monotonicMs() - beganMs), problems: problems.length })
    return problems
  }

  /** Where the Kafka protocol is served, once started. */
  get kafka(): Endpoint | undefined {
    return this.#endpoint('kafka')
  }

  /** `HOST:PORT` for clients, while it is started; else it throws MR_BROKER_NOT_SERVING. */
  get bootstrap(): string {
    const at = this.kafka
    if (at === undefined) {
      const reason = this.#stopped ? 'it was stopped, and a broker is started once; make another with createBroker'
        : this.#life.ready ? 'it is composed without a listener of the Kafka protocol; a client in this process takes its dispatcher' : 'it is not started; await start() first'
      throw new MillraceError('MR_BROKER_NOT_SERVING', { reason })
    }
    return `${at.host.includes(':') ? `[${at.host}]` : at.host}:${at.port}`
  }

  /** Where the operators' HTTP is served, once started; undefined where it is off. */
  get http(): Endpoint | undefined {
    return this.#endpoint('http')
  }

  /** Requests without a socket, for the client's in-process channel. */
  get dispatcher(): RequestDispatcher {
    return this.#host.get(RequestDispatcher)
  }

  /** Resolves with the error that ended this broker by itself, if that ever happens: a broken invariant, a lost metadata directory. */
  get failed(): Promise<unknown> {
    return this.#life.failed
  }

  /** A port of the composition, for tests and for code that embeds a broker; plugins are given theirs. */
  port<T>(token: Token<T>): T {
    return this.#host.get(token)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #endpoint(protocol: ServedEndpoint['protocol']): Endpoint | undefined {
    return this.#host.all(ServedEndpoint).find((each) => each.protocol === protocol && each.endpoint() !== undefined)?.endpoint()
  }
}

/** What the root and the broker object share. */
export interface BrokerLife {
  ready: boolean
  /** What was started before all else, to learn who the broker is. */
  inquiry: Pick<PluginHost, 'stop'> | undefined
  readonly failed: Promise<unknown>
  /** What of the settings has no effect, or one that nobody wants, for the log of the start. */
  readonly warnings: readonly string[]
}
