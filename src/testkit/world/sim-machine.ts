import { type Prng } from '../../base/prng.ts'
import { assert } from '../../base/assert.ts'
import { type Clock, type Random, type Timers } from '../../kernel/ports/clock.ts'
import { type Network } from '../../kernel/ports/network.ts'
import { type KeepUnsynced } from './crash-choice.ts'
import { type FaultCounts } from './fault-counts.ts'
import { type FileFault } from './file-faults.ts'
import { MemoryFileSystem, type MemoryFileSystemOptions } from './memory-file-system.ts'
import { MemoryHttpServer } from './memory-http-server.ts'
import { MemoryKeyValueEngine } from './memory-key-value-engine.ts'
import { type MemoryNetwork } from './memory-network.ts'
import { SeededRandom } from './seeded-random.ts'
import { type SimScheduler } from './sim-scheduler.ts'
import { SimClock, SimTimers } from './sim-timers.ts'

/** What a simulated machine is like. */
export interface SimMachineOptions {
  /** How far its wall clock is ahead. */
  readonly wallOffsetMs?: number
  readonly diskBytes?: number
  /** How long a sync, and a read off the loop, take. Default: 0.1 to 2 ms, and 0.05 to 0.5 ms, by chance. */
  readonly syncMs?: () => number
  readonly readMs?: () => number
  /** What kind of disk it has. */
  readonly disk?: Pick<MemoryFileSystemOptions, 'blockBytes' | 'garbage' | 'names'>
}

/** The world as one process of a simulated machine sees it: every port but Compression. */
export interface SimProcess {
  readonly machine: string
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly files: MemoryFileSystem
  readonly keyValues: MemoryKeyValueEngine
  readonly network: Network
  readonly http: MemoryHttpServer
  /** Lines that the process logged, oldest first. */
  readonly logLines: string[]
}

/** What a machine needs of its world. */
export interface SimMachineWorld {
  readonly scheduler: SimScheduler
  readonly network: MemoryNetwork
  readonly prng: Prng
  readonly faultCounts: FaultCounts
  readonly trace: (event: string) => void
}

/** A machine with a disk, a clock and a place on the network, on which one process runs at a time. */
export class SimMachine {
  readonly name: string
  readonly clock: SimClock
  private readonly world: SimMachineWorld
  private readonly options: SimMachineOptions
  private readonly random: Random
  private timers: SimTimers
  private files: MemoryFileSystem
  private keyValues: MemoryKeyValueEngine
  private current: SimProcess | undefined
  private starts = 0
  private crashes = 0
  private diskFaults: readonly FileFault[] = []

  constructor(name: string, world: SimMachineWorld, options: SimMachineOptions = {}) {
    this.name = name
    this.world = world
    this.options = options
    this.clock = new SimClock(world.scheduler, options.wallOffsetMs ?? 0)
    this.random = new SeededRandom(world.prng.fork(`disk of ${name}`))
    this.timers = new SimTimers(world.scheduler, name)
    this.files = new MemoryFileSystem(this.fileOptions())
    this.keyValues = new MemoryKeyValueEngine({ ...this.keyValueOptions(), files: this.files })
  }

  /** The process that runs, started if none does. */
  get process(): SimProcess {
    return this.current ?? this.start()
  }

  /** Starts a process on what the last one left. */
  start(): SimProcess {
    assert(this.current === undefined, `${this.name} runs one process at a time`)
    this.starts++
    this.world.trace(`start ${this.name}`)
    const { clock, timers, files, keyValues } = this
    this.current = {
      machine: this.name, clock, timers, files, keyValues,
      random: new SeededRandom(this.world.prng.fork(`process ${this.starts} of ${this.name}`)),
      network: this.world.network.host(this.name, timers),
      http: new MemoryHttpServer(),
      logLines: [],
    }
    return this.current
  }

  /**
   * Ends the process between two events. `kill`: its system lives on, keeps what was written and tells the peers. `power`: what was not
   * synced is kept as `keepUnsynced` says (by chance, if it does not), and peers are not told.
   */
  crash(how: 'kill' | 'power', options: { readonly keepUnsynced?: KeepUnsynced } = {}): void {
    this.world.trace(`${how} ${this.name}`)
    this.timers.kill()
    this.current?.http.crash()
    this.current = undefined
    this.world.network.crash(this.name, { silent: how === 'power' })
    const keepUnsynced = how === 'kill' ? 'all' : options.keepUnsynced ?? this.random
    this.timers = new SimTimers(this.world.scheduler, this.name)
    this.crashes++
    this.files = this.files.afterCrash({ keepUnsynced }, this.fileOptions())
    this.addDiskFaults()
    this.keyValues = this.keyValues.afterCrash({ keepUnsynced }, { ...this.keyValueOptions(), files: this.files })
  }

  /** From now on the disk has these faults, in this life and all that follow, and no others. None heals it. */
  spoilDisk(faults: readonly FileFault[]): void {
    this.diskFaults = faults
    this.files.faults.clear()
    this.addDiskFaults()
  }

  /** The process stands still: nothing happens to it, and what should have happens late. */
  pause(ms: number): void {
    this.world.trace(`pause ${this.name} ${ms}`)
    this.timers.pause(ms)
  }

  private addDiskFaults(): void {
    for (const fault of this.diskFaults) this.files.faults.add(fault)
  }

  private fileOptions() {
    const { syncMs = this.between(0.1, 2), readMs = this.between(0.05, 0.5), diskBytes, disk } = this.options
    return {
      ...disk,
      counts: this.world.faultCounts,
      faultSeed: this.world.prng.fork(`disk faults of ${this.name}, life ${this.crashes}`).uint32(),
      clock: this.clock, timers: this.timers, syncMs, readMs,
      ...(diskBytes === undefined ? {} : { capacityBytes: diskBytes }),
      observe: ({ kind, path, bytes }: { readonly kind: string, readonly path: string, readonly bytes?: number }) =>
        this.world.trace(`${this.name} ${kind} ${path} ${bytes ?? ''}`),
    }
  }

  private keyValueOptions() {
    const { syncMs = this.between(0.1, 2) } = this.options
    return {
      timers: this.timers, syncMs,
      observe: ({ kind, path }: { readonly kind: string, readonly path: string }) => this.world.trace(`${this.name} store ${kind} ${path}`),
    }
  }

  private between(lowMs: number, highMs: number): () => number {
    return () => lowMs + this.random.fraction() * (highMs - lowMs)
  }
}
