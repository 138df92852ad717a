import { type Replica } from '../../kernel/ports/replicator.ts'
import { type GaugeSample, type Metrics } from '../../kernel/ports/telemetry.ts'

/**
 * Offsets and size of each partition, as Kafka's `kafka.log:type=Log` tells them. Read when somebody looks; a bound on the number of partitions keeps that short. Which ones are told
 * stays the same from one look to the next, but for what comes and goes: those that came first.
 */
export function observePartitions(metrics: Metrics, replicas: () => Iterable<Replica>, partitionsMax: number): void {
  const gauge = (name: string, help: string, of: (replica: Replica) => number | undefined): void => {
    metrics.gauge(`millrace_log_partition_${name}`, help, () => samples(replicas(), partitionsMax, of))
  }
  gauge('start_offset', 'First offset of a partition that can be read.', ({ log }) => log.startOffset)
  gauge('end_offset', 'Offset that the next record of a partition gets.', ({ log }) => log.endOffset)
  gauge('high_watermark', 'Offset below which consumers may read a partition.', ({ highWatermark }) => highWatermark)
  gauge('bytes', 'Bytes of the batches of a partition here, indexes left out.', ({ log }) => log.sizeBytes)
  gauge('segments', 'Segments of a partition here.', ({ log }) => log.segmentCount)
  metrics.gauge('millrace_log_partitions_left_out', 'Partitions whose offsets and sizes are not told, since there are more than partitionSeriesMax.', () => leftOut(replicas(), partitionsMax))
}

function samples(replicas: Iterable<Replica>, partitionsMax: number, of: (replica: Replica) => number | undefined): readonly GaugeSample[] {
  const told: GaugeSample[] = []
  let looked = 0
  for (const replica of replicas) {
    if (looked++ >= partitionsMax) break
    const value = of(replica)
    const { topic, partition } = replica.log.id
    if (value !== undefined) told.push({ labels: { topic, partition: String(partition) }, value })
  }
  return told
}

function leftOut(replicas: Iterable<Replica>, partitionsMax: number): number {
  let left = -partitionsMax
  for (const _ of replicas) left++
  return Math.max(0, left)
}
