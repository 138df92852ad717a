import { CheckpointTextError, formatCheckpointText, parseCheckpointText, wholeNumber } from './checkpoint-text.ts'

/** A leader epoch, and the offset of the first record appended in it. */
export interface EpochEntry {
  readonly epoch: number
  readonly startOffset: number
}

/** Where a leader epoch ends; (-1, -1) for one that is unknown. */
export interface EpochEnd {
  readonly leaderEpoch: number
  readonly endOffset: number
}

const unknown: EpochEnd = { leaderEpoch: -1, endOffset: -1 }

/**
 * Which leader epoch wrote which offsets of a partition (KIP-101, KIP-279): epochs and start offsets both strictly ascending. Only epochs
 * with records have an entry. Whoever keeps it on disk watches `changes`.
 */
export class EpochHistory {
  private entries: EpochEntry[] = []
  /** Counts what altered the entries. */
  changes = 0

  get lastEpoch(): number {
    return this.entries.length === 0 ? -1 : this.entries[this.entries.length - 1]!.epoch
  }

  get all(): readonly EpochEntry[] {
    return this.entries
  }

  /**
   * A batch of `epoch` begins at `startOffset`. Does nothing while the epoch is the last one. Entries that contradict it, those with an
   * epoch or a start offset at or above, are of a history that was truncated, and go.
   */
  append(epoch: number, startOffset: number): void {
    if (epoch < 0 || epoch === this.lastEpoch) return
    while (this.entries.length > 0) {
      const last = this.entries[this.entries.length - 1]!
      if (last.epoch < epoch && last.startOffset < startOffset) break
      this.entries.pop()
    }
    this.entries.push({ epoch, startOffset })
    this.changes++
  }

  /** The epoch of the record at `offset`, or -1. */
  epochOf(offset: number): number {
    for (let index = this.entries.length - 1; index >= 0; index--) {
      const entry = this.entries[index]!
      if (entry.startOffset <= offset) return entry.epoch
    }
    return -1
  }

  /**
   * Where the largest epoch at or below `epoch` ends: the start of the next one, or `logEndOffset`. Below the first known epoch the answer
   * is `epoch` itself, ending where the first begins; above the last, and for -1, it is (-1, -1).
   */
  endOf(epoch: number, logEndOffset: number): EpochEnd {
    const last = this.lastEpoch
    if (epoch < 0 || epoch > last) return unknown
    if (epoch === last) return { leaderEpoch: epoch, endOffset: logEndOffset }
    let index = this.entries.length - 1
    while (index >= 0 && this.entries[index]!.epoch > epoch) index--
    const next = this.entries[index + 1]!
    return { leaderEpoch: index < 0 ? epoch : this.entries[index]!.epoch, endOffset: next.startOffset }
  }

  /** The log now ends at `endOffset`: entries at and above go. */
  truncateEnd(endOffset: number): void {
    while (this.entries.length > 0 && this.entries[this.entries.length - 1]!.startOffset >= endOffset) {
      this.entries.pop()
      this.changes++
    }
  }

  /** The log now begins at `startOffset`: of the entries at or below it the newest stays, and begins there. */
  truncateStart(startOffset: number): void {
    let index = this.entries.length - 1
    while (index >= 0 && this.entries[index]!.startOffset > startOffset) index--
    if (index < 0 || (index === 0 && this.entries[0]!.startOffset === startOffset)) return
    this.entries.splice(0, index + 1, { epoch: this.entries[index]!.epoch, startOffset })
    this.changes++
  }

  /**
   * The log now goes from `startOffset` to `endOffset`. One of which retention or a deletion left nothing keeps the epoch that it had at its
   * end: clients that have read it ask where that ended. One that ends at 0 has no records behind it to have had an epoch.
   */
  fit(startOffset: number, endOffset: number): void {
    const last = startOffset === endOffset && endOffset > 0 ? this.epochOf(endOffset) : -1
    this.truncateEnd(endOffset)
    this.truncateStart(startOffset)
    if (this.entries.length === 0) this.append(last, endOffset)
  }

  clear(): void {
    if (this.entries.length > 0) this.changes++
    this.entries = []
  }

  /** The text of Kafka's `leader-epoch-checkpoint`. */
  format(): string {
    return formatCheckpointText(this.entries.map(entry => [entry.epoch, entry.startOffset]))
  }

  /** Takes over what `format` wrote. Throws CheckpointTextError, and then keeps what it had. */
  load(text: string): void {
    const loaded: EpochEntry[] = []
    for (const [epochText, startText] of parseCheckpointText(text, 2)) {
      const epoch = wholeNumber(epochText!)
      const startOffset = wholeNumber(startText!)
      const last = loaded.at(-1)
      if (epoch === undefined || startOffset === undefined) throw new CheckpointTextError(`no epoch and offset in ${epochText} ${startText}`)
      if (last !== undefined && (epoch <= last.epoch || startOffset <= last.startOffset)) {
        throw new CheckpointTextError(`epoch ${epoch} at ${startOffset} is not above epoch ${last.epoch} at ${last.startOffset}`)
      }
      loaded.push({ epoch, startOffset })
    }
    this.entries = loaded
  }
}
