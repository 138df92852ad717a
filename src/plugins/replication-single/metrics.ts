import { type Replica } from '../../kernel/ports/replicator.ts'
import { type GaugeSample, type Metrics } from '../../kernel/ports/telemetry.ts'

/** What an operator sees of the replicas of this broker. */
export function observeReplicas(metrics: Metrics, replicas: () => Iterable<Replica>, missing: () => number, notServed: () => Iterable<{ readonly topic: string, readonly partition: number }>): void {
  metrics.gauge('millrace_replicas_here', 'Replicas that this broker keeps.', () => count(replicas(), () => true))
  metrics.gauge('millrace_replicas_led', 'Replicas that lead their partitions.', () => count(replicas(), (replica) => replica.leader))
  metrics.gauge('millrace_replicas_missing', 'Partitions placed on this broker whose log could not be made.', missing)
  metrics.gauge('millrace_replica_not_served', '1 for a partition that is placed on this broker and not served: its log is lost, damaged, or in a directory that is offline.',
    () => Array.from(notServed(), ({ topic, partition }): GaugeSample => ({ labels: { topic, partition: String(partition) }, value: 1 })))
}

function count(replicas: Iterable<Replica>, matches: (replica: Replica) => boolean): number {
  let sum = 0
  for (const replica of replicas) if (matches(replica)) sum++
  return sum
}
