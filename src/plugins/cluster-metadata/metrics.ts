import { type ClusterImage, type TopicImage } from '../../kernel/ports/cluster-metadata.ts'
import { type Metrics } from '../../kernel/ports/telemetry.ts'

/** What an operator sees of the metadata. Partitions are counted when somebody looks. */
export function observeMetadata(metrics: Metrics, image: () => ClusterImage): void {
  metrics.gauge('millrace_metadata_brokers', 'Registered brokers.', () => image().brokers.size)
  metrics.gauge('millrace_metadata_topics', 'Topics.', () => image().topics.size)
  metrics.gauge('millrace_metadata_partitions', 'Partitions of all topics.', () => countPartitions(image(), (topic) => topic.partitions.length))
  metrics.gauge('millrace_metadata_removals', 'Deleted topics whose logs some broker has yet to remove.', () => image().removals.size)
  metrics.gauge('millrace_metadata_leaderless_partitions', 'Partitions that nobody leads.',
    () => countPartitions(image(), (topic) => topic.partitions.filter((partition) => partition.leader === -1).length))
  metrics.gauge('millrace_metadata_under_replicated_partitions', 'Partitions with replicas that are not in sync.',
    () => countPartitions(image(), (topic) => topic.partitions.filter(({ isr, replicas }) => isr.length < replicas.length).length))
  metrics.gauge('millrace_metadata_under_min_isr_partitions', 'Partitions with fewer in-sync replicas than acks=all appends need.',
    () => countPartitions(image(), (topic) => topic.partitions.filter(({ isr }) => isr.length < topic.settings.minInsyncReplicas).length))
}

function countPartitions(image: ClusterImage, count: (topic: TopicImage) => number): number {
  let sum = 0
  for (const topic of image.topics.values()) sum += count(topic)
  return sum
}
