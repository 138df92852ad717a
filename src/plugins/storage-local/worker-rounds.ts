import { assert } from '../../base/assert.ts'
import { isMillraceError } from '../../kernel/errors/index.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { discardCleaned } from './io/cleaned-segment.ts'
import { type RoundFacts } from './round-work.ts'
import { SegmentAside, type SegmentAsideFacts, Suspicion } from './segment-aside.ts'
import { WorkInSlices } from './work-in-slices.ts'
import { type FromWorker, type ToWorker, type WorkerFailure } from './work-messages.ts'

/** Bytes that are read at a time: they stay in the caches of a processor until they are written. */
const chunkBytes = 524_288

/** Bytes from one progress to the next. */
const sliceBytes = 1_048_576

type Question = 'index' | 'clean' | 'discard' | 'swapped' | 'figures'

class Stopped extends Error {}

export interface WorkerWorld {
  readonly files: FileSystem
  readonly compression: Compression
}

/** What the thread of compaction does with what it is told: the work of one round after another, with files of its own. */
export class WorkerRounds {
  private readonly world: WorkerWorld
  private readonly tell: (message: FromWorker) => void
  private round: WorkInSlices<SegmentAsideFacts> | undefined
  private opened: SegmentAside[] = []
  /** What ended the round: told to all that is asked of it. */
  private failure: { readonly error: unknown } | undefined
  private isStopped = false
  /** A progress was told and is not answered yet. */
  private isWaited = false
  private goOn: (() => void) | undefined

  constructor(world: WorkerWorld, tell: (message: FromWorker) => void) {
    this.world = world
    this.tell = tell
  }

  take(message: ToWorker): void {
    switch (message.type) {
      case 'begin': return this.begin(message.facts)
      case 'go':
      case 'stop': return this.answered(message.type === 'stop')
      case 'end':
        this.close()
        this.round = this.failure = undefined
        return
      default: void this.answer(message)
    }
  }

  private begin(facts: RoundFacts): void {
    const { files, compression } = this.world
    // The memory of the round before is free when that of the next is taken.
    this.round = this.failure = undefined
    this.isStopped = this.isWaited = false
    try {
      this.round = new WorkInSlices(facts, {
        files, compression, logger: { warn: () => {} }, chunkBytes, sliceBytes, isAside: true, read: segment => this.opens(segment), pause: bytes => this.pause(bytes),
      })
    } catch (error) {
      this.failure = { error }
    }
  }

  private opens(facts: SegmentAsideFacts): SegmentAside {
    const segment = new SegmentAside(this.world.files, facts)
    this.opened.push(segment)
    return segment
  }

  private close(): void {
    for (const segment of this.opened.splice(0)) segment.close()
  }

  private async answer(message: Extract<ToWorker, { readonly type: Question }>): Promise<void> {
    if (this.failure === undefined || message.type === 'discard') {
      try {
        return this.tell(await this.act(message))
      } catch (error) {
        this.round = undefined
        this.close()
        // What ended the round has been told; this is another matter, of the disk.
        if (message.type === 'discard') return this.tell(failureOf(error))
        this.failure ??= { error }
      }
    }
    this.tell(failureOf(this.failure!.error))
  }

  private async act(message: Extract<ToWorker, { readonly type: Question }>): Promise<FromWorker> {
    const { round } = this
    switch (message.type) {
      case 'discard':
        this.close()
        discardCleaned(this.world.files, message.facts)
        return { type: 'discarded' }
      case 'index': {
        const isWhole = await existing(round).index(message.segment)
        this.close()
        return { type: 'indexed', isWhole }
      }
      case 'clean': {
        const sizeBytes = await existing(round).clean(message.group, message.facts)
        // Nothing is swapped then.
        if (sizeBytes === undefined) this.close()
        return { type: 'cleaned', sizeBytes }
      }
      case 'swapped':
        // What was replaced is freed by this.
        this.close()
        await existing(round).swapped(message.directory)
        return { type: 'durable' }
      case 'figures': return { type: 'figures', figures: await existing(round).figures() }
    }
  }

  /** Tells how far it is, and waits for the answer to what was told before. */
  private async pause(bytes: number): Promise<void> {
    if (this.isWaited) await new Promise<void>(resolve => { this.goOn = resolve })
    if (this.isStopped) throw new Stopped()
    this.isWaited = true
    this.tell({ type: 'progress', bytes })
  }

  private answered(stops: boolean): void {
    this.isWaited = false
    this.isStopped ||= stops
    this.goOn?.()
    this.goOn = undefined
  }
}

function existing(round: WorkInSlices<SegmentAsideFacts> | undefined): WorkInSlices<SegmentAsideFacts> {
  assert(round !== undefined, 'a round is begun before anything is asked of it')
  return round
}

function failureOf(error: unknown): WorkerFailure {
  return {
    type: 'failed', error,
    ...isMillraceError(error) ? { coded: { code: error.code, details: error.details } } : {},
    ...error instanceof Suspicion ? { suspicion: { baseOffset: error.baseOffset, position: error.position, reason: error.reason } } : {},
    ...error instanceof Stopped ? { stopped: true } : {},
  }
}
