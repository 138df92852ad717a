import { MillraceError } from '../../kernel/errors/millrace-error.ts'
import { type ClusterImage } from '../../kernel/ports/cluster-metadata.ts'
import { type LogStore } from '../../kernel/ports/log-store.ts'
import { type PartitionLog } from '../../kernel/ports/partition-log.ts'

/**
 * Refuses metadata that are an older copy, with MR_CLUSTER_METADATA_OLDER. A broker that registers raises the leader epochs of what it leads, durably, before anything is appended
 * in them. So no log is ahead of the metadata as they are before this life of the broker has registered: one that is has seen a life that they have not. Copies of one life ago are told by it
 * too, for the epochs of this life are not in them yet. A log that is out of service bears no witness, nor is anything appended to it.
 */
export function refuseOlderMetadata(image: ClusterImage, nodeId: number, store: LogStore): void {
  const ahead: { readonly log: PartitionLog, readonly known: number }[] = []
  for (const topic of image.topicsById.values()) {
    for (const { partition, replicas, leaderEpoch } of topic.partitions) {
      const log = replicas.includes(nodeId) ? store.find(topic.id, partition) : undefined
      if (log !== undefined && log.lastEpoch > leaderEpoch && isServed(log)) ahead.push({ log, known: leaderEpoch })
    }
  }
  const [first] = ahead
  if (first === undefined) return
  const { id: { topic, partition }, lastEpoch } = first.log
  throw new MillraceError('MR_CLUSTER_METADATA_OLDER', { topic, partition, found: lastEpoch, known: first.known, logs: ahead.length })
}

function isServed(log: PartitionLog): boolean {
  try {
    log.epochEnd(log.lastEpoch)
    return true
  } catch {
    return false
  }
}
