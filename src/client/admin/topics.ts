import { zeroUuid } from '../../base/uuid.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import {
  createPartitionsApi, createTopicsApi, deleteTopicsApi, kafkaErrors, metadataApi, type MetadataResponse,
} from '../../wire/index.ts'
import { brokerError } from '../client-error.ts'
import { topicFrom, type PartitionInfo } from '../cluster/topic-info.ts'
import { type AdminContext, type AdminOptions } from './admin-context.ts'

/** A topic to make. */
export interface NewTopic {
  /** 1 to 249 of a-z, A-Z, 0-9, dot, underscore and dash, and neither `.` nor `..`; MR_TOPIC_NAME_INVALID otherwise. */
  readonly name: string
  /** Default: the broker's `num.partitions`. Not with `assignments`. */
  readonly partitions?: number
  /** Default: the broker's `default.replication.factor`. */
  readonly replicationFactor?: number
  /** The brokers of each partition, leader first; instead of the two above. */
  readonly assignments?: readonly (readonly number[])[]
  /** Settings by Kafka's names, in Kafka's spelling: `{ 'retention.ms': '60000' }`. One that is unknown or wrong refuses the topic. */
  readonly configs?: Readonly<Record<string, string>>
}

/** Of a call that makes topics or partitions. */
export interface CreateTopicsOptions extends AdminOptions {
  /** Checks everything and changes nothing. */
  readonly validateOnly?: boolean
}

/** A topic as the broker has made it. */
export interface CreatedTopic {
  /** As it was asked for. */
  readonly name: string
  /** Undefined where the broker has no ids. */
  readonly topicId: string | undefined
  /** -1 where the broker does not tell. */
  readonly partitions: number
  /** -1 where the broker does not tell. */
  readonly replicationFactor: number
}

/** Which topics. */
export interface ListTopicsOptions extends AdminOptions {
  /** Also those that the brokers keep for themselves, such as `__consumer_offsets`. Default false. */
  readonly includeInternal?: boolean
}

/** A topic of the cluster. */
export interface TopicListing {
  /** The list is sorted by it, in the order of UTF-16. */
  readonly name: string
  /** Another when a topic is deleted and made again under the same name. Undefined where the broker has no ids. */
  readonly topicId: string | undefined
  /** Kept by the brokers for themselves, such as `__consumer_offsets`. */
  readonly isInternal: boolean
  /** How many it has. */
  readonly partitions: number
}

/** A topic with its partitions. */
export interface TopicDescription {
  /** As it was asked for. */
  readonly name: string
  /** Another when a topic is deleted and made again under the same name. Undefined where the broker has no ids. */
  readonly topicId: string | undefined
  /** Kept by the brokers for themselves, such as `__consumer_offsets`. */
  readonly isInternal: boolean
  /** At index n stands partition n. */
  readonly partitions: readonly PartitionInfo[]
}

/** How many partitions a topic is to have. */
export interface MorePartitions {
  /** Of a topic that is there; MR_TOPIC_UNKNOWN otherwise. */
  readonly name: string
  /** How many there shall be in all. */
  readonly partitions: number
  /** The brokers of each new partition. */
  readonly assignments?: readonly (readonly number[])[]
}

const idOrNone = (id: string): string | undefined => id === zeroUuid ? undefined : id

const int32Max = 2_147_483_647
const int16Max = 32_767

/** The first version in which -1 stands for the default of the broker. */
const defaultsFrom = 4

export async function createTopics(admin: AdminContext, list: readonly NewTopic[], options: CreateTopicsOptions): Promise<CreatedTopic[]> {
  for (const { name, partitions = -1, replicationFactor = -1 } of list) {
    if (partitions !== -1) checkPartitions(name, partitions)
    if (Number.isInteger(replicationFactor) && replicationFactor >= -1 && replicationFactor <= int16Max) continue
    throw new MillraceError('MR_TOPIC_REPLICATION_INVALID', { topic: name, reason: `the replication factor is ${String(replicationFactor)}; it must be a whole number from 1 to ${int16Max}` })
  }
  const topics = list.map(({ name, partitions, replicationFactor, assignments, configs }) => ({
    name,
    numPartitions: assignments === undefined ? partitions ?? -1 : -1,
    replicationFactor: assignments === undefined ? replicationFactor ?? -1 : -1,
    assignments: (assignments ?? []).map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds })),
    configs: Object.entries(configs ?? {}).map(([key, value]) => ({ name: key, value })),
  }))
  const usesDefaults = topics.some(topic => topic.assignments.length === 0 && (topic.numPartitions < 0 || topic.replicationFactor < 0))
  const timeoutMs = options.timeoutMs ?? admin.client.requestTimeoutMs
  const created = new Map<string, CreatedTopic>()
  // What is created already must not be asked for again when another topic has to be.
  const build = () => ({ topics: topics.filter(topic => !created.has(topic.name)), timeoutMs, validateOnly: options.validateOnly ?? false })
  await admin.ask('controller', createTopicsApi, build, response => {
    let failure: Error | undefined
    for (const { name, topicId, numPartitions, replicationFactor, errorCode, errorMessage } of response.topics) {
      if (errorCode === kafkaErrors.NONE) created.set(name, { name, topicId: idOrNone(topicId), partitions: numPartitions, replicationFactor })
      else failure ??= brokerError(errorCode, { what: `creating topic ${name}`, topic: name, message: errorMessage })
    }
    if (failure !== undefined) throw failure
  }, { ...options, oldest: usesDefaults ? defaultsFrom : 0 })
  return list.flatMap(({ name }) => created.get(name) ?? [])
}

export function deleteTopics(admin: AdminContext, names: readonly string[], options: AdminOptions): Promise<void> {
  const timeoutMs = options.timeoutMs ?? admin.client.requestTimeoutMs
  const remaining = new Set(names)
  const build = (version: number) => version >= 6
    ? { topics: [...remaining].map(name => ({ name, topicId: zeroUuid })), timeoutMs }
    : { topicNames: [...remaining], timeoutMs }
  return admin.ask('controller', deleteTopicsApi, build, response => {
    let failure: Error | undefined
    for (const { name, errorCode, errorMessage } of response.responses) {
      if (errorCode === kafkaErrors.NONE) remaining.delete(name!)
      else failure ??= brokerError(errorCode, { what: `deleting topic ${name}`, topic: name!, message: errorMessage })
    }
    if (failure !== undefined) throw failure
  }, options)
}

export function listTopics(admin: AdminContext, options: ListTopicsOptions): Promise<TopicListing[]> {
  return admin.ask('anybody', metadataApi, () => ({ topics: null, allowAutoTopicCreation: false }), response => response.topics
    .filter(topic => topic.errorCode === kafkaErrors.NONE || topic.partitions.length > 0)
    .filter(topic => options.includeInternal === true || !topic.isInternal)
    .map(({ name, topicId, isInternal, partitions }) => ({ name: name!, topicId: idOrNone(topicId), isInternal, partitions: partitions.length }))
    .sort((a, b) => a.name < b.name ? -1 : 1), { ...options, oldest: 1 })
}

export function describeTopics(admin: AdminContext, names: readonly string[], options: AdminOptions): Promise<TopicDescription[]> {
  if (names.length === 0) return Promise.resolve([])
  return admin.ask('anybody', metadataApi, () => ({ topics: names.map(name => ({ name })), allowAutoTopicCreation: false }), response => {
    const found = new Map(response.topics.map(topic => [topic.name, topic]))
    return names.map(name => describe(name, found.get(name)))
  }, { ...options, oldest: 4 })
}

export async function createPartitions(admin: AdminContext, list: readonly MorePartitions[], options: CreateTopicsOptions): Promise<void> {
  for (const { name, partitions } of list) checkPartitions(name, partitions)
  const topics = list.map(({ name, partitions, assignments }) => ({
    name, count: partitions, assignments: assignments === undefined ? null : assignments.map(brokerIds => ({ brokerIds })),
  }))
  const timeoutMs = options.timeoutMs ?? admin.client.requestTimeoutMs
  await admin.ask('controller', createPartitionsApi, () => ({ topics, timeoutMs, validateOnly: options.validateOnly ?? false }), response => {
    for (const { name, errorCode, errorMessage } of response.results) {
      if (errorCode !== kafkaErrors.NONE) throw brokerError(errorCode, { what: `adding partitions to ${name}`, topic: name, message: errorMessage })
    }
  }, options)
}

function checkPartitions(name: string, partitions: number): void {
  if (Number.isInteger(partitions) && partitions >= 1 && partitions <= int32Max) return
  const reason = `partitions is ${String(partitions)}; it must be a whole number from 1 to ${int32Max}: how many there shall be in all`
  throw new MillraceError('MR_TOPIC_PARTITIONS_INVALID', { topic: String(name), reason })
}

function describe(name: string, topic: MetadataResponse['topics'][number] | undefined): TopicDescription {
  const errorCode = topic?.errorCode ?? kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION
  if (errorCode !== kafkaErrors.NONE) throw brokerError(errorCode, { what: `describing topic ${name}`, topic: name })
  const info = topicFrom(topic!, undefined)
  return { name, topicId: idOrNone(info.id), isInternal: info.isInternal, partitions: info.partitions }
}
