import { arrayOf, bool, int16, int32, int8, nested, string, struct, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * ConsumerGroupDescribe: state and members of groups of the consumer protocol.
 *
 * Versions 0 to 1:
 * - v0: the lowest version, flexible
 * - v1: member types
 *
 * Quirk 54: every requested group has an entry; a classic group is GROUP_ID_NOT_FOUND.
 */
export const consumerGroupDescribeApi = defineApi({
  key: 69, name: 'ConsumerGroupDescribe', versions: '0-1', flexible: '0+',
}, {
  request: {
    groupIds: arrayOf('0+', 'string'),
    includeAuthorizedOperations: bool('0+'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    groups: arrayOf('0+', struct('DescribedGroup', {
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+', default: null }),
      groupId: string('0+'),
      groupState: string('0+'),
      groupEpoch: int32('0+'),
      assignmentEpoch: int32('0+'),
      assignorName: string('0+'),
      members: arrayOf('0+', struct('Member', {
        memberId: string('0+'),
        instanceId: string('0+', { nullable: '0+', default: null }),
        rackId: string('0+', { nullable: '0+', default: null }),
        memberEpoch: int32('0+'),
        clientId: string('0+'),
        clientHost: string('0+'),
        subscribedTopicNames: arrayOf('0+', 'string'),
        subscribedTopicRegex: string('0+', { nullable: '0+', default: null }),
        assignment: nested('0+', struct('Assignment', {
          topicPartitions: arrayOf('0+', struct('TopicPartitions', {
            topicId: uuid('0+'),
            topicName: string('0+'),
            partitions: arrayOf('0+', 'int32'),
          })),
        })),
        targetAssignment: nested('0+', struct('Assignment', {
          topicPartitions: arrayOf('0+', struct('TopicPartitions', {
            topicId: uuid('0+'),
            topicName: string('0+'),
            partitions: arrayOf('0+', 'int32'),
          })),
        })),
        memberType: int8('1+', { default: -1, ignorable: true }),
      })),
      authorizedOperations: int32('0+', { default: -0x8000_0000 }),
    })),
  },
})

export type ConsumerGroupDescribeRequest = RequestOf<typeof consumerGroupDescribeApi>
export type ConsumerGroupDescribeResponse = ResponseOf<typeof consumerGroupDescribeApi>
