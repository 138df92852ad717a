import { assert } from '../../base/assert.ts'
import { type Prng } from '../../base/prng.ts'
import { TimerHeap, type TimerEntry } from '../../base/timer-heap.ts'
import { settled } from './settled.ts'

/** Something that will happen. */
export interface SimEvent {
  /** Who it happens to: events of one lane and one time keep the order in which they were scheduled. */
  readonly lane: string
  readonly run: () => void
}

/** How a simulation orders what happens at one moment. */
export interface SimSchedulerOptions {
  /** With it, lanes that have something to do at the same time take turns by chance; without, in the order scheduled. */
  readonly shuffle?: Prng
  /** Sees each event when its time has come, before it runs. */
  readonly observe?: (nowMs: number, lane: string) => void
  /** So many events at one moment are a circle: each makes the next, and time stands still. A million by default. */
  readonly eventsAtOnceMax?: number
  /** One hour of simulated time by default: what a `complete` without a bound of its own may take. */
  readonly withinMs?: number
}

/** A simulation that cannot go on, or an event that threw. The message says when, and what waits. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError'
}

/**
 * Virtual time. Events happen one by one, in the order of their times; time jumps from one to the next and stands still meanwhile.
 *
 * The rule that makes promises deterministic: after each event nothing else happens until every promise chain that can go on has gone
 * as far as it can. So an `await` takes no simulated time unless what it waits for is an event, and the order of everything
 * depends only on the seed and on what was scheduled. It holds as long as simulated code waits for nothing from outside: no
 * real timer, file, socket, thread or lazy import. Whoever does wait for such a thing is found waiting when the events have run out.
 */
export class SimScheduler {
  private readonly options: SimSchedulerOptions
  private readonly waiting = new TimerHeap<SimEvent>()
  /** With shuffling: what is due now, by lane. */
  private readonly ready: { readonly lane: string, readonly entries: TimerEntry<SimEvent>[] }[] = []
  private readonly cancelled = new Set<TimerEntry<SimEvent>>()
  private readonly describers: (() => readonly string[])[] = []
  private now = 0
  private running = false
  private ran = 0
  /** Events that had run when time moved last. */
  private ranBefore = 0

  constructor(options: SimSchedulerOptions = {}) {
    this.options = options
  }

  /** Milliseconds since the start of the simulation, with a fraction. */
  get nowMs(): number {
    return this.now
  }

  /** Events that have run. */
  get eventsRun(): number {
    return this.ran
  }

  /** Schedules for `delayMs` from now. The entry is for `cancel`. */
  after(delayMs: number, lane: string, run: () => void): TimerEntry<SimEvent> {
    return this.waiting.add(this.now + Math.max(0, delayMs), { lane, run })
  }

  cancel(entry: TimerEntry<SimEvent>): void {
    if (this.waiting.remove(entry)) return
    // Due already and waiting for its turn, or long over.
    if (this.ready.some(lane => lane.entries.includes(entry))) this.cancelled.add(entry)
  }

  /** Lines for the report when nothing goes on: who waits for what. */
  describeWith(describe: () => readonly string[]): void {
    this.describers.push(describe)
  }

  /** Lets everything happen that is due until `untilMs`, which is the time afterwards. */
  async run(untilMs: number): Promise<void> {
    await this.exclusively(async () => {
      for (let next = this.nextMs(); next !== undefined && next <= untilMs; next = this.nextMs()) await this.step()
      this.now = Math.max(this.now, untilMs)
    })
  }

  runFor(ms: number): Promise<void> {
    return this.run(this.now + ms)
  }

  /**
   * Lets events happen until the promise is settled, and gives its value or error. Rejects with a SimulationError when nothing is left
   * to happen, or when it takes longer than `withinMs` of simulated time.
   */
  async complete<T>(work: Promise<T>, options: { readonly withinMs?: number, readonly what?: string } = {}): Promise<T> {
    const { what = 'the promise', withinMs = this.options.withinMs ?? 3_600_000 } = options
    let done = false
    const finish = (): void => {
      done = true
    }
    work.then(finish, finish)
    await this.exclusively(async () => {
      const deadlineMs = this.now + withinMs
      while (!done) {
        const next = this.nextMs()
        if (next === undefined) throw this.stuck(`nothing is left to happen, and ${what} is still waited for`)
        if (next > deadlineMs) throw this.stuck(`${what} is still waited for after ${withinMs} ms`)
        await this.step()
      }
    })
    return work
  }

  /** Runs the next event, if there is one, and the promise chains behind it. */
  private async step(): Promise<void> {
    const entry = this.take()
    if (entry === undefined) return
    if (entry.deadlineMs > this.now) {
      this.now = entry.deadlineMs
      this.ranBefore = this.ran
    }
    this.ran++
    const { eventsAtOnceMax = 1_000_000 } = this.options
    if (this.ran - this.ranBefore > eventsAtOnceMax) throw this.stuck(`time stands still after ${eventsAtOnceMax} events; the last is of ${entry.value.lane}`)
    this.options.observe?.(this.now, entry.value.lane)
    try {
      entry.value.run()
    } catch (error) {
      throw new SimulationError(`an event of ${entry.value.lane} threw at ${this.now} ms: ${String(error)}`, { cause: error })
    }
    await settled()
  }

  private async exclusively(body: () => Promise<void>): Promise<void> {
    assert(!this.running, 'time is advanced by one at a time, and never from within an event')
    this.running = true
    try {
      await settled()
      await body()
    } finally {
      this.running = false
    }
  }

  private nextMs(): number | undefined {
    this.dropCancelled()
    return this.ready.length > 0 ? this.now : this.waiting.peek()?.deadlineMs
  }

  private take(): TimerEntry<SimEvent> | undefined {
    const { shuffle } = this.options
    const first = this.waiting.peek()
    if (shuffle === undefined) return first === undefined ? undefined : this.waiting.popDue(first.deadlineMs)
    const dueMs = this.ready.length > 0 ? this.now : first?.deadlineMs
    if (dueMs === undefined) return undefined
    for (let entry = this.waiting.popDue(dueMs); entry !== undefined; entry = this.waiting.popDue(dueMs)) this.makeReady(entry)
    const lane = shuffle.pick(this.ready)
    const entry = lane.entries.shift()!
    if (lane.entries.length === 0) this.ready.splice(this.ready.indexOf(lane), 1)
    return entry
  }

  private makeReady(entry: TimerEntry<SimEvent>): void {
    const lane = this.ready.find(each => each.lane === entry.value.lane)
    if (lane === undefined) this.ready.push({ lane: entry.value.lane, entries: [entry] })
    else lane.entries.push(entry)
  }

  private dropCancelled(): void {
    if (this.cancelled.size === 0) return
    for (const lane of [...this.ready]) {
      lane.entries.splice(0, lane.entries.length, ...lane.entries.filter(entry => !this.cancelled.has(entry)))
      if (lane.entries.length === 0) this.ready.splice(this.ready.indexOf(lane), 1)
    }
    this.cancelled.clear()
  }

  private stuck(what: string): SimulationError {
    const lines = this.describers.flatMap(describe => describe())
    return new SimulationError([`at ${this.now} ms: ${what}`, ...lines.map(line => `  ${line}`)].join('\n'))
  }
}
