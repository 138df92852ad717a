import pc from 'picocolors'
import { formatBytes } from '../base/format-quantity.ts'
import type { Admin, TopicDescription } from '../client/index.ts'
import { compactionStateName, parseCompactionState } from '../kernel/config/compaction-state.ts'
import { print, printTable } from './output.ts'
import { shownTime } from './shown.ts'
import { toldByBrokers } from './told-by-brokers.ts'

/** Where the compaction of one replica stands. */
export interface ReplicaCompaction {
  readonly broker: number
  /** What lies below was compacted. */
  readonly cleanedTo: number
  /** Bytes that may be compacted now, and their share of all that may be or were: 0 to 1, to the hundredth. */
  readonly dirtyBytes: number
  readonly dirtyRatio: number
  /** When a round last came to its end, in milliseconds since 1970; null for none since the broker started. */
  readonly lastRoundMs: number | null
  /** Why the last round failed, and when the next one is tried; null while all is well. */
  readonly failure: { readonly reason: string, readonly nextTryMs: number } | null
}

/** What the brokers tell of a topic, by partition, in the order of the brokers. Empty for one that is not compacted. */
export async function compactionOf(admin: Admin, topic: TopicDescription): Promise<Map<number, ReplicaCompaction[]>> {
  const byPartition = new Map<number, ReplicaCompaction[]>()
  const told = await toldByBrokers(admin, [topic], compactionStateName)
  for (const { broker, value } of told.sort((one, other) => one.broker - other.broker)) {
    for (const { partition, cleanedTo, dirtyBytes, dirtyRatio, lastRoundMs, failure } of parseCompactionState(value)) {
      const replicas = byPartition.get(partition) ?? []
      byPartition.set(partition, replicas)
      replicas.push({ broker, cleanedTo, dirtyBytes, dirtyRatio, lastRoundMs: lastRoundMs < 0 ? null : lastRoundMs, failure: failure ?? null })
    }
  }
  return byPartition
}

/** Nothing where nothing is told. */
export function printCompaction(partitions: readonly { readonly partition: number, readonly compaction: readonly ReplicaCompaction[] }[]): void {
  const replicas = partitions.flatMap(({ partition, compaction }) => compaction.map((each) => ({ partition, ...each })))
  if (replicas.length === 0) return
  print('')
  printTable(
    ['partition', 'broker', 'dirty', 'dirty size', 'clean up to', 'last compacted'],
    replicas.map(({ partition, broker, dirtyRatio, dirtyBytes, cleanedTo, lastRoundMs }) =>
      [partition, broker, `${Math.round(dirtyRatio * 100)}%`, formatBytes(dirtyBytes), cleanedTo, shownTime(lastRoundMs ?? -1)]),
    { right: [0, 1, 2, 3, 4] },
  )
  for (const { partition, broker, failure } of replicas) {
    if (failure !== null) print(`${pc.red('not compacted')}: partition ${partition} on broker ${broker}, tried again at ${shownTime(failure.nextTryMs)}: ${failure.reason}`)
  }
}
