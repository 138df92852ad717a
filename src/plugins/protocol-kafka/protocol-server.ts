import { BytesReader } from '../../base/bytes-reader.ts'
import { type BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type BrokerEndpoint } from '../../kernel/ports/cluster-metadata.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type Controller } from '../../kernel/ports/controller.ts'
import { type FatalErrors, type Lifecycle, type ServedEndpoint } from '../../kernel/ports/lifecycle.ts'
import { type LogStore } from '../../kernel/ports/log-store.ts'
import { type Endpoint, type Listener, type Network } from '../../kernel/ports/network.ts'
import { type ProtocolHandler, type RequestDispatcher } from '../../kernel/ports/protocol-handler.ts'
import { type ProcessStats } from '../../kernel/ports/process-stats.ts'
import { type Logger, type Metrics } from '../../kernel/ports/telemetry.ts'
import { FrameMemory } from '../../wire/frame-memory.ts'
import { type ProtocolKafkaConfig } from './config.ts'
import { connectionLimits } from './core/connection-limits.ts'
import { DescriptorRoom } from './core/descriptor-room.ts'
import { type ListenerPlan, planListeners } from './core/listener-settings.ts'
import { MemoryBudget } from './core/memory-budget.ts'
import { ApiVersionsHandler } from './handlers/18-api-versions.ts'
import { type Done } from './in-process-exchange.ts'
import { ConnectionSet } from './io/connection-set.ts'
import { type ConnectionSetting } from './io/connection-setting.ts'
import { MemoryWatch } from './io/memory-watch.ts'
import { OutgoingBatchPool } from './io/outgoing-batch.ts'
import { InProcessDispatcher } from './request-dispatcher.ts'
import { RequestRouter } from './request-router.ts'
import { type ServingTools } from './serving-tools.ts'
import { WarmUp } from './warm-up.ts'

/** Everything that the server asks of others. */
export interface ServerParts {
  readonly settings: BrokerSettings
  readonly identity: BrokerIdentity
  readonly network: Network
  readonly controller: Controller
  readonly store: LogStore
  readonly handlers: readonly ProtocolHandler[]
  readonly compression: Compression
  readonly fatal: FatalErrors
  readonly logger: Logger
  readonly metrics: Metrics
  readonly tools: ServingTools
  /** Where there is one, connections leave the process files to open. */
  readonly process?: ProcessStats
}

/**
 * Listens, tells the controller under which addresses this broker is reached, and only then handles requests. Its stop answers what is in
 * hand within `stopGraceMs`. Requests in process are served from the start on.
 */
export class ProtocolServer implements Lifecycle, ServedEndpoint, RequestDispatcher {
  readonly protocol = 'kafka'
  private readonly config: ProtocolKafkaConfig
  private readonly parts: ServerParts
  private readonly plans: readonly ListenerPlan[]
  private readonly dispatcher: InProcessDispatcher
  private readonly connections: ConnectionSet
  private readonly warmUp: WarmUp | undefined
  private readonly listeners: Listener[] = []

  /** Throws for listeners that can not be, before anything has started. */
  constructor(config: ProtocolKafkaConfig, parts: ServerParts) {
    const { settings, tools } = parts
    this.config = config
    this.parts = parts
    this.plans = planListeners({
      listeners: settings.list('listeners'), advertised: settings.list('advertised.listeners'), protocols: settings.text('listener.security.protocol.map'),
      insecure: config.insecure,
    })
    const router: RequestRouter = new RequestRouter(
      [...parts.handlers, new ApiVersionsHandler(() => router.apis)], parts.logger, tools.metrics, parts.fatal)
    this.dispatcher = new InProcessDispatcher(router, this.plans[0]!.listen.name)
    const frameBytesMax = settings.integer('socket.request.max.bytes')
    const budget = budgetOf(settings.integer('queued.max.request.bytes'), frameBytesMax)
    const setting: ConnectionSetting = {
      router, budget: new MemoryWatch(budget, tools.clock, tools.deadlines), clock: tools.clock, deadlines: tools.deadlines, metrics: tools.metrics, logger: parts.logger,
      batches: new OutgoingBatchPool(),
      reader: new BytesReader(),
      frames: new FrameMemory(),
      frameBytesMax,
      requestsMax: config.requestsPerConnectionMax,
      requestElementsMax: config.requestElementsMax,
      outputBytesMax: config.outputBytesMax,
      idleMs: positiveOr(settings.integer('connections.max.idle.ms'), Infinity),
      requestReadTimeoutMs: config.requestReadTimeoutMs,
    }
    const { process } = parts
    this.connections = new ConnectionSet(connectionLimits(settings), setting, process === undefined ? undefined : new DescriptorRoom(() => process.read()))
    const { compression, metrics, logger, fatal } = parts
    if (config.warmup) this.warmUp = new WarmUp({ setting, tools, compression, metrics, logger, fatal, settings: settings.topicSettings(new Map()) })
    tools.metrics.connections = () => this.connections.size
    tools.metrics.heldRequestBytes = () => budget.usedBytes
  }

  async start(): Promise<void> {
    const { network, controller, identity, settings, store, tools } = this.parts
    tools.topics.start()
    for (const { listen } of this.plans) {
      this.listeners.push(await network.listen({ host: listen.host, port: listen.port }, (socket) => { this.connections.accept(socket, listen.name) }))
    }
    const epoch = await controller.registerBroker({
      nodeId: identity.nodeId,
      incarnationId: identity.incarnationId,
      endpoints: this.plans.map((plan, index) => advertisedAs(plan, this.listeners[index]!.endpoint)),
      rack: settings.text('broker.rack') || undefined,
      directoryIds: store.directories().map(({ id }) => id).filter(isKnown),
    })
    tools.registered(epoch)
    this.connections.open()
    this.warmUp?.start()
  }

  async stop(): Promise<void> {
    const { tools } = this.parts
    this.warmUp?.stop()
    this.dispatcher.refuse()
    const closing = this.listeners.splice(0).map((listener) => listener.close())
    tools.stopWaiting()
    for (const handler of this.parts.handlers) handler.stopWaiting?.()
    const finished = this.connections.finish()
    const late = tools.timers.after(this.config.stopGraceMs, () => { this.connections.giveUpAll() })
    await finished
    late.cancel()
    await Promise.all(closing)
    this.dispatcher.stop()
    tools.stop()
  }

  /** The first listener's. */
  endpoint(): Endpoint | undefined {
    return this.listeners[0]?.endpoint
  }

  dispatch(apiKey: number, apiVersion: number, request: object, clientId: string | null, done: Done): void {
    this.dispatcher.dispatch(apiKey, apiVersion, request, clientId, done)
  }

  versions(): ReadonlyMap<number, { readonly min: number, readonly max: number }> {
    return this.dispatcher.versions()
  }
}

function advertisedAs({ listen, advertised }: ListenerPlan, bound: Endpoint): BrokerEndpoint {
  // Quirk 19: where a name was given to listen on, clients are told the address that it stood for, lest they try another one.
  const host = advertised?.host ?? bound.host
  return { listener: listen.name, host, port: advertised === undefined || advertised.port === 0 ? bound.port : advertised.port }
}

/** Frames below this have memory of their own; the bound of which has room for sixteen of them at the least. */
const smallFrameBytes = 4 * 1024 * 1024

function budgetOf(limitBytes: number, frameBytesMax: number): MemoryBudget {
  const smallBytes = limitBytes < 0 ? 0 : Math.min(smallFrameBytes, Math.floor(limitBytes / 64))
  return new MemoryBudget(limitBytes, { smallBytes, overrunBytes: frameBytesMax })
}

/** A directory that could not be opened has not told its id. */
const isKnown = (directoryId: string): boolean => directoryId !== ''

function positiveOr(value: number, otherwise: number): number {
  return value > 0 ? value : otherwise
}
