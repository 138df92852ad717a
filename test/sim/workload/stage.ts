import { deferred, type Deferred } from '../../../src/base/deferred.ts'
import { type Prng } from '../../../src/base/prng.ts'
import { type SimBroker } from '../../../src/harness/index.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { kafkaErrorName } from '../../../src/wire/index.ts'
import { type History, Violation } from '../history.ts'
import { type Topics } from './topics.ts'

/** An operation by its name, with how often it is chosen. */
export interface Operation {
  readonly name: string
  readonly weight: number
  readonly run: () => Promise<void>
}

/** Longer than any timeout of a client and any time that the broker is away, together. */
const operationMsMax = 60_000

/** What all actors share, and the count of what they did. */
export class Stage {
  readonly sim: SimBroker
  readonly history: History
  readonly topics: Topics
  /** Operations that are still to be done. */
  left: number
  /** By DeleteRecords, as far as it was answered. */
  recordsDeleted = 0
  /** Of which a deletion was begun, and is certain. */
  topicsDeleted = 0
  /** How often each operation was done, and how often each error was met. */
  readonly counts = new Map<string, number>()
  /** Errors that any answer may be, on a disk that fails. */
  private readonly alsoRefused: readonly number[]
  private active = 0
  private gate: Deferred<void> | undefined
  private idle: Deferred<void> | undefined

  get diskFails(): boolean { return this.alsoRefused.length > 0 }

  constructor(sim: SimBroker, history: History, topics: Topics, operations: number, alsoRefused: readonly number[] = []) {
    this.sim = sim
    this.history = history
    this.topics = topics
    this.left = operations
    this.alsoRefused = alsoRefused
  }

  /** Does operations by chance until all are done. */
  async act(prng: Prng, operations: readonly Operation[], thinkMsMax: number): Promise<void> {
    const total = operations.reduce((sum, { weight }) => sum + weight, 0)
    while (this.left > 0) {
      await this.sim.world.sleep(prng.float() * thinkMsMax)
      while (this.gate !== undefined) await this.gate.promise
      if (this.left-- <= 0) return
      let at = prng.float() * total
      const operation = operations.find(({ weight }) => (at -= weight) < 0) ?? operations[0]!
      await this.perform(operation)
    }
  }

  /** Lets the operations under way end and holds the others back, runs, and lets them go on. */
  async alone(run: () => Promise<void>): Promise<void> {
    this.gate = deferred()
    if (this.active > 0) {
      this.idle = deferred()
      await this.idle.promise
    }
    await run()
    const { gate } = this
    this.gate = undefined
    gate.resolve()
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  /** An answer of the broker that is an error: one of those that may come, or a violation. */
  refused(what: string, errorCode: number, allowed: readonly number[]): void {
    const name = kafkaErrorName(errorCode)
    this.count(`${what}: ${name}`)
    if (!allowed.includes(errorCode) && !this.alsoRefused.includes(errorCode)) throw new Violation(`${what} was answered with ${name}`)
  }

  private async perform({ name, run }: Operation): Promise<void> {
    const { world } = this.sim
    const beganMs = world.nowMs
    this.count(name)
    this.active++
    try {
      await run()
    } catch (error) {
      // Connections break and brokers go away; what is no error of ours is a defect.
      if (!isMillraceError(error)) throw error
      this.count(`${name}: ${error.code}`)
    } finally {
      this.active--
    }
    world.trace(`${name} ended`)
    if (world.nowMs - beganMs > operationMsMax) throw new Violation(`L2 every call is answered in time: ${name} took ${world.nowMs - beganMs} ms`)
    if (this.active > 0) return
    this.idle?.resolve()
    this.idle = undefined
  }
}
