import { arrayOf, int16, int32, int64, string, struct, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * OffsetCommit: stores offsets of a consumer group.
 *
 * Versions 2 to 10:
 * - v2: the lowest version
 * - v5: retention time is gone
 * - v6: leader epochs
 * - v7: static members (KIP-345)
 * - v8: flexible
 * - v9: member epochs of the consumer protocol (KIP-848)
 * - v10: topic ids instead of names
 *
 * Quirk 50: generation -1 with an empty member id commits for a group without members; null metadata is kept as the
 * empty string.
 */
export const offsetCommitApi = defineApi({ key: 8, name: 'OffsetCommit', versions: '2-10', flexible: '8+' }, {
  request: {
    groupId: string('0+'),
    generationIdOrMemberEpoch: int32('1+', { default: -1, ignorable: true }),
    memberId: string('1+', { ignorable: true }),
    groupInstanceId: string('7+', { nullable: '7+', default: null }),
    retentionTimeMs: int64('2-4', { default: -1, ignorable: true }),
    topics: arrayOf('0+', struct('OffsetCommitRequestTopic', {
      name: string('0-9', { ignorable: true }),
      topicId: uuid('10+', { ignorable: true }),
      partitions: arrayOf('0+', struct('OffsetCommitRequestPartition', {
        partitionIndex: int32('0+'),
        committedOffset: int64('0+'),
        committedLeaderEpoch: int32('6+', { default: -1, ignorable: true }),
        committedMetadata: string('0+', { nullable: '0+' }),
      })),
    })),
  },
  response: {
    throttleTimeMs: int32('3+', { ignorable: true }),
    topics: arrayOf('0+', struct('OffsetCommitResponseTopic', {
      name: string('0-9', { ignorable: true }),
      topicId: uuid('10+', { ignorable: true }),
      partitions: arrayOf('0+', struct('OffsetCommitResponsePartition', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
      })),
    })),
  },
})

export type OffsetCommitRequest = RequestOf<typeof offsetCommitApi>
export type OffsetCommitResponse = ResponseOf<typeof offsetCommitApi>
