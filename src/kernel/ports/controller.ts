import { type MillraceError } from '../errors/millrace-error.ts'
import { type Uuid } from '../model/ids.ts'
import { token } from '../plugin/token.ts'
import { type BrokerEndpoint } from './cluster-metadata.ts'

/** A topic that is asked for. */
export interface CreateTopic {
  /** 1 to 249 letters, digits, `.`, `_` and `-`; not `.` or `..`. */
  readonly name: string
  /** -1 takes the broker's default. */
  readonly partitions: number
  /** -1 takes the broker's default. */
  readonly replicationFactor: number
  /** Node ids by partition; excludes the two counts (both -1 then). */
  readonly assignment: readonly (readonly number[])[] | undefined
  /** Undefined is refused as null values are. */
  readonly configs: ReadonlyMap<string, string | null>
}

/** What became of it: with `error`, nothing was made, and the other fields do not count. */
export interface CreatedTopic {
  /** As it was asked for. */
  readonly name: string
  /** Undefined where the topic was made, or could be where it was only to be checked. */
  readonly error: MillraceError | undefined
  /** Drawn for this topic: a topic that gets the name later has another. */
  readonly id: Uuid
  /** How many it has. */
  readonly partitions: number
  /** Replicas of each partition. */
  readonly replicationFactor: number
  /** What the topic's settings come to, as text by Kafka's names, every key. */
  readonly configs: readonly TopicConfigEntry[]
  /** Settings that were accepted and have no effect here, each with its reason. */
  readonly warnings: readonly string[]
}

/** A setting of a topic with the value that counts, and which of the three it comes from. */
export interface TopicConfigEntry {
  /** In Kafka's spelling. */
  readonly name: string
  /** As text, as Kafka would write it. */
  readonly value: string
  /** `topic`: set for the topic. `broker`: from a setting of the broker. `default`: nobody has set it. */
  readonly source: 'topic' | 'broker' | 'default'
}

/** Partitions that a topic is asked to get. */
export interface MorePartitions {
  /** Of a topic that is there. */
  readonly name: string
  /** So many it has then, in all. */
  readonly partitions: number
  /** Node ids of each partition that comes to it; undefined places them as at a creation, with as many replicas as partition 0 has. */
  readonly assignment: readonly (readonly number[])[] | undefined
}

/** What became of it: with `error`, the topic has what it had, and the other fields do not count. */
export interface ExtendedTopic {
  /** As it was asked for. */
  readonly name: string
  /** Undefined where the partitions came, or could come where it was only to be checked. */
  readonly error: MillraceError | undefined
  /** Of the topic. */
  readonly id: Uuid
  /** How many it has then, in all. */
  readonly partitions: number
}

/** A change of one setting. `append` and `subtract` take items, separated by commas, and change what counts now: the topic's own list, or else its default. */
export interface ConfigChange {
  /** In Kafka's spelling. */
  readonly name: string
  /** `delete` takes the default again; the two others are for lists alone. */
  readonly operation: 'set' | 'delete' | 'append' | 'subtract'
  /** Null goes with `delete` alone. */
  readonly value: string | null
}

/** Settings of a topic that are to be changed: all of them, or none. */
export interface ConfigAlteration {
  /** By name. */
  readonly topic: string
  /** What is not named goes back to its default: the changes are the whole of what is set afterwards. */
  readonly replaces: boolean
  /** At most one for each setting. */
  readonly changes: readonly ConfigChange[]
}

/** What became of it: with `error`, no setting of the topic was changed. */
export interface AlteredConfigs {
  /** By name, as it was asked for. */
  readonly topic: string
  /** Undefined where all changes were made, or could be where they were only to be checked. */
  readonly error: MillraceError | undefined
  /** What is set otherwise than before. Undefined: not set for the topic. */
  readonly changed: readonly { readonly name: string, readonly before: string | undefined, readonly after: string | undefined }[]
  /** Settings that were accepted and have no effect here, each with its reason. */
  readonly warnings: readonly string[]
}

/** What became of a topic that was to be deleted: with `error`, it is still there, or never was. */
export interface DeletedTopic {
  /** Of the topic; where there is none, as it was asked for. */
  readonly name: string | undefined
  /** Of the topic; where there is none, as it was asked for. */
  readonly id: Uuid
  /** Undefined where it was deleted. */
  readonly error: MillraceError | undefined
}

/** How a broker says that it is there. */
export interface BrokerRegistration {
  /** Stays with the broker over its starts. */
  readonly nodeId: number
  /** Drawn anew at each start: it tells one process of a broker from the next. */
  readonly incarnationId: Uuid
  /** One for each listener: what clients of that listener are told. */
  readonly endpoints: readonly BrokerEndpoint[]
  /** `broker.rack`; undefined where it is not set. */
  readonly rack: string | undefined
  /** Of the data directories whose ids are known. */
  readonly directoryIds: readonly Uuid[]
}

/**
 * Changes to the metadata. Each call is decided by the leader of the consensus, written, and resolves when it is committed and
 * applied here; results come in the order of the requests, one each. Rejects with MR_CLUSTER_NOT_CONTROLLER or MR_CLUSTER_STOPPED, or the error of the disk of the
 * metadata; what is wrong with one topic is in its result, and the others are made, changed or deleted all the same.
 */
export interface Controller {
  /** All of one call become visible together. With `validateOnly`, checks everything and changes nothing. */
  createTopics(topics: readonly CreateTopic[], validateOnly: boolean): Promise<readonly CreatedTopic[]>
  /**
   * Adds partitions behind those that a topic has; their logs are made after. All of one call become visible together. With `validateOnly`, checks
   * everything and changes nothing. Topics of the brokers' own are refused: what is kept in them is found by their number of partitions.
   */
  createPartitions(topics: readonly MorePartitions[], validateOnly: boolean): Promise<readonly ExtendedTopic[]>
  /** By name, or by id where the name is undefined. */
  deleteTopics(topics: readonly { readonly name: string | undefined, readonly id: Uuid }[]): Promise<readonly DeletedTopic[]>
  /** All of one call take effect together, each topic's as a whole. With `validateOnly`, checks everything and changes nothing. */
  alterConfigs(alterations: readonly ConfigAlteration[], validateOnly: boolean): Promise<readonly AlteredConfigs[]>
  /**
   * The broker has no log any more of these deleted topics, also after a power cut, in any of its data directories: it need not be told
   * again. Confirming twice, or what is not known, does nothing.
   */
  confirmRemovals(nodeId: number, topicIds: readonly Uuid[]): Promise<void>
  /** Resolves with the broker's epoch. The broker leads its partitions from then on. */
  registerBroker(registration: BrokerRegistration): Promise<number>
  /** `count` producer ids that nobody had before and nobody will get again, from `first` on. */
  allocateProducerIds(nodeId: number, brokerEpoch: number): Promise<{ readonly first: number, readonly count: number }>
}
export const Controller = token<Controller>('Controller', { createTopics: true, createPartitions: true, deleteTopics: true, alterConfigs: true, confirmRemovals: true, registerBroker: true, allocateProducerIds: true })
