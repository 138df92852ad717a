import { arrayOf, bool, int16, int32, int64, string, struct, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * OffsetFetch: reads committed offsets of consumer groups.
 *
 * Versions 1 to 10:
 * - v1: the lowest version
 * - v2: null topics mean all; an error code for the group
 * - v5: leader epochs
 * - v6: flexible
 * - v7: requireStable: no offsets while a transaction is pending
 * - v8: several groups at once
 * - v9: member id and epoch (KIP-848)
 * - v10: topic ids instead of names
 *
 * Up to v7 the one group is in groupId and topics, from v8 on in groups.
 * Quirk 51: an offset that was never committed is -1, and no error.
 */
export const offsetFetchApi = defineApi({ key: 9, name: 'OffsetFetch', versions: '1-10', flexible: '6+' }, {
  request: {
    groupId: string('0-7'),
    topics: arrayOf('0-7', struct('OffsetFetchRequestTopic', {
      name: string('0-7'),
      partitionIndexes: arrayOf('0-7', 'int32'),
    }), { nullable: '2-7' }),
    groups: arrayOf('8+', struct('OffsetFetchRequestGroup', {
      groupId: string('8+'),
      memberId: string('9+', { nullable: '9+', default: null, ignorable: true }),
      memberEpoch: int32('9+', { default: -1, ignorable: true }),
      topics: arrayOf('8+', struct('OffsetFetchRequestTopics', {
        name: string('8-9', { ignorable: true }),
        topicId: uuid('10+', { ignorable: true }),
        partitionIndexes: arrayOf('8+', 'int32'),
      }), { nullable: '8+' }),
    })),
    requireStable: bool('7+', { default: false }),
  },
  response: {
    throttleTimeMs: int32('3+', { ignorable: true }),
    topics: arrayOf('0-7', struct('OffsetFetchResponseTopic', {
      name: string('0-7'),
      partitions: arrayOf('0-7', struct('OffsetFetchResponsePartition', {
        partitionIndex: int32('0-7'),
        committedOffset: int64('0-7'),
        committedLeaderEpoch: int32('5-7', { default: -1, ignorable: true }),
        metadata: string('0-7', { nullable: '0-7' }),
        errorCode: int16('0-7'),
      })),
    })),
    errorCode: int16('2-7', { default: 0, ignorable: true }),
    groups: arrayOf('8+', struct('OffsetFetchResponseGroup', {
      groupId: string('8+'),
      topics: arrayOf('8+', struct('OffsetFetchResponseTopics', {
        name: string('8-9', { ignorable: true }),
        topicId: uuid('10+', { ignorable: true }),
        partitions: arrayOf('8+', struct('OffsetFetchResponsePartitions', {
          partitionIndex: int32('8+'),
          committedOffset: int64('8+'),
          committedLeaderEpoch: int32('8+', { default: -1, ignorable: true }),
          metadata: string('8+', { nullable: '8+' }),
          errorCode: int16('8+'),
        })),
      })),
      errorCode: int16('8+', { default: 0 }),
    })),
  },
})

export type OffsetFetchRequest = RequestOf<typeof offsetFetchApi>
export type OffsetFetchResponse = ResponseOf<typeof offsetFetchApi>
