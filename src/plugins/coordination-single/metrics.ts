import { type Histogram, type Metrics } from '../../kernel/ports/telemetry.ts'
import { type ConsensusStatus } from '../../kernel/ports/consensus.ts'

const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

/** What an operator sees of the voter. */
export class VoterMetrics {
  /** Time from an append to its commit, both syncs included. */
  readonly commitSeconds: Histogram

  constructor(metrics: Metrics, status: () => ConsensusStatus, snapshotIndex: () => number, freeBytes: () => number) {
    this.commitSeconds = metrics.histogram('millrace_consensus_commit_seconds', 'Time from an append to the metadata to its commit.', secondsBuckets)
    metrics.gauge('millrace_consensus_leader', '1 while this node leads the metadata.', () => (status().leaderId === status().nodeId ? 1 : 0))
    metrics.gauge('millrace_consensus_term', 'Term of the metadata log.', () => status().term)
    metrics.gauge('millrace_consensus_last_index', 'Index of the newest command in the metadata log.', () => status().lastIndex)
    metrics.gauge('millrace_consensus_applied_index', 'Index of the newest command that was applied.', () => status().appliedIndex)
    metrics.gauge('millrace_consensus_snapshot_index', 'Index up to which the metadata log is replaced by a snapshot.', snapshotIndex)
    metrics.gauge('millrace_consensus_free_bytes', 'Bytes free on the disk of the metadata beside its reserve.', freeBytes)
  }
}
