import { arrayOf, int16, int32, int64, int8, nested, records, string, struct, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * Fetch: reads record batches from partitions.
 *
 * Versions 4 to 18:
 * - v4: the lowest version: record batches of magic 2, isolation level, aborted transactions
 * - v5: logStartOffset
 * - v7: fetch sessions (KIP-227)
 * - v9: the leader epoch that the consumer knows
 * - v10: batches may be compressed with zstd
 * - v11: racks and preferred read replicas (KIP-392)
 * - v12: flexible; lastFetchedEpoch, divergingEpoch
 * - v13: topic ids instead of names
 * - v15: replicaState in place of replicaId
 * - v16: nodeEndpoints (KIP-951)
 * - v17: replicaDirectoryId, for followers
 * - v18: highWatermark, for followers
 *
 * highWatermark (v18) is left out by consumers; its default, 2^63 - 1 in Kafka, means "unknown" and is 2^53 - 1 here.
 * Quirk 35: batches come whole, the first one even above the limits; the order of partitions matters.
 * Quirk 36: no records are an empty field, not null.
 * Quirk 37: abortedTransactions are sorted by first offset, and null or empty without read_committed.
 */
export const fetchApi = defineApi({ key: 1, name: 'Fetch', versions: '4-18', flexible: '12+' }, {
  request: {
    clusterId: string('12+', { nullable: '12+', tag: 0, default: null, ignorable: true }),
    replicaId: int32('0-14', { default: -1 }),
    replicaState: nested('15+', struct('ReplicaState', {
      replicaId: int32('15+', { default: -1 }),
      replicaEpoch: int64('15+', { default: -1 }),
    }), { tag: 1 }),
    maxWaitMs: int32('0+'),
    minBytes: int32('0+'),
    maxBytes: int32('3+', { default: 0x7fff_ffff, ignorable: true }),
    isolationLevel: int8('4+', { default: 0, ignorable: true }),
    sessionId: int32('7+', { default: 0, ignorable: true }),
    sessionEpoch: int32('7+', { default: -1, ignorable: true }),
    topics: arrayOf('0+', struct('FetchTopic', {
      topic: string('0-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitions: arrayOf('0+', struct('FetchPartition', {
        partition: int32('0+'),
        currentLeaderEpoch: int32('9+', { default: -1, ignorable: true }),
        fetchOffset: int64('0+', { saturating: true }),
        lastFetchedEpoch: int32('12+', { default: -1 }),
        logStartOffset: int64('5+', { default: -1, ignorable: true }),
        partitionMaxBytes: int32('0+'),
        replicaDirectoryId: uuid('17+', { tag: 0, ignorable: true }),
        highWatermark: int64('18+', { tag: 1, default: Number.MAX_SAFE_INTEGER, ignorable: true, saturating: true }),
      })),
    })),
    forgottenTopicsData: arrayOf('7+', struct('ForgottenTopic', {
      topic: string('7-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitions: arrayOf('7+', 'int32'),
    })),
    rackId: string('11+', { default: '', ignorable: true }),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('7+', { ignorable: true }),
    sessionId: int32('7+', { default: 0 }),
    responses: arrayOf('0+', struct('FetchableTopicResponse', {
      topic: string('0-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitions: arrayOf('0+', struct('PartitionData', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        highWatermark: int64('0+'),
        lastStableOffset: int64('4+', { default: -1, ignorable: true }),
        logStartOffset: int64('5+', { default: -1, ignorable: true }),
        divergingEpoch: nested('12+', struct('EpochEndOffset', {
          epoch: int32('12+', { default: -1 }),
          endOffset: int64('12+', { default: -1 }),
        }), { tag: 0 }),
        currentLeader: nested('12+', struct('LeaderIdAndEpoch', {
          leaderId: int32('12+', { default: -1 }),
          leaderEpoch: int32('12+', { default: -1 }),
        }), { tag: 1 }),
        snapshotId: nested('12+', struct('SnapshotId', {
          endOffset: int64('0+', { default: -1 }),
          epoch: int32('0+', { default: -1 }),
        }), { tag: 2 }),
        abortedTransactions: arrayOf('4+', struct('AbortedTransaction', {
          producerId: int64('4+'),
          firstOffset: int64('4+'),
        }), { nullable: '4+', ignorable: true }),
        preferredReadReplica: int32('11+', { default: -1 }),
        records: records('0+', { nullable: '0+' }),
      })),
    })),
    nodeEndpoints: arrayOf('16+', struct('NodeEndpoint', {
      nodeId: int32('16+'),
      host: string('16+'),
      port: int32('16+'),
      rack: string('16+', { nullable: '16+', default: null }),
    }), { tag: 0 }),
  },
})

export type FetchRequest = RequestOf<typeof fetchApi>
export type FetchResponse = ResponseOf<typeof fetchApi>
