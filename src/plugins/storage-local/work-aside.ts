import { assert } from '../../base/assert.ts'
import { threadModule } from '../../base/thread-module.ts'
import { batchBytesOf } from '../../kernel/record/batch-header.ts'
import { type Thread, type Threads } from '../../kernel/ports/threads.ts'
import { type Compacted, type RoundFacts, type RoundFigures, type RoundWork } from './round-work.ts'
import { type FromWorker, type ToWorker } from './work-messages.ts'

/**
 * Bytes that are given to the thread at a time. What this thread does with them before and after (their checksums, and the write) keeps its event loop for some
 * 100 µs.
 */
const chunkBytes = 262_144

/** The thread ended in the middle of a round. */
export class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded'
}

/** A thread that does the work of rounds, one round at a time. */
export class CompactionThread {
  private readonly thread: Thread
  private readonly waiting: { readonly resolve: (answer: FromWorker) => void, readonly reject: (error: unknown) => void }[] = []
  private ended: ThreadEnded | undefined

  /** `onEnd`: it has ended by itself, and does no more. */
  constructor(threads: Threads, onEnd: (error: unknown) => void) {
    const module = threadModule(import.meta.url, 'plugins/storage-local/compaction-thread')
    this.thread = threads.start(module, message => {
      const answer = message as FromWorker
      const asked = this.waiting.shift()
      assert(asked !== undefined, 'the thread of compaction says what it was asked')
      if (answer.type === 'failed') asked.reject(answer.error)
      else asked.resolve(answer)
    }, error => {
      if (this.ended !== undefined) return
      this.end()
      onEnd(error)
    })
  }

  begin(facts: RoundFacts): RoundWork {
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
    return new Promise((resolve, reject) => {
      if (this.ended !== undefined) return reject(this.ended)
      this.waiting.push({ resolve: answer => { resolve(answer as Extract<FromWorker, { readonly type: T }>) }, reject })
      this.post(message)
    })
  }

  private end(): void {
    this.ended ??= new ThreadEnded('the thread of compaction has ended')
    for (const { reject } of this.waiting.splice(0)) reject(this.ended)
  }
}

/** The work of a round in a thread of its own; it shares the memory of what is read and of what is to be written. */
class WorkAside implements RoundWork {
  readonly chunkBytes = chunkBytes
  readonly readsAhead = true
  private readonly thread: CompactionThread
  private readonly ids = new Map<Uint8Array, number>()
  /** As large as the largest piece that is given. */
  private target: Uint8Array = new Uint8Array(0)

  constructor(thread: CompactionThread) {
    this.thread = thread
  }

  memory(bytes: number): Uint8Array {
    if (bytes > this.target.length) this.target = this.shared(bytes)
    return this.shared(bytes)
  }

  async index(bytes: Uint8Array, end: number): Promise<boolean> {
    return (await this.thread.ask({ type: 'index', memory: this.idOf(bytes), end }, 'indexed')).isWhole
  }

  reached(offset: number): void { this.thread.post({ type: 'reached', offset }) }

  async compact(bytes: Uint8Array, end: number, keepsLast: boolean): Promise<Compacted> {
    const { left } = await this.thread.ask({ type: 'compact', memory: this.idOf(bytes), end, keepsLast, target: this.idOf(this.target) }, 'compacted')
    if (left === 'as it was') return { batches: batchesOf(bytes, end), changed: false }
    return { batches: typeof left === 'number' ? batchesOf(this.target, left) : batchesOf(left, left.length), changed: true }
  }

  async figures(): Promise<RoundFigures> {
    return (await this.thread.ask({ type: 'figures' }, 'figures')).figures
  }

  end(): void { this.thread.post({ type: 'end' }) }

  private shared(bytes: number): Uint8Array {
    const memory = new Uint8Array(new SharedArrayBuffer(bytes))
    const id = this.ids.size
    this.ids.set(memory, id)
    this.thread.post({ type: 'memory', id, bytes: memory })
    return memory
  }

  private idOf(bytes: Uint8Array): number {
    const id = this.ids.get(bytes)
    assert(id !== undefined, 'what is given lies in memory of this work')
    return id
  }
}

function batchesOf(bytes: Uint8Array, end: number): Uint8Array[] {
  const batches: Uint8Array[] = []
  for (let at = 0; at < end; at += batchBytesOf(bytes, at)) batches.push(bytes.subarray(at, at + batchBytesOf(bytes, at)))
  return batches
}
