import { arrayOf, int16, int32, nested, string, struct, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * ConsumerGroupHeartbeat: membership, subscription and assignment in the consumer protocol (KIP-848).
 *
 * Versions 0 to 1:
 * - v0: the lowest version, flexible: the broker makes the member id
 * - v1: the client makes the member id; subscription by pattern
 *
 * Quirk 55: null means unchanged, in both directions.
 */
export const consumerGroupHeartbeatApi = defineApi({
  key: 68, name: 'ConsumerGroupHeartbeat', versions: '0-1', flexible: '0+',
}, {
  request: {
    groupId: string('0+'),
    memberId: string('0+'),
    memberEpoch: int32('0+'),
    instanceId: string('0+', { nullable: '0+', default: null }),
    rackId: string('0+', { nullable: '0+', default: null }),
    rebalanceTimeoutMs: int32('0+', { default: -1 }),
    subscribedTopicNames: arrayOf('0+', 'string', { nullable: '0+', default: null }),
    subscribedTopicRegex: string('1+', { nullable: '1+', default: null }),
    serverAssignor: string('0+', { nullable: '0+', default: null }),
    topicPartitions: arrayOf('0+', struct('TopicPartitions', {
      topicId: uuid('0+'),
      partitions: arrayOf('0+', 'int32'),
    }), { nullable: '0+', default: null }),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    memberId: string('0+', { nullable: '0+', default: null }),
    memberEpoch: int32('0+'),
    heartbeatIntervalMs: int32('0+'),
    assignment: nested('0+', struct('Assignment', {
      topicPartitions: arrayOf('0+', struct('TopicPartitions', {
        topicId: uuid('0+'),
        partitions: arrayOf('0+', 'int32'),
      })),
    }), { nullable: '0+', default: null }),
  },
})

export type ConsumerGroupHeartbeatRequest = RequestOf<typeof consumerGroupHeartbeatApi>
export type ConsumerGroupHeartbeatResponse = ResponseOf<typeof consumerGroupHeartbeatApi>
