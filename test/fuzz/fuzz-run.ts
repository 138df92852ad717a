import { getHeapStatistics } from 'node:v8'
import { Prng } from '../../src/base/prng.ts'
import { type Coverage } from './coverage.ts'
import { type Specimen } from './grammar/specimen.ts'
import { collectGarbage, Meters, stallMsMax } from './meters.ts'
import { type KnownFailure, knownFailure } from './known-failures.ts'
import { minimise } from './minimise.ts'
import { mutate } from './mutators.ts'
import { Finding, type FuzzInput, type Target } from './target.ts'

export interface FuzzOptions {
  readonly seed: number
  readonly inputs: number
  /** Ends earlier when so much time has passed. */
  readonly untilMs?: number
  /** The run begins with these, as they are, and mutates them too. */
  readonly corpus?: readonly FuzzInput[]
  /** Guides the first inputs; the rest is guided by outcomes alone. */
  readonly coverage?: Coverage | undefined
  readonly guidedInputs?: number
  readonly onProgress?: (meters: Meters, kept: number) => void
}

export interface Failure {
  readonly message: string
  readonly error: unknown
  /** As small as it got. Undefined when no single input is to blame. */
  readonly input: FuzzInput | undefined
}

export interface FuzzReport {
  readonly meters: Meters
  /** Inputs that were the first to reach an outcome, or a block of code. */
  readonly kept: readonly (FuzzInput & { readonly why: string })[]
  readonly failures: readonly Failure[]
  /** Failures that are on the list, how often each, and an input that shows it. */
  readonly known: ReadonlyMap<KnownFailure, { count: number, readonly input: FuzzInput | undefined }>
}

/** Inputs between two checks of honest use, and between two looks at the coverage. */
const sliceInputs = 256
const guidedSliceInputs = 32
const keptMax = 4000
const keptBytesMax = 65_536
/** Different failures after which a run gives up. */
const failuresMax = 10
const sliceMs = 4

/** Feeds a target with hostile inputs. All follows from the seed, but for what the coverage adds. */
export async function fuzz(open: () => Promise<Target>, options: FuzzOptions): Promise<FuzzReport> {
  const run = new FuzzRun(open, options)
  try {
    return await run.run()
  } finally {
    await run.close()
  }
}

/** Runs inputs as they are, with all that is enforced. */
export function replay(open: () => Promise<Target>, inputs: readonly FuzzInput[]): Promise<FuzzReport> {
  return fuzz(open, { seed: 1, inputs: inputs.length, corpus: inputs })
}

class FuzzRun {
  private readonly open: () => Promise<Target>
  private readonly options: FuzzOptions
  private readonly meters = new Meters()
  private readonly pool: Specimen[] = []
  private readonly kept: (FuzzInput & { readonly why: string })[] = []
  private readonly outcomes = new Set<string>()
  private readonly failures = new Map<string, Failure>()
  private readonly known = new Map<KnownFailure, { count: number, readonly input: FuzzInput | undefined }>()
  private slice: FuzzInput[] = []
  private target!: Target
  private coverage: Coverage | undefined
  private yieldedMs = 0

  constructor(open: () => Promise<Target>, options: FuzzOptions) {
    this.open = open
    this.options = options
    this.coverage = options.coverage
  }

  async run(): Promise<FuzzReport> {
    const { seed, inputs, untilMs = Infinity, corpus = [], onProgress } = this.options
    this.target = await this.open()
    const root = new Prng(seed)
    await collectGarbage()
    this.meters.loopDelay.enable()
    this.meters.begin()
    this.yieldedMs = performance.now()
    for (let index = 0; index < inputs && performance.now() < untilMs && this.failures.size < failuresMax; index++) {
      const prng = root.fork(String(index))
      const specimen = index < corpus.length ? { ...corpus[index]!, marks: [] } : this.next(prng)
      await this.one(specimen)
      if (this.slice.length >= (this.coverage === undefined ? sliceInputs : guidedSliceInputs)) await this.endSlice()
      if (index % 8192 === 8191) onProgress?.(this.meters, this.kept.length)
      if (this.coverage !== undefined && index >= (this.options.guidedInputs ?? 0)) this.endGuidance()
    }
    await this.endSlice()
    this.endGuidance()
    this.meters.loopDelay.disable()
    return { meters: this.meters, kept: this.kept, failures: [...this.failures.values()], known: this.known }
  }

  async close(): Promise<void> {
    await this.target?.close?.()
  }

  private next(prng: Prng): Specimen {
    const any = (): Specimen => this.pool.length > 0 && prng.chance(0.5) ? prng.pick(this.pool) : this.target.make(prng)
    const base = any()
    const mutant = prng.chance(0.03) ? base : mutate(base, prng, any)
    return this.target.repair?.(mutant, prng) ?? mutant
  }

  private async one(specimen: Specimen): Promise<void> {
    this.slice.push(specimen)
    const heldBefore = held()
    const watch = new Watch()
    let outcome: string
    try {
      const result = this.target.run(specimen)
      outcome = typeof result === 'string' ? result : await result
    } catch (error) {
      await this.fail(error, specimen)
      return
    }
    const tookMs = watch.tookMs()
    const allocated = held() - heldBefore
    this.meters.add(specimen.bytes.length, tookMs)
    if (allocated > 2 * specimen.bytes.length + this.target.limitBytes / 8 || outcome.includes('TOO_LARGE')) await this.weigh(specimen)
    if (tookMs > stallMsMax) await this.time(specimen, tookMs)
    if (!this.outcomes.has(outcome)) {
      this.outcomes.add(outcome)
      this.keep(specimen, outcome)
    }
    if (performance.now() - this.yieldedMs < sliceMs) return
    await this.meters.turn()
    this.yieldedMs = performance.now()
  }

  /** Allocated much: once more, with no garbage of others around it. */
  private async weigh(input: FuzzInput): Promise<void> {
    await collectGarbage()
    const allocated = await weight(this.target, input)
    this.meters.sample()
    if (this.meters.addMemory(input.bytes.length, this.target.limitBytes, allocated)) return
    await this.fail(new Finding(`${input.bytes.length} bytes made it allocate ${mib(allocated)}`), input)
  }

  /** Took long: it counts when it takes as long again, since this process shares its processors. */
  private async time(input: FuzzInput, first: number): Promise<void> {
    let least = first
    for (let times = 0; times < 3 && least > stallMsMax; times++) {
      await new Promise(resolve => { setImmediate(resolve) })
      const watch = new Watch()
      await this.target.run(input)
      least = Math.min(least, watch.tookMs())
    }
    if (least <= stallMsMax) return
    this.meters.slowInputs++
    if (least > this.meters.slowestMs) {
      this.meters.slowestMs = least
      this.meters.slowestKind = `${input.kind}, ${input.bytes.length} bytes`
    }
    this.keep({ ...input, marks: [] }, `slow: ${Math.round(least)} ms`)
  }

  private keep(specimen: Specimen, why: string): void {
    if (specimen.bytes.length > keptBytesMax) return
    this.kept.push({ kind: specimen.kind, bytes: specimen.bytes, why })
    if (this.pool.length < keptMax) this.pool.push(specimen)
    else this.pool[this.kept.length % keptMax] = specimen
  }

  private async endSlice(): Promise<void> {
    const slice = this.slice
    this.slice = []
    this.meters.sample()
    try {
      await this.target.check?.()
    } catch (error) {
      await this.blame(error, slice)
    }
    if (this.coverage !== undefined && this.coverage.takeNew() > 0) await this.keepReaching(slice)
  }

  /** Which inputs of the slice went where none had been: on the first run nobody looked, but code that is run again shows. */
  private async keepReaching(slice: readonly FuzzInput[]): Promise<void> {
    for (const input of slice) {
      try {
        await this.target.run(input)
      } catch {
        continue
      }
      const blocks = this.coverage!.reached()
      if (blocks > 0) this.keep({ ...input, marks: [] }, `reaches ${blocks} new blocks`)
    }
  }

  private endGuidance(): void {
    this.coverage?.stop()
    this.coverage = undefined
  }

  /** A check failed: looks for the input that makes a new target fail it. */
  private async blame(error: unknown, slice: readonly FuzzInput[]): Promise<void> {
    for (const input of slice) {
      if (!await this.fails(input)) continue
      await this.fail(error, input)
      return
    }
    await this.fail(error, undefined)
  }

  private async fail(error: unknown, input: FuzzInput | undefined): Promise<void> {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    const known = knownFailure(this.target.name, message)
    if (known !== undefined) {
      const counted = this.known.get(known)
      if (counted === undefined) this.known.set(known, { count: 1, input })
      else counted.count++
      return
    }
    const shape = `${input?.kind.replace(/ v\d+$/, '') ?? ''} ${message.replace(/\d+/g, '#').slice(0, 120)}`
    if (this.failures.has(shape)) return
    this.failures.set(shape, { message, error, input })
    const smaller = input === undefined ? undefined : await minimise(input, one => this.fails(one, shape))
    this.failures.set(shape, { message, error, input: smaller })
    await this.target.close?.()
    this.target = await this.open()
    this.yieldedMs = performance.now()
  }

  /** Whether a target that knows of nothing else fails with this input, in the same way if one is named. */
  private async fails(input: FuzzInput, shape?: string): Promise<boolean> {
    const target = await this.open()
    const kind = input.kind.replace(/ v\d+$/, '')
    try {
      await target.run(input)
      await collectGarbage()
      const allocated = await weight(target, input)
      if (!new Meters().addMemory(input.bytes.length, target.limitBytes, allocated)) return shape?.includes('allocate') ?? true
      await target.check?.()
      return false
    } catch (error) {
      const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
      return shape === undefined || shape === `${kind} ${message.replace(/\d+/g, '#').slice(0, 120)}`
    } finally {
      await target.close?.()
    }
  }
}

/** Time that passes, or that this process has a processor, whichever is less: waiting for a socket, or for other programs, is no stall. */
class Watch {
  private readonly beganMs = performance.now()
  private readonly cpu = process.cpuUsage()

  tookMs(): number {
    const { user, system } = process.cpuUsage(this.cpu)
    return Math.min(performance.now() - this.beganMs, (user + system) / 1000)
  }
}

/** What the input allocates, garbage included. */
async function weight(target: Target, input: FuzzInput): Promise<number> {
  const before = held()
  if (target.weigh === undefined) await target.run(input)
  else target.weigh(input)
  return held() - before
}

function held(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}

function mib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
