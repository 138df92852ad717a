import { zeroUuid } from '../../base/uuid.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { type Uuid } from '../../kernel/model/ids.ts'
import { type MetadataResponse } from '../../wire/index.ts'

/** A broker, and where clients reach it. */
export interface NodeInfo {
  /** Its `node.id`, unique in the cluster. */
  readonly id: number
  /** As advertised: a name or an IP address, without brackets. */
  readonly host: string
  /** As advertised. */
  readonly port: number
  /** Its `broker.rack`; null where it has none. */
  readonly rack: string | null
}

/** A partition as the brokers tell it. Numbers of brokers are node ids. */
export interface PartitionInfo {
  /** Its number, from 0. */
  readonly partition: number
  /** -1: none at the moment. */
  readonly leaderId: number
  /** -1 where the broker does not tell. */
  readonly leaderEpoch: number
  /** The preferred leader first. */
  readonly replicas: readonly number[]
  /** Those that an acks=all append waits for. */
  readonly inSyncReplicas: readonly number[]
  /** Those that cannot serve now: their broker, or the disk of the log there, is gone. */
  readonly offlineReplicas: readonly number[]
}

export interface TopicInfo {
  readonly name: string
  /** `zeroUuid` where the broker has no ids. */
  readonly id: Uuid
  readonly isInternal: boolean
  /** At index n stands partition n. */
  readonly partitions: readonly PartitionInfo[]
}

/** Why a partition cannot be used. */
export function leaderless(topic: string, { partition, offlineReplicas }: PartitionInfo): MillraceError {
  return new MillraceError('MR_CLIENT_PARTITION_LEADERLESS', { topic, partition, offline: offlineReplicas.join(', ') || 'none that is named' })
}

type TopicAnswer = MetadataResponse['topics'][number]

/**
 * What is known of a topic after an answer: leaders of an older epoch than a known one are not believed, since brokers learn of elections at different
 * times; a topic of another id is another topic.
 */
export function topicFrom(answer: TopicAnswer, known: TopicInfo | undefined): TopicInfo {
  const sameTopic = known !== undefined && (known.id === answer.topicId || answer.topicId === zeroUuid)
  const partitions: PartitionInfo[] = []
  for (const each of [...answer.partitions].sort((a, b) => a.partitionIndex - b.partitionIndex)) {
    // A hole would shift every number behind it. Brokers list all partitions, or the topic is not usable yet.
    if (each.partitionIndex !== partitions.length) break
    const before = sameTopic ? known.partitions[each.partitionIndex] : undefined
    const isStale = before !== undefined && each.leaderEpoch >= 0 && each.leaderEpoch < before.leaderEpoch
    partitions.push(isStale ? before : {
      partition: each.partitionIndex, leaderId: each.leaderId, leaderEpoch: each.leaderEpoch, replicas: each.replicaNodes,
      inSyncReplicas: each.isrNodes, offlineReplicas: each.offlineReplicas,
    })
  }
  return { name: answer.name!, id: answer.topicId, isInternal: answer.isInternal, partitions }
}

/** The topic with another leader for a partition; the same object when that is no news. */
export function withLeader(topic: TopicInfo, partition: number, leaderId: number, leaderEpoch: number): TopicInfo {
  const known = topic.partitions[partition]
  if (known === undefined || leaderId < 0 || leaderEpoch <= known.leaderEpoch) return topic
  const partitions = topic.partitions.slice()
  partitions[partition] = { ...known, leaderId, leaderEpoch }
  return { ...topic, partitions }
}
