import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { deleteRecordsApi, describeClusterApi, kafkaErrors, metadataApi } from '../../wire/index.ts'
import { brokerError } from '../client-error.ts'
import { earliestTimestamp, latestTimestamp, lookUpOffsets, maxTimestamp, type OffsetAnswer } from '../cluster/offset-lookup.ts'
import { type NodeInfo } from '../cluster/topic-info.ts'
import { type AdminContext, type AdminOptions } from './admin-context.ts'

/** The brokers that are known to the broker that was asked. */
export interface ClusterDescription {
  /** The same for as long as the cluster lives; null where the broker does not tell. */
  readonly clusterId: string | null
  /** -1 where none is known. */
  readonly controllerId: number
  /** Those that are alive, in the order in which the broker names them. */
  readonly brokers: readonly NodeInfo[]
}

/** A question for an offset of a partition. */
export interface OffsetWanted {
  readonly topic: string
  readonly partition: number
  /** An end of the log, the record with the largest timestamp, or the first record not older than a time in milliseconds. */
  readonly at: 'beginning' | 'end' | 'newest' | { readonly timestamp: number }
}

/** What was found, in the order of the questions. */
export type OffsetFound = OffsetAnswer

/** Of a call that asks for offsets. */
export interface ListOffsetsOptions extends AdminOptions {
  /** `read_committed`: the end is the last stable offset. Default `read_uncommitted`. */
  readonly isolation?: 'read_committed' | 'read_uncommitted'
}

/** Which records of a partition are to go. */
export interface RecordsToDelete {
  readonly topic: string
  readonly partition: number
  /** The first offset that stays; -1 for the high watermark. */
  readonly beforeOffset: number
}

/** Where a partition begins after its records were deleted. */
export interface LogStart {
  readonly topic: string
  readonly partition: number
  /** The first offset that can be read from now on; it may be above what was asked for. */
  readonly logStartOffset: number
}

export async function describeCluster(admin: AdminContext, options: AdminOptions): Promise<ClusterDescription> {
  const node = ({ host, port, rack }: Omit<NodeInfo, 'id'>, id: number): NodeInfo => ({ id, host, port, rack })
  try {
    return await admin.ask('anybody', describeClusterApi, () => ({ includeClusterAuthorizedOperations: false }), response => {
      if (response.errorCode !== kafkaErrors.NONE) {
        throw brokerError(response.errorCode, { what: 'describing the cluster', message: response.errorMessage })
      }
      const { clusterId, controllerId, brokers } = response
      return { clusterId, controllerId, brokers: brokers.map(broker => node(broker, broker.brokerId)) }
    }, options)
  } catch (error) {
    if (!isMillraceError(error, 'MR_CLIENT_UNSUPPORTED')) throw error
  }
  // Brokers from before that API say it in their metadata.
  return admin.ask('anybody', metadataApi, () => ({ topics: [], allowAutoTopicCreation: false }), ({ clusterId, controllerId, brokers }) => ({
    clusterId, controllerId, brokers: brokers.map(broker => node(broker, broker.nodeId)),
  }), { ...options, oldest: 1 })
}

export function listOffsets(admin: AdminContext, questions: readonly OffsetWanted[], options: ListOffsetsOptions): Promise<OffsetFound[]> {
  return lookUpOffsets(admin, questions.map(({ topic, partition, at }) => ({ topic, partition, timestamp: timestampOf(at) })), {
    isolationLevel: options.isolation === 'read_committed' ? 1 : 0, timeoutMs: options.timeoutMs ?? admin.client.requestTimeoutMs, signal: options.signal,
  })
}

export async function deleteRecords(admin: AdminContext, list: readonly RecordsToDelete[], options: AdminOptions): Promise<LogStart[]> {
  const timeoutMs = options.timeoutMs ?? admin.client.requestTimeoutMs
  const starts: LogStart[] = []
  for (const { topic, partition, beforeOffset } of list) {
    const leaderId = await leaderOf(admin, topic, partition, options)
    const build = () => ({ topics: [{ name: topic, partitions: [{ partitionIndex: partition, offset: beforeOffset }] }], timeoutMs })
    starts.push(await admin.ask({ nodeId: leaderId }, deleteRecordsApi, build, response => {
      const answer = response.topics[0]?.partitions[0]
      const errorCode = answer?.errorCode ?? kafkaErrors.UNKNOWN_SERVER_ERROR
      if (errorCode === kafkaErrors.OFFSET_OUT_OF_RANGE) throw beyondTheEnd(topic, partition, beforeOffset)
      if (errorCode !== kafkaErrors.NONE) throw brokerError(errorCode, { what: `deleting records of ${topic}-${partition}`, topic, partition })
      return { topic, partition, logStartOffset: answer!.lowWatermark }
    }, options))
  }
  return starts
}

/** A consumer could seek; who deletes gives another offset. */
function beyondTheEnd(topic: string, partition: number, offset: number): MillraceError {
  const words = `${topic}-${partition} has no offset ${offset} yet, so that what is below it cannot be deleted; give beforeOffset up to its end, which admin.listOffsets tells, or -1 for all that may be read`
  return new MillraceError('MR_CLIENT_OFFSET_OUT_OF_RANGE', { topic, partition, offset }, undefined, words)
}

function leaderOf(admin: AdminContext, topic: string, partition: number, options: AdminOptions): Promise<number> {
  return admin.ask('anybody', metadataApi, () => ({ topics: [{ name: topic }], allowAutoTopicCreation: false }), response => {
    const found = response.topics[0]
    const errorCode = found?.errorCode ?? kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION
    if (errorCode !== kafkaErrors.NONE) throw brokerError(errorCode, { what: `finding the leader of ${topic}-${partition}`, topic, partition })
    const leader = found!.partitions.find(each => each.partitionIndex === partition)
    if (leader === undefined) throw new MillraceError('MR_CLIENT_PARTITION_UNKNOWN', { topic, partition, count: found!.partitions.length })
    if (leader.leaderId < 0) throw brokerError(kafkaErrors.LEADER_NOT_AVAILABLE, { what: `finding the leader of ${topic}-${partition}` })
    return leader.leaderId
  }, { ...options, oldest: 4 })
}

function timestampOf(at: OffsetWanted['at']): number {
  if (typeof at === 'object') return at.timestamp
  return at === 'beginning' ? earliestTimestamp : at === 'end' ? latestTimestamp : maxTimestamp
}
