import { type RecordMetadata } from './producer-record.ts'

/** A flush under way: how many batches, and records without a batch, it still waits for. */
export interface FlushTicket {
  missing: number
  readonly done: () => void
}

/** What became of the records `from` to `from + count - 1` of a batch. */
export interface PartOutcome {
  readonly from: number
  readonly count: number
  /** -1 when it is not known. */
  readonly baseOffset: number
  /** -1 where the records' own timestamps hold. */
  readonly appendTimeMs: number
  readonly error: Error | undefined
}

interface Run {
  readonly from: number
  readonly timestamp: number
}

/**
 * Tells the senders of a batch's records how it went.
 *
 * A promise a record is the dearest part of sending it. Here each is made by `then` on one promise of the batch, with one function for all: callbacks of a
 * promise run in the order in which they were registered, so the function counts, and needs no closure a record to know which one it is about. That takes
 * less than two thirds of the memory of `new Promise` with its resolving functions. Records that somebody asked for by index (`sendMany`) are stepped over.
 */
export class BatchReceipt {
  private readonly topic: string
  private readonly partition: number
  private readonly settled: Promise<void>
  private resolve!: () => void
  private added = 0
  private closed = false
  private readonly outcomes: PartOutcome[] = []
  private outcomesCount = 0
  /** Timestamps, as many as there are different ones in a row. */
  private readonly runs: Run[] = []
  /** Ranges that were asked for by index: from and end, in order. */
  private skips: number[] | undefined
  private skipAt = 0
  private next = 0

  constructor(topic: string, partition: number) {
    this.topic = topic
    this.partition = partition
    this.settled = new Promise(resolve => { this.resolve = resolve })
  }

  /** Records so far. */
  get count(): number {
    return this.added
  }

  /** Counts a record in. */
  add(timestamp: number): void {
    const { runs } = this
    if (runs.length === 0 || runs[runs.length - 1]!.timestamp !== timestamp) runs.push({ from: this.added, timestamp })
    this.added++
  }

  /** The promise for the record added last. Records are asked for in the order in which they were added, or by `ask`. */
  promise(): Promise<RecordMetadata> {
    return this.settled.then(this.placeNext)
  }

  /** For `count` records from `from` on, for which `promise` was not and will not be called: calls back when they are settled. Then ask `place` for each. */
  ask(from: number, count: number, settled: () => void): void {
    this.skips ??= []
    this.skips.push(from, from + count)
    void this.settled.then(settled)
  }

  /** Where a record came to be. Throws why it was not stored. */
  place(index: number): RecordMetadata {
    let outcome = this.outcomes[0]!
    if (index < outcome.from || index >= outcome.from + outcome.count) {
      outcome = this.outcomes.find(each => index >= each.from && index < each.from + each.count)!
    }
    if (outcome.error !== undefined) throw outcome.error
    const { baseOffset, appendTimeMs } = outcome
    return {
      topic: this.topic, partition: this.partition, offset: baseOffset < 0 ? -1 : baseOffset + index - outcome.from,
      timestamp: appendTimeMs >= 0 ? appendTimeMs : this.timestampOf(index),
    }
  }

  /** Settles a part, or the whole. When all records are, their senders are told. */
  settle(outcome: PartOutcome): void {
    this.outcomes.push(outcome)
    this.outcomesCount += outcome.count
    if (this.outcomesCount < this.added || this.closed) return
    this.closed = true
    this.resolve()
  }

  /** The flush waits for these records, too: it is over after their senders have been told. */
  join(ticket: FlushTicket): void {
    ticket.missing++
    void this.settled.then(() => {
      if (--ticket.missing === 0) ticket.done()
    })
  }

  private readonly placeNext = (): RecordMetadata => {
    const { skips } = this
    while (skips !== undefined && skips[this.skipAt] === this.next) {
      this.next = skips[this.skipAt + 1]!
      this.skipAt += 2
    }
    return this.place(this.next++)
  }

  private timestampOf(index: number): number {
    const { runs } = this
    let low = 0
    let high = runs.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (runs[middle]!.from <= index) low = middle
      else high = middle - 1
    }
    return runs[low]!.timestamp
  }
}
