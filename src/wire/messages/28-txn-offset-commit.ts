import { arrayOf, int16, int32, int64, string, struct, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * TxnOffsetCommit: commits offsets of a group within a transaction.
 *
 * Versions 0 to 6:
 * - v0: the lowest version
 * - v2: leader epochs
 * - v3: flexible; member id and generation
 * - v5: implies AddOffsetsToTxn; only with transaction.version 2
 * - v6: topic ids instead of names
 */
export const txnOffsetCommitApi = defineApi({ key: 28, name: 'TxnOffsetCommit', versions: '0-6', flexible: '3+' }, {
  request: {
    transactionalId: string('0+'),
    groupId: string('0+'),
    producerId: int64('0+'),
    producerEpoch: int16('0+'),
    generationIdOrMemberEpoch: int32('3+', { default: -1 }),
    memberId: string('3+', { default: '' }),
    groupInstanceId: string('3+', { nullable: '3+', default: null }),
    topics: arrayOf('0+', struct('TxnOffsetCommitRequestTopic', {
      name: string('0-5', { ignorable: true }),
      topicId: uuid('6+', { ignorable: true }),
      partitions: arrayOf('0+', struct('TxnOffsetCommitRequestPartition', {
        partitionIndex: int32('0+'),
        committedOffset: int64('0+'),
        committedLeaderEpoch: int32('2+', { default: -1, ignorable: true }),
        committedMetadata: string('0+', { nullable: '0+' }),
      })),
    })),
  },
  response: {
    throttleTimeMs: int32('0+'),
    topics: arrayOf('0+', struct('TxnOffsetCommitResponseTopic', {
      name: string('0-5', { ignorable: true }),
      topicId: uuid('6+', { ignorable: true }),
      partitions: arrayOf('0+', struct('TxnOffsetCommitResponsePartition', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
      })),
    })),
  },
})

export type TxnOffsetCommitRequest = RequestOf<typeof txnOffsetCommitApi>
export type TxnOffsetCommitResponse = ResponseOf<typeof txnOffsetCommitApi>
