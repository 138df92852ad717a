import { type PartitionLog } from '../../../src/kernel/ports/partition-log.ts'

interface Sent {
  readonly baseOffset: number
  readonly endOffset: number
  readonly nextSequence: number
}

/** What idempotent producers have sent to logs. Of what a log does not have any more they send the same sequences again. */
export class SentBatches {
  private readonly sent = new Map<string, Sent[]>()

  /** The sequence that the producer sends next. */
  next(log: PartitionLog, producerId: number): number {
    return this.of(log, producerId).at(-1)?.nextSequence ?? 0
  }

  add(log: PartitionLog, producerId: number, batch: Sent): void {
    this.of(log, producerId).push(batch)
  }

  /** The log ends here: what was behind was cut, or lost with the power. */
  endsAt(log: PartitionLog, offset: number): void {
    for (const [key, batches] of this.sent) if (key.startsWith(keyOf(log))) this.sent.set(key, batches.filter(({ endOffset }) => endOffset <= offset))
  }

  private of(log: PartitionLog, producerId: number): Sent[] {
    const key = `${keyOf(log)}${producerId}`
    const batches = this.sent.get(key) ?? []
    this.sent.set(key, batches)
    return batches
  }
}

const keyOf = ({ id: { topicId, partition } }: PartitionLog): string => `${topicId} ${partition} `
