import { type ClusterMetadata, type PartitionImage } from '../../kernel/ports/cluster-metadata.ts'
import { type Replica } from '../../kernel/ports/replicator.ts'
import { kafkaErrors } from '../../wire/kafka-error-codes.ts'
import { type TopicEntry } from './topic-lookup.ts'

/**
 * This broker's replica of a partition, if it leads it and the client's idea of the leader epoch is right; else the Kafka code that says why
 * not. -1 as `currentLeaderEpoch`: the client has no idea (KIP-320).
 */
export function leaderOf(topic: TopicEntry | undefined, partition: number, currentLeaderEpoch: number): Replica | number {
  if (topic === undefined || topic.partition(partition) === undefined) return kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION
  const replica = topic.replica(partition)
  // Nobody else leads it: its log is in a directory that is offline, or could not be made yet.
  if (replica === undefined) return topic.isLedHere(partition) ? kafkaErrors.KAFKA_STORAGE_ERROR : kafkaErrors.NOT_LEADER_OR_FOLLOWER
  if (currentLeaderEpoch !== -1 && currentLeaderEpoch !== replica.leaderEpoch) {
    return currentLeaderEpoch < replica.leaderEpoch ? kafkaErrors.FENCED_LEADER_EPOCH : kafkaErrors.UNKNOWN_LEADER_EPOCH
  }
  return replica.leader ? replica : kafkaErrors.NOT_LEADER_OR_FOLLOWER
}

export interface LeaderHint {
  readonly leaderId: number
  readonly leaderEpoch: number
}

export const noLeader: LeaderHint = { leaderId: -1, leaderEpoch: -1 }

interface NodeEndpoint {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

/** Where to find the leaders that an answer names (KIP-951), so that a client needs no metadata to go on. */
export class LeaderHints {
  private readonly metadata: ClusterMetadata
  private readonly listener: string
  private readonly nodes = new Map<number, NodeEndpoint>()

  constructor(metadata: ClusterMetadata, listener: string) {
    this.metadata = metadata
    this.listener = listener
  }

  hint(partition: PartitionImage | undefined): LeaderHint {
    if (partition === undefined || partition.leader < 0) return noLeader
    const broker = this.metadata.image().brokers.get(partition.leader)
    const endpoint = broker?.endpoints.find(({ listener }) => listener === this.listener)
    if (broker === undefined || endpoint === undefined) return noLeader
    this.nodes.set(broker.nodeId, { nodeId: broker.nodeId, host: endpoint.host, port: endpoint.port, rack: broker.rack ?? null })
    return { leaderId: partition.leader, leaderEpoch: partition.leaderEpoch }
  }

  endpoints(): NodeEndpoint[] {
    return [...this.nodes.values()]
  }
}
