import { type Replica } from '../../kernel/ports/replicator.ts'
import { type Metrics } from '../../kernel/ports/telemetry.ts'

/** What an operator sees of the replicas of this broker. */
export function observeReplicas(metrics: Metrics, replicas: () => Iterable<Replica>, missing: () => number): void {
  metrics.gauge('millrace_replicas_here', 'Replicas that this broker keeps.', () => count(replicas(), () => true))
  metrics.gauge('millrace_replicas_led', 'Replicas that lead their partitions.', () => count(replicas(), (replica) => replica.leader))
  metrics.gauge('millrace_replicas_missing', 'Partitions placed on this broker whose log could not be made.', missing)
}

function count(replicas: Iterable<Replica>, matches: (replica: Replica) => boolean): number {
  let sum = 0
  for (const replica of replicas) if (matches(replica)) sum++
  return sum
}
