import { type ClusterImage, type PartitionImage } from '../../../kernel/ports/cluster-metadata.ts'
import { endpointOn } from './reachable-brokers.ts'

/** A broker that lives and does not serve its replica; one that has yet to make it is not said to have lost it. */
export interface Hindered {
  readonly nodeId: number
  readonly isOffline: boolean
}

/** Who leads a partition, as a client of one listener is to see it. */
export interface PartitionView {
  /** Why there is no leader to go to; undefined where there is one. */
  readonly missing: 'leader' | 'listener' | undefined
  /** -1: none. */
  readonly leaderId: number
  readonly offlineReplicas: readonly number[]
}

export function partitionView(image: ClusterImage, partition: PartitionImage, listener: string, hindered: Hindered | undefined): PartitionView {
  const leader = image.brokers.get(partition.leader)
  let missing: PartitionView['missing']
  if (leader === undefined || leader.fenced || leader.nodeId === hindered?.nodeId) missing = 'leader'
  else if (endpointOn(leader, listener) === undefined) missing = 'listener'
  return {
    missing,
    leaderId: missing === undefined ? partition.leader : -1,
    offlineReplicas: partition.replicas.filter((id) => (hindered?.isOffline === true && id === hindered.nodeId) || (image.brokers.get(id)?.fenced ?? true)),
  }
}
