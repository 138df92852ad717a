import { Prng } from '../../base/prng.ts'
import { FaultCounts } from './fault-counts.ts'
import { MemoryNetwork, type MemoryNetworkOptions } from './memory-network.ts'
import { SeededRandom } from './seeded-random.ts'
import { SimMachine, type SimMachineOptions, type SimMachineWorld } from './sim-machine.ts'
import { SimScheduler, SimulationError } from './sim-scheduler.ts'
import { SimClock, SimTimers } from './sim-timers.ts'
import { SimTrace } from './sim-trace.ts'

/** What is drawn from which seed. */
export interface SimWorldOptions {
  readonly seed: number
  /** Machines that have something to do at the same moment take turns by chance. Default true. */
  readonly shuffle?: boolean
  readonly network?: Pick<MemoryNetworkOptions, 'fragments' | 'giveUpMs' | 'latencyMs' | 'outgoingBytesMax' | 'windowBytes'>
}

/**
 * Machines, their disks and the network between them, in one process and in virtual time. Everything that happens follows from the seed
 * and from what the test does, so a run can be repeated: two runs have equal digests. See SimScheduler for the rule that promises follow.
 */
export class SimWorld {
  readonly seed: number
  readonly scheduler: SimScheduler
  readonly network: MemoryNetwork
  /** For the test's own choices. */
  readonly prng: Prng
  /** What happened to disks, by kind: their faults, and what crashes took. */
  readonly faultCounts = new FaultCounts()
  private readonly events = new SimTrace()
  private readonly machines = new Map<string, SimMachine>()
  private readonly parts: SimMachineWorld

  constructor({ seed, shuffle = true, network }: SimWorldOptions) {
    this.seed = seed
    const root = new Prng(seed)
    this.prng = root.fork('test')
    this.scheduler = new SimScheduler({
      observe: (nowMs, lane) => this.events.tick(nowMs, lane),
      ...(shuffle ? { shuffle: root.fork('scheduler') } : {}),
    })
    this.network = new MemoryNetwork({
      ...network,
      clock: new SimClock(this.scheduler),
      timers: new SimTimers(this.scheduler, 'network'),
      random: new SeededRandom(root.fork('network')),
      observe: (event, from, to) => this.trace(`${from} > ${to} ${event}`),
    })
    this.scheduler.describeWith(() => this.network.describe())
    this.parts = { scheduler: this.scheduler, network: this.network, prng: root.fork('machines'), faultCounts: this.faultCounts, trace: event => this.trace(event) }
  }

  /** The machine of this name, made if there is none. The options count when it is made. */
  machine(name: string, options?: SimMachineOptions): SimMachine {
    let machine = this.machines.get(name)
    if (machine === undefined) this.machines.set(name, machine = new SimMachine(name, this.parts, options))
    return machine
  }

  get nowMs(): number {
    return this.scheduler.nowMs
  }

  /** Adds to the trace: call it with whatever must be equal in two runs, such as what a client read. */
  trace(event: string): void {
    this.events.add(this.scheduler.nowMs, event)
  }

  /**
   * Runs an async function as something that happens in this world, to its end; what it waits for may take `withinMs` of simulated time
   * (default one hour). Others go on meanwhile.
   */
  run<T>(main: () => Promise<T>, options: { readonly withinMs?: number } = {}): Promise<T> {
    return this.reporting(this.scheduler.complete(main(), { ...options, what: 'the main function' }))
  }

  /** Lets so much time pass. */
  runFor(ms: number): Promise<void> {
    return this.reporting(this.scheduler.runFor(ms))
  }

  /** Within `run`: resolves when so much time has passed. */
  sleep(ms: number): Promise<void> {
    return new Promise(resolve => void this.scheduler.after(ms, 'test', resolve))
  }

  /** Equal for two runs in which the same things happened. */
  digest(): string {
    return this.events.digest()
  }

  /** Seed, time, digest and the last events: what a failing test should print. */
  report(): string {
    const head = `seed ${this.seed}, ${this.nowMs.toFixed(3)} ms, ${this.events.events} events, digest ${this.digest()}`
    return [head, ...this.events.lastEvents(40).map(event => `  ${event}`)].join('\n')
  }

  private async reporting<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (error instanceof SimulationError) throw new SimulationError(`${error.message}\n${this.report()}`, { cause: error.cause })
      throw error
    }
  }
}
