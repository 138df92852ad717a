import { type ClusterMetadata } from '../../kernel/ports/cluster-metadata.ts'
import { type Replicator } from '../../kernel/ports/replicator.ts'
import { type GaugeSample, type Metrics } from '../../kernel/ports/telemetry.ts'
import { type GroupMachine } from './core/group-machine.ts'

export interface LagParts {
  readonly machines: () => readonly { readonly machine: GroupMachine | undefined }[]
  readonly metadata: ClusterMetadata
  readonly replicator: Replicator
}

/**
 * The lag of groups: from what was committed to the high watermark, in offsets, which are records but for what compaction took. Of partitions that this broker leads, of groups that it
 * coordinates. Made when somebody looks; a bound on the number of series keeps that short.
 */
export function observeLag(metrics: Metrics, parts: LagParts, seriesMax: number): void {
  metrics.gauge('millrace_group_lag_records', 'Records up to the high watermark that a group has not committed.', () => lags(parts, seriesMax).samples)
  metrics.gauge('millrace_group_lag_left_out', 'Partitions of groups whose lag is not told, since there are more than lagSeriesMax.', () => countOf(parts) <= seriesMax ? 0 : lags(parts, seriesMax).leftOut)
}

/** Of all groups, told or not: counting costs little beside looking each up. */
const countOf = ({ machines }: LagParts): number => machines().reduce((sum, { machine }) => sum + (machine?.offsets.count ?? 0), 0)

function lags(parts: LagParts, seriesMax: number): { readonly samples: readonly GaugeSample[], readonly leftOut: number } {
  const { machines, metadata, replicator } = parts
  const { topics } = metadata.image()
  const samples: GaugeSample[] = []
  for (const { machine } of machines()) {
    if (machine === undefined) continue
    for (const [group, topic, partition, { offset }] of machine.offsets.all()) {
      if (samples.length >= seriesMax) break
      const id = topics.get(topic)?.id
      const replica = id === undefined ? undefined : replicator.replica(id, partition)
      if (replica?.leader === true) samples.push({ labels: { group, topic, partition: String(partition) }, value: Math.max(0, replica.highWatermark - offset) })
    }
  }
  return { samples, leftOut: samples.length < seriesMax ? 0 : countOf(parts) - samples.length }
}
