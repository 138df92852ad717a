import { type ClusterMetadata } from '../../kernel/ports/cluster-metadata.ts'
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
  if (replica === undefined) return whyMissing(topic, partition)
  if (currentLeaderEpoch !== -1 && currentLeaderEpoch !== replica.leaderEpoch) {
    return currentLeaderEpoch < replica.leaderEpoch ? kafkaErrors.FENCED_LEADER_EPOCH : kafkaErrors.UNKNOWN_LEADER_EPOCH
  }
  return replica.leader ? replica : kafkaErrors.NOT_LEADER_OR_FOLLOWER
}

/**
 * One that this broker is about to make is answered as Kafka answers for one that it has not taken over yet. LEADER_NOT_AVAILABLE is for Metadata
 * alone: a consumer of the Java client fails for good on it in Fetch.
 */
function whyMissing(topic: TopicEntry, partition: number): number {
  if (!topic.isLedHere(partition) || topic.isMaking(partition)) return kafkaErrors.NOT_LEADER_OR_FOLLOWER
  // Nobody else leads it: its log is in a directory that is offline, or could not be made.
  return kafkaErrors.KAFKA_STORAGE_ERROR
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

  /** None for a partition that this broker leads and is about to make: a client that is sent back here at once would ask without a pause. */
  hint(topic: TopicEntry | undefined, index: number): LeaderHint {
    const partition = topic?.partition(index)
    if (partition === undefined || partition.leader < 0 || topic!.isMaking(index)) return noLeader
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
