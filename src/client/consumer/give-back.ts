import { type AssignedPartition } from './assigned-partition.ts'
import { type ConsumerRecord } from './consumer-record.ts'

/** By partition, how often somebody has sought. */
export function roundsOf(partitions: ReadonlyMap<string, AssignedPartition>): ReadonlyMap<string, number> {
  return new Map([...partitions].map(([key, { round }]) => [key, round]))
}

/** Goes back to the first of the records from `from` on, in each partition that nobody has sought or assigned since. */
export function giveBack(
  partitions: ReadonlyMap<string, AssignedPartition>, records: readonly ConsumerRecord[], from: number, rounds: ReadonlyMap<string, number>,
): void {
  const seen = new Set<string>()
  for (const { topic, partition, offset, leaderEpoch } of records.slice(from)) {
    const key = `${topic}/${partition}`
    const assigned = partitions.get(key)
    if (!seen.has(key) && assigned !== undefined && assigned.round === rounds.get(key)) assigned.seek(offset, leaderEpoch)
    seen.add(key)
  }
}
