import { assert } from '../../base/assert.ts'
import { threadModule } from '../../base/thread-module.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { type Thread, type Threads } from '../../kernel/ports/threads.ts'
import { type CleanedFacts } from './io/cleaned-segment.ts'
import { type Segment } from './io/segment.ts'
import { type RoundFacts, type RoundFigures, type RoundWork } from './round-work.ts'
import { type SegmentAsideFacts, Suspicion } from './segment-aside.ts'
import { type FromWorker, type ToWorker, type WorkerFailure } from './work-messages.ts'

/** The thread ended in the middle of a round. */
export class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded'
}

/** Waits after so many bytes. Rejects where the round is to end. */
type Pause = (bytes: number) => Promise<void>

/** A thread that does the work of rounds, one round at a time. */
export class CompactionThread {
  private readonly thread: Thread
  private waiting: { readonly resolve: (answer: FromWorker) => void, readonly reject: (error: unknown) => void } | undefined
  private ended: ThreadEnded | undefined
  private pause: Pause = () => Promise.resolve()
  private rounds = 0
  /** Why it was told to stop. */
  private reason: { readonly error: unknown } | undefined

  /** `onEnd`: it has ended by itself, and does no more. */
  constructor(threads: Threads, onEnd: (error: unknown) => void) {
    const module = threadModule(import.meta.url, 'plugins/storage-local/compaction-thread')
    this.thread = threads.start(module, message => { this.take(message as FromWorker) }, error => {
      if (this.ended !== undefined) return
      this.end()
      onEnd(error)
    })
  }

  begin(facts: RoundFacts, pause: Pause): RoundWork {
    this.pause = pause
    this.reason = undefined
    this.rounds++
    this.post({ type: 'begin', facts })
    return new WorkAside(this)
  }

  /** Who waits for an answer is told ThreadEnded. */
  stop(): void {
    this.thread.stop()
    this.end()
  }

  post(message: ToWorker): void {
    if (this.ended === undefined) this.thread.post(message)
  }

  ask<T extends FromWorker['type']>(message: ToWorker, _answered: T): Promise<Extract<FromWorker, { readonly type: T }>> {
    assert(this.waiting === undefined, 'one thing at a time is asked of the thread of compaction')
    return new Promise((resolve, reject) => {
      if (this.ended !== undefined) return reject(this.ended)
      this.waiting = { resolve: answer => { resolve(answer as Extract<FromWorker, { readonly type: T }>) }, reject }
      this.post(message)
    })
  }

  private take(answer: FromWorker): void {
    if (answer.type === 'progress') return void this.progress(answer.bytes)
    const asked = this.waiting
    assert(asked !== undefined, 'the thread of compaction says what it was asked')
    this.waiting = undefined
    if (answer.type === 'failed') asked.reject(this.errorOf(answer))
    else asked.resolve(answer)
  }

  private async progress(bytes: number): Promise<void> {
    const { rounds } = this
    try {
      await this.pause(bytes)
      if (this.rounds === rounds) this.post({ type: 'go' })
    } catch (error) {
      if (this.rounds !== rounds) return
      this.reason ??= { error }
      this.post({ type: 'stop' })
    }
  }

  /** Errors come as copies, without what makes them known. */
  private errorOf({ error, coded, suspicion, stopped }: WorkerFailure): unknown {
    if (stopped === true && this.reason !== undefined) return this.reason.error
    if (suspicion !== undefined) return new Suspicion(suspicion, suspicion.position, suspicion.reason)
    return coded === undefined ? error : new MillraceError(coded.code, coded.details, error)
  }

  private end(): void {
    this.ended ??= new ThreadEnded('the thread of compaction has ended')
    this.waiting?.reject(this.ended)
    this.waiting = undefined
  }
}

/** The work of a round in a thread of its own, which has the files open for itself. */
class WorkAside implements RoundWork {
  private readonly thread: CompactionThread

  constructor(thread: CompactionThread) {
    this.thread = thread
  }

  async index(segment: Segment): Promise<boolean> {
    return (await this.thread.ask({ type: 'index', segment: asideFacts(segment) }, 'indexed')).isWhole
  }

  async clean(group: readonly Segment[], facts: CleanedFacts): Promise<number | undefined> {
    return (await this.thread.ask({ type: 'clean', group: group.map(asideFacts), facts }, 'cleaned')).sizeBytes
  }

  async discard(facts: CleanedFacts): Promise<void> { await this.thread.ask({ type: 'discard', facts }, 'discarded') }

  async swapped(directory: string): Promise<void> { await this.thread.ask({ type: 'swapped', directory }, 'durable') }

  async figures(): Promise<RoundFigures> {
    return (await this.thread.ask({ type: 'figures' }, 'figures')).figures
  }

  end(): void { this.thread.post({ type: 'end' }) }
}

function asideFacts(segment: Segment): SegmentAsideFacts {
  const { baseOffset, endOffset, sizeBytes, trustedFrom, sums: { header } } = segment
  return { path: segment.path('.log'), sumPath: segment.path('.sum'), sumHeader: header, baseOffset, endOffset, sizeBytes, trustedFrom }
}
