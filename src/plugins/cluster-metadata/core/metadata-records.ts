import { type Uuid } from '../../../kernel/model/ids.ts'
import { type BrokerEndpoint } from '../../../kernel/ports/cluster-metadata.ts'

/** What the metadata consists of. Records are facts: replaying one never refuses. How they are written is in `record-codec`. */
export type MetadataRecord =
  | ClusterRecord | FeatureLevelRecord | BrokerRegisteredRecord | TopicCreatedRecord | PartitionCreatedRecord | TopicConfigSetRecord
  | TopicDeletedRecord | TopicRemovalRecord | ProducerIdsAllocatedRecord

export interface ClusterRecord {
  readonly type: 'cluster'
  readonly clusterId: Uuid
}

export interface FeatureLevelRecord {
  readonly type: 'featureLevel'
  readonly name: string
  readonly level: number
}

/**
 * A broker began a life. It is named leader again of every partition that it leads, all at once: their leader epochs and partition epochs
 * grow by one, so that what its former life had under way is fenced.
 */
export interface BrokerRegisteredRecord {
  readonly type: 'brokerRegistered'
  readonly nodeId: number
  /** Above that of every registration before. */
  readonly epoch: number
  readonly incarnationId: Uuid
  readonly endpoints: readonly BrokerEndpoint[]
  readonly rack: string | undefined
  readonly fenced: boolean
  readonly directoryIds: readonly Uuid[]
}

export interface TopicCreatedRecord {
  readonly type: 'topicCreated'
  readonly topicId: Uuid
  readonly name: string
}

/** Partitions follow their topic in order, from 0. */
export interface PartitionCreatedRecord {
  readonly type: 'partitionCreated'
  readonly topicId: Uuid
  readonly partition: number
  readonly leader: number
  readonly leaderEpoch: number
  readonly partitionEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
}

export interface TopicConfigSetRecord {
  readonly type: 'topicConfigSet'
  readonly topicId: Uuid
  readonly name: string
  /** Undefined: back to the default. */
  readonly value: string | undefined
}

/** The topic, its partitions and its settings are gone. Its logs are yet to be removed by the brokers that have replicas. */
export interface TopicDeletedRecord {
  readonly type: 'topicDeleted'
  readonly topicId: Uuid
}

/** Brokers that have yet to remove their logs of a deleted topic. None: all have, and the topic is forgotten. */
export interface TopicRemovalRecord {
  readonly type: 'topicRemoval'
  readonly topicId: Uuid
  readonly nodeIds: readonly number[]
}

/** Producer ids below `next` were given out. */
export interface ProducerIdsAllocatedRecord {
  readonly type: 'producerIdsAllocated'
  readonly nodeId: number
  readonly brokerEpoch: number
  readonly next: number
}
