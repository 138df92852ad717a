import { arrayOf, bool, int16, int32, nested, string, struct, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DescribeTopicPartitions: topics and their partitions, page by page.
 *
 * Version 0:
 * - v0: the only version, flexible
 *
 * Quirk 23: Java clients ask this first to describe topics.
 */
export const describeTopicPartitionsApi = defineApi({
  key: 75, name: 'DescribeTopicPartitions', versions: '0', flexible: '0+',
}, {
  request: {
    topics: arrayOf('0+', struct('TopicRequest', {
      name: string('0+'),
    })),
    responsePartitionLimit: int32('0+', { default: 2000 }),
    cursor: nested('0+', struct('Cursor', {
      topicName: string('0+'),
      partitionIndex: int32('0+'),
    }), { nullable: '0+', default: null }),
  },
  response: {
    throttleTimeMs: int32('0+', { ignorable: true }),
    topics: arrayOf('0+', struct('DescribeTopicPartitionsResponseTopic', {
      errorCode: int16('0+'),
      name: string('0+', { nullable: '0+' }),
      topicId: uuid('0+', { ignorable: true }),
      isInternal: bool('0+', { default: false, ignorable: true }),
      partitions: arrayOf('0+', struct('DescribeTopicPartitionsResponsePartition', {
        errorCode: int16('0+'),
        partitionIndex: int32('0+'),
        leaderId: int32('0+'),
        leaderEpoch: int32('0+', { default: -1, ignorable: true }),
        replicaNodes: arrayOf('0+', 'int32'),
        isrNodes: arrayOf('0+', 'int32'),
        eligibleLeaderReplicas: arrayOf('0+', 'int32', { nullable: '0+', default: null }),
        lastKnownElr: arrayOf('0+', 'int32', { nullable: '0+', default: null }),
        offlineReplicas: arrayOf('0+', 'int32', { ignorable: true }),
      })),
      topicAuthorizedOperations: int32('0+', { default: -0x8000_0000 }),
    })),
    nextCursor: nested('0+', struct('Cursor', {
      topicName: string('0+'),
      partitionIndex: int32('0+'),
    }), { nullable: '0+', default: null }),
  },
})

export type DescribeTopicPartitionsRequest = RequestOf<typeof describeTopicPartitionsApi>
export type DescribeTopicPartitionsResponse = ResponseOf<typeof describeTopicPartitionsApi>
