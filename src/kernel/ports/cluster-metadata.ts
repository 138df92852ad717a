import { type Uuid } from '../model/ids.ts'
import { type TopicSettings } from '../model/topic-settings.ts'
import { token } from '../plugin/token.ts'

/** An address that clients are told, by the name of the listener through which they ask. */
export interface BrokerEndpoint {
  /** Name of the listener. */
  readonly listener: string
  /** As clients are to look it up. */
  readonly host: string
  /** 1 to 65535. */
  readonly port: number
}

/** A broker that has registered. */
export interface BrokerImage {
  /** 0 or more; one broker's alone. */
  readonly nodeId: number
  /** Larger at each registration of any broker. */
  readonly epoch: number
  /** Of the process that registered last. */
  readonly incarnationId: Uuid
  /** One for each listener. */
  readonly endpoints: readonly BrokerEndpoint[]
  /** Undefined where the broker names none. */
  readonly rack: string | undefined
  /** Registered, but not known to be alive. */
  readonly fenced: boolean
}

/** Where a partition lies and who leads it. Node ids; `isr` are those of `replicas` that are in sync. */
export interface PartitionImage {
  /** From 0. */
  readonly partition: number
  /** -1: none. */
  readonly leader: number
  /** Larger each time the leader is named, from 0. */
  readonly leaderEpoch: number
  /** Those that are to keep it; the first is the one that leads by preference. */
  readonly replicas: readonly number[]
  /** The least flushed offset of these is the high watermark. */
  readonly isr: readonly number[]
  /** Larger with each change of this partition, from 0. */
  readonly partitionEpoch: number
}

/** A topic as agreed. `partitions` is dense: the partition of a number is at that index. */
export interface TopicImage {
  /** No two topics have one name at a time. */
  readonly name: string
  /** Never used again, not for a topic of the same name either. */
  readonly id: Uuid
  /** By name: `__consumer_offsets` and its like. */
  readonly internal: boolean
  /** One or more, by number. */
  readonly partitions: readonly PartitionImage[]
  /** What was set for this topic, in Kafka's spelling. */
  readonly overrides: ReadonlyMap<string, string>
  /** The overrides, and the broker's defaults where there is none. */
  readonly settings: TopicSettings
}

/** Everything agreed, at one index. Immutable: keep it as long as you like. */
export interface ClusterImage {
  /** Of the last command in it; a larger one is newer. */
  readonly index: number
  /** Drawn when the cluster was made; never changes. */
  readonly clusterId: Uuid
  /** -1 while there is none. */
  readonly controllerId: number
  /** By node id. */
  readonly brokers: ReadonlyMap<number, BrokerImage>
  /** By name. */
  readonly topics: ReadonlyMap<string, TopicImage>
  /** The same topics by id. */
  readonly topicsById: ReadonlyMap<Uuid, TopicImage>
  /** Topics that were deleted, by id: the brokers that have not confirmed yet that their logs are gone. */
  readonly removals: ReadonlyMap<Uuid, readonly number[]>
}

/** What differs from the image before. A topic is in one of the lists at most; under one name, one may be deleted and another created. */
export interface MetadataChange {
  /** As they are now. */
  readonly created: readonly TopicImage[]
  /** As they were. */
  readonly deleted: readonly TopicImage[]
  /** Settings, partitions or leaders differ. */
  readonly changed: readonly TopicImage[]
}

/** The committed metadata as this broker has applied it. Reads never wait, and throw nothing of their own. */
export interface ClusterMetadata {
  /** As of the last change that was applied; the object never changes, a later call may give another. */
  image(): ClusterImage
  /**
   * Called after each change, in order, in the turn in which it was applied; and once, at once, with all topics as created.
   * Returns a function that ends it; nothing comes after it. The same function may be subscribed twice. A listener must not throw: the others are
   * told all the same, and then the broker ends.
   */
  subscribe(listener: (image: ClusterImage, change: MetadataChange) => void): () => void
}
export const ClusterMetadata = token<ClusterMetadata>('ClusterMetadata', { image: true, subscribe: true })
