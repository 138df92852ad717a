import { assert } from '../../base/assert.ts'
import { BatchCompactor, compactInline, indexBatch, isIndexed, recordsOfBatch } from '../../kernel/log/compaction-round.ts'
import { OffsetMap } from '../../kernel/log/offset-map.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { batchBytesOf } from '../../kernel/record/batch-header.ts'
import { BatchReader } from '../../kernel/record/batch-reader.ts'
import { figuresOf, type RoundFacts } from './round-work.ts'
import { isQuestion, type FromWorker, type ToWorker } from './work-messages.ts'

/** What the thread of compaction does with what it is told: the work of one round after another. */
export class WorkerRounds {
  private readonly compression: Compression
  private readonly tell: (message: FromWorker) => void
  private round: WorkerRound | undefined
  /** What ended the round: told to all that is asked of it. */
  private failure: { readonly error: unknown } | undefined

  constructor(compression: Compression, tell: (message: FromWorker) => void) {
    this.compression = compression
    this.tell = tell
  }

  take(message: ToWorker): void {
    try {
      this.act(message)
    } catch (error) {
      this.round = undefined
      this.failure = { error }
    }
    if (this.failure !== undefined && isQuestion(message)) this.tell({ type: 'failed', error: this.failure.error })
  }

  private act(message: ToWorker): void {
    if (message.type === 'begin' || message.type === 'end') {
      // The memory of the round before is free when that of the next is taken.
      this.round = this.failure = undefined
      if (message.type === 'begin') this.round = new WorkerRound(message.facts, this.compression)
      return
    }
    if (this.failure !== undefined) return
    assert(this.round !== undefined, 'a round is begun before anything is asked of it')
    const answer = this.round.take(message)
    if (answer !== undefined) this.tell(answer)
  }
}

class WorkerRound {
  private readonly facts: RoundFacts
  private readonly compression: Compression
  private readonly memory: Uint8Array[] = []
  private readonly reader = new BatchReader()
  private readonly map: OffsetMap
  private readonly compactor: BatchCompactor

  constructor(facts: RoundFacts, compression: Compression) {
    this.facts = facts
    this.compression = compression
    this.map = new OffsetMap({ bytes: facts.mapBytes, ...facts })
    this.compactor = new BatchCompactor({ map: this.map, ...facts }, facts.rewrite)
  }

  take(message: Exclude<ToWorker, { readonly type: 'begin' | 'end' }>): FromWorker | undefined {
    switch (message.type) {
      case 'memory':
        this.memory[message.id] = message.bytes
        return undefined
      case 'reached':
        this.map.reached(message.offset)
        return undefined
      case 'index': return { type: 'indexed', isWhole: this.index(this.memoryOf(message.memory), message.end) }
      case 'compact': return { type: 'compacted', left: this.compact(this.memoryOf(message.memory), message.end, message.keepsLast, this.memoryOf(message.target)) }
      case 'figures': return { type: 'figures', figures: figuresOf(this.map, this.compactor) }
    }
  }

  private memoryOf(id: number): Uint8Array {
    const bytes = this.memory[id]
    assert(bytes !== undefined, 'memory is made known before it is used')
    return bytes
  }

  private index(bytes: Uint8Array, end: number): boolean {
    const { begin } = this.facts
    for (let at = 0; at < end; at += batchBytesOf(bytes, at)) {
      const records = isIndexed(bytes, at, begin) ? recordsOfBatch(bytes, at, this.compression) : undefined
      if (!indexBatch(this.map, bytes, at, records, this.reader, begin)) return false
    }
    return true
  }

  private compact(bytes: Uint8Array, end: number, keepsLast: boolean, target: Uint8Array): 'as it was' | number | Uint8Array {
    const left: Uint8Array[] = []
    let length = 0
    let changed = false
    for (let at = 0; at < end;) {
      const size = batchBytesOf(bytes, at)
      const batch = compactInline(this.compactor, bytes, at, keepsLast && at + size === end, this.compression)
      // What stays as it is is given as a view of what it was read from.
      changed ||= batch?.buffer !== bytes.buffer
      if (batch !== undefined) {
        left.push(batch)
        length += batch.length
      }
      at += size
    }
    if (!changed) return 'as it was'
    const into = length <= target.length ? target : new Uint8Array(length)
    let at = 0
    for (const batch of left) {
      into.set(batch, at)
      at += batch.length
    }
    return into === target ? length : into
  }
}
