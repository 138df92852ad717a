import { pbkdf2Sync } from 'node:crypto'
import { afterEach } from 'vitest'
import { Client } from '../../../../src/client/client.ts'
import { clientSettings, type ConnectionSettings } from '../../../../src/client/client-options.ts'
import { type ClientWorld } from '../../../../src/client/client-world.ts'
import { type Timer, type Timers } from '../../../../src/kernel/ports/clock.ts'
import { type HashAlgorithm } from '../../../../src/kernel/ports/hashing.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { NodeHashing } from '../../../../src/platform/node-hashing.ts'
import { MemoryNetwork } from '../../../../src/testkit/world/memory-network.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'
import { SimClock, SimTimers } from '../../../../src/testkit/world/sim-timers.ts'
import { SimScheduler } from '../../../../src/testkit/world/sim-scheduler.ts'
import { FakeCluster } from './fake-cluster.ts'

/** The real functions, but for the one that leaves the thread: simulated time waits for nothing outside. */
class InlineHashing extends NodeHashing {
  override pbkdf2(algorithm: HashAlgorithm, password: Uint8Array, salt: Uint8Array, iterations: number): Promise<Uint8Array> {
    return Promise.resolve(pbkdf2Sync(password, salt, iterations, algorithm === 'sha256' ? 32 : 64, algorithm))
  }
}

/** Knows how many timers are set. */
class CountedTimers implements Timers {
  pending = 0
  private readonly timers: Timers

  constructor(timers: Timers) {
    this.timers = timers
  }

  after(delayMs: number, callback: () => void): Timer {
    this.pending++
    let isDone = false
    const end = (): void => {
      if (!isDone) this.pending--
      isDone = true
    }
    const timer = this.timers.after(delayMs, () => {
      end()
      callback()
    })
    return { cancel: () => { end(); timer.cancel() } }
  }

  soon(callback: () => void): void {
    this.timers.soon(callback)
  }
}

/** A simulated network with a fake cluster of brokers and one machine for clients. */
export class TestWorld {
  readonly scheduler = new SimScheduler()
  readonly clock = new SimClock(this.scheduler)
  readonly timers = new CountedTimers(new SimTimers(this.scheduler, 'client'))
  readonly cluster = new FakeCluster()
  readonly network: MemoryNetwork
  readonly random: SeededRandom
  readonly clients: Client[] = []

  constructor(seed: number, latencyMs: number | undefined) {
    this.random = new SeededRandom(seed)
    this.network = new MemoryNetwork({
      clock: this.clock, timers: new SimTimers(this.scheduler, 'network'), random: this.random, ...(latencyMs === undefined ? {} : { latencyMs: () => latencyMs }),
    })
    this.scheduler.describeWith(() => this.network.describe())
  }

  get world(): ClientWorld {
    return {
      clock: this.clock, timers: this.timers, random: this.random, network: this.network.host('client', new SimTimers(this.scheduler, 'client')),
      compression: new NodeCompression(), hashing: new InlineHashing(),
    }
  }

  async addNode(nodeId: number): Promise<void> {
    const timers = new SimTimers(this.scheduler, `b${nodeId}`)
    await this.scheduler.complete(this.cluster.start(nodeId, this.network.host(`b${nodeId}`, timers), timers))
  }

  client(settings: Partial<ConnectionSettings> = {}): Client {
    const client = new Client(this.world, clientSettings({ bootstrap: 'b1:9092', ...settings }))
    this.clients.push(client)
    return client
  }

  /** Lets time pass until the promise is settled. */
  complete<T>(work: Promise<T>, withinMs = 600_000): Promise<T> {
    return this.scheduler.complete(work, { withinMs })
  }

  /** As `complete`, for a promise that must be rejected: gives the error. */
  async rejection(work: Promise<unknown>, withinMs = 600_000): Promise<unknown> {
    const outcome = work.then(value => { throw new Error(`resolved with ${JSON.stringify(value)}`) }, (error: unknown) => error)
    return this.scheduler.complete(outcome, { withinMs })
  }
}

/** A world with brokers 1 to `nodes`. At the end of the test its clients are closed and must have left nothing behind. */
export async function testWorld(options: { nodes?: number, seed?: number, latencyMs?: number } = {}): Promise<TestWorld> {
  const world = new TestWorld(options.seed ?? 1, options.latencyMs)
  for (let nodeId = 1; nodeId <= (options.nodes ?? 1); nodeId++) await world.addNode(nodeId)
  worlds.push(world)
  return world
}

const worlds: TestWorld[] = []

afterEach(async () => {
  for (const world of worlds.splice(0)) {
    await world.complete(Promise.all(world.clients.map(client => client.close())))
    if (world.timers.pending > 0) throw new Error(`${world.timers.pending} timers are left`)
    await world.scheduler.runFor(60_000)
    if (world.network.openConnections > 0) throw new Error(`connections are left open: ${world.network.describe().join('; ')}`)
  }
})
