import { type PartitionLog } from '../../../kernel/ports/partition-log.ts'

/** The leader epoch in which the record at `offset` was written; `current` for the log end, or where nobody remembers. */
export function epochAt(log: Pick<PartitionLog, 'epochEnd'>, offset: number, current: number): number {
  // Ends grow with the epochs: the first epoch that ends above the offset holds it.
  let low = 0
  let high = current
  while (low < high) {
    const middle = (low + high) >> 1
    if (log.epochEnd(middle).endOffset > offset) high = middle
    else low = middle + 1
  }
  const { leaderEpoch, endOffset } = log.epochEnd(low)
  return endOffset > offset ? leaderEpoch : current
}
