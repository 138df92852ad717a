import { Client, type ConnectionSettings, type ConsumerOptions, type GroupConsumer, type GroupOptions, type RebalanceListeners, type TopicPartition } from '../../../../src/client/index.ts'
import { clientSettings } from '../../../../src/client/client-options.ts'
import { createSimBroker, type SimBroker } from '../../../../src/harness/index.ts'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { type RequestDispatcher } from '../../../../src/kernel/ports/protocol-handler.ts'
import { RecordingLogger } from '../../../../src/testkit/world/recording-telemetry.ts'

/** What a client asks, before it is answered. */
export interface Asked {
  readonly apiKey: number
  readonly apiVersion: number
  readonly request: object
}

/** What comes of a request: undefined leaves the answer as it is, an object is given in its place, and `swallowed` gives none. */
export type Interference = (asked: Asked, response: object) => object | 'swallowed' | undefined

/** A whole broker in virtual time, and clients in its process, whose answers a test may change. */
export class GroupWorld {
  readonly sim: SimBroker
  readonly logger = new RecordingLogger()
  readonly asked: Asked[] = []
  interfere: Interference = () => undefined

  constructor(sim: SimBroker) {
    this.sim = sim
  }

  /** One whose answers `interfere` sees, unless it is `undisturbed`. */
  client(settings: Partial<ConnectionSettings> & { readonly undisturbed?: boolean } = {}): Client {
    const { undisturbed = false, ...others } = settings
    const dispatcher = undisturbed ? this.sim.broker.dispatcher : this.disturbed(this.sim.broker.dispatcher)
    return new Client({ ...this.sim.clientWorld('client'), logger: this.logger }, clientSettings({ inProcess: { dispatcher }, ...others }))
  }

  passes(ms: number): Promise<void> {
    return new Promise((resolve) => { this.sim.clientWorld('client').timers.after(ms, resolve) })
  }

  private disturbed(real: RequestDispatcher): RequestDispatcher {
    return {
      versions: () => real.versions(),
      dispatch: (apiKey, apiVersion, request, clientId, done) => {
        const asked = { apiKey, apiVersion, request }
        this.asked.push(asked)
        real.dispatch(apiKey, apiVersion, request, clientId, (error, response, release) => {
          const instead = response === undefined ? undefined : this.interfere(asked, response)
          if (instead !== 'swallowed') done(error, instead ?? response, release)
          else release()
        })
      },
    }
  }
}

/** Runs in virtual time; at the end of it everything is closed. */
export async function inGroupWorld(test: (world: GroupWorld) => Promise<void>, seed = 1): Promise<void> {
  const sim = await createSimBroker({ seed, options: { broker: { 'group.initial.rebalance.delay.ms': '0', 'group.consumer.min.heartbeat.interval.ms': '500', 'group.consumer.heartbeat.interval.ms': '500' } } })
  await sim.run(async () => {
    await sim.start()
    await test(new GroupWorld(sim))
    await sim.stop()
  }, { withinMs: 3_600_000 })
}

const named = (partitions: readonly TopicPartition[]): string => partitions.map(({ topic, partition }) => `${topic}-${partition}`).sort().join(' ')

/** A member that keeps what it reads, and what it is told. */
export class Listening {
  readonly consumer: GroupConsumer
  /** What listeners were told: `+`, `-` or `!` (lost) and partitions. */
  readonly told: string[] = []
  readonly read: string[] = []
  /** Codes of what `poll` has rejected with. */
  readonly refused: unknown[] = []
  private readonly world: GroupWorld

  constructor(world: GroupWorld, client: Client, options: ConsumerOptions & GroupOptions) {
    this.world = world
    this.consumer = client.consumer({ sessionTimeoutMs: 6000, heartbeatIntervalMs: 500, ...options })
  }

  subscribe(topics: Parameters<GroupConsumer['subscribe']>[0], listeners: RebalanceListeners = {}): this {
    this.consumer.subscribe(topics, {
      onAssigned: (partitions) => { this.told.push(`+${named(partitions)}`); return listeners.onAssigned?.(partitions) },
      onRevoked: (partitions) => { this.told.push(`-${named(partitions)}`); return listeners.onRevoked?.(partitions) },
      onLost: (partitions) => { this.told.push(`!${named(partitions)}`); return listeners.onLost?.(partitions) },
    })
    return this
  }

  get has(): string {
    return named(this.consumer.assignment())
  }

  /** Polls until it is so. What `poll` rejects with is kept, and it polls on. */
  async until(isSo: () => boolean, withinMs = 60_000): Promise<void> {
    const { clock } = this.world.sim.clientWorld('client')
    for (const startMs = clock.monotonicMs(); !isSo();) {
      if (clock.monotonicMs() - startMs > withinMs) throw new Error(`not within ${withinMs} ms: told ${this.told.join(', ')}; read ${this.read.length}; refused ${this.refused.join(' ')}; has ${this.has}`)
      try {
        for (const record of await this.consumer.poll({ timeoutMs: 200 })) this.read.push(`${record.topic}-${record.partition}=${record.text()}`)
      } catch (error) {
        this.refused.push(isMillraceError(error) ? error.code : error)
        await this.world.passes(100)
      }
    }
  }

  /** Polls for so long. */
  async during(ms: number): Promise<void> {
    const { clock } = this.world.sim.clientWorld('client')
    const startMs = clock.monotonicMs()
    await this.until(() => clock.monotonicMs() - startMs >= ms, ms + 60_000)
  }
}
