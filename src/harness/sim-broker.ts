import { assert } from '../base/assert.ts'
import { composeBroker, type Broker, type BrokerOptions, type ComposedBroker } from '../broker/index.ts'
import { Client, type ClientWorld, type ConnectionSettings } from '../client/index.ts'
import { clientSettings } from '../client/client-options.ts'
import { type MillraceError } from '../kernel/errors/index.ts'
import { NodeCompression } from '../platform/codecs/node-compression.ts'
import { noZstdOfNode } from '../platform/codecs/zstd-codec.ts'
import { NodeHashing } from '../platform/node-hashing.ts'
import { type KeepUnsynced } from '../testkit/world/crash-choice.ts'
import { SimCompression } from '../testkit/world/sim-compression.ts'
import { type SimMachine, type SimMachineOptions } from '../testkit/world/sim-machine.ts'
import { simPlatform } from '../testkit/world/sim-platform-plugin.ts'
import { SimWorld, type SimWorldOptions } from '../testkit/world/sim-world.ts'

/** What the broker and its machine are. */
export interface SimBrokerOptions extends SimWorldOptions {
  /** Of the broker. Default: preset `single-node`, data in `/data`, listening on `broker:9092`. */
  readonly options?: BrokerOptions
  /** Of the machine that the broker runs on. */
  readonly machine?: SimMachineOptions
}

const bootstrap = 'broker:9092'

/** Files of a redo log are written full of zeroes; a simulated disk has them in memory. */
const smallRedo = { redoBytesMax: 1024 * 1024, redoSync: 'pooled' }

/**
 * A whole broker on a simulated machine, and clients on others, in virtual time: no real timer, file or socket. Everything follows from the
 * seed and from what the test does. All but the making of it happens within `run`:
 *
 * ```ts
 * const sim = await createSimBroker({ seed: 7 })
 * await sim.run(async () => {
 *   await sim.start()
 *   await sim.client().producer().send({ topic: 'orders', value: 'created' })
 *   sim.powerCut()
 *   await sim.start()
 * })
 * ```
 */
export async function createSimBroker({ options = {}, machine, ...world }: SimBrokerOptions): Promise<SimBroker> {
  const simWorld = new SimWorld(world)
  const broker = simWorld.machine('broker', machine)
  // Plugins are loaded here, outside of virtual time: an import waits for a real disk.
  const composed = await composeBroker({
    file: { data: '/data', listen: bootstrap, insecure: true, ...options, settings: settingsOf(options) },
    platform: simPlatform(() => broker.process, sameEverywhere()),
    defaults: { http: 'off', logLevel: 'warn' },
  })
  return new SimBroker(simWorld, broker, composed)
}

/** Settings of a plugin that is not there would be refused. */
function settingsOf({ preset, plugins = [], settings = {} }: BrokerOptions): BrokerOptions['settings'] {
  const isReplaced = preset === 'memory' || plugins.some((choice) => typeof choice === 'object' && 'instead' in choice && choice.instead === 'storage-local')
  return isReplaced ? settings : { ...settings, 'storage-local': { ...smallRedo, ...settings['storage-local'] } }
}

/** Codecs that give the same bytes under every release of Node: a seed repeats a run under another, too. */
const sameEverywhere = (): NodeCompression => new NodeCompression(undefined, noZstdOfNode)

/** A whole broker on a simulated machine, in virtual time: started, killed and cut off from power, and what it does afterwards. */
export class SimBroker {
  readonly world: SimWorld
  readonly machine: SimMachine
  private readonly composed: ComposedBroker
  private current: Broker | undefined
  private lines: readonly string[] = []

  /** Made by `createSimBroker`. */
  constructor(world: SimWorld, machine: SimMachine, composed: ComposedBroker) {
    this.world = world
    this.machine = machine
    this.composed = composed
  }

  /** The broker that runs. */
  get broker(): Broker {
    assert(this.current !== undefined, 'no broker runs: start one')
    return this.current
  }

  get isRunning(): boolean {
    return this.current !== undefined
  }

  /** What the broker has logged since it was started, oldest first; after its end, until the next start, what it had. */
  get logLines(): readonly string[] {
    return this.lines
  }

  /** See `SimWorld.run`: what the function waits for happens in virtual time. */
  run<T>(main: () => Promise<T>, options: { readonly withinMs?: number } = {}): Promise<T> {
    return this.world.run(main, options)
  }

  /** Starts a process on what is on the disk; resolves when clients may connect. A start that is crashed under way never resolves. */
  async start(): Promise<Broker> {
    assert(this.current === undefined, 'a broker runs already')
    this.lines = this.machine.process.logLines
    const broker = this.composed.create()
    this.current = broker
    try {
      await broker.start()
    } catch (error) {
      if (this.current === broker) this.end('kill')
      throw error
    }
    return broker
  }

  /** Stops in order, as SIGTERM does. Resolves with what did not stop in order or in time. */
  async stop(): Promise<readonly MillraceError[]> {
    const { broker } = this
    const troubles = await broker.stop()
    if (this.current === broker) this.end('kill')
    return troubles
  }

  /** Ends the process now, as `kill -9` does: what was written stays written, and peers are told by their sockets. */
  kill(): void {
    this.end('kill')
  }

  /** Ends the machine now: what was not synced is lost, kept or torn, as `keepUnsynced` says (by chance, if it does not). Peers are not told. */
  powerCut(options: { readonly keepUnsynced?: KeepUnsynced } = {}): void {
    this.end('power', options)
  }

  /** Stops in order, and starts again. */
  async restart(): Promise<Broker> {
    await this.stop()
    return this.start()
  }

  /** A new client on the machine of this name, over the simulated network. */
  client(on = 'client', settings: Partial<ConnectionSettings> = {}): Client {
    return new Client(this.clientWorld(on), clientSettings({ bootstrap, clientId: on, ...settings }))
  }

  /** What a client on the machine of this name knows of the world. */
  clientWorld(on = 'client'): ClientWorld {
    const { clock, timers, random, network } = this.world.machine(on).process
    return { clock, timers, random, network, compression: new SimCompression(sameEverywhere(), timers), hashing: new NodeHashing() }
  }

  private end(how: 'kill' | 'power', options: { readonly keepUnsynced?: KeepUnsynced } = {}): void {
    this.current = undefined
    this.machine.crash(how, options)
  }
}
