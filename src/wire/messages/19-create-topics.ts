import { arrayOf, bool, int16, int32, int8, string, struct, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * CreateTopics: creates topics.
 *
 * Versions 2 to 7:
 * - v2: the lowest version
 * - v4: partitions and replication factor may be -1: the default of the broker
 * - v5: flexible; the response carries partitions, replication and configs
 * - v6: may answer THROTTLING_QUOTA_EXCEEDED
 * - v7: topic ids in the response
 *
 * Quirk 20: the response of v5+ lists all configs of the topic; validateOnly checks and creates nothing.
 */
export const createTopicsApi = defineApi({ key: 19, name: 'CreateTopics', versions: '2-7', flexible: '5+' }, {
  request: {
    topics: arrayOf('0+', struct('CreatableTopic', {
      name: string('0+'),
      numPartitions: int32('0+'),
      replicationFactor: int16('0+'),
      assignments: arrayOf('0+', struct('CreatableReplicaAssignment', {
        partitionIndex: int32('0+'),
        brokerIds: arrayOf('0+', 'int32'),
      })),
      configs: arrayOf('0+', struct('CreatableTopicConfig', {
        name: string('0+'),
        value: string('0+', { nullable: '0+' }),
      })),
    })),
    timeoutMs: int32('0+', { default: 60_000 }),
    validateOnly: bool('1+', { default: false }),
  },
  response: {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: arrayOf('0+', struct('CreatableTopicResult', {
      name: string('0+'),
      topicId: uuid('7+', { ignorable: true }),
      errorCode: int16('0+'),
      errorMessage: string('1+', { nullable: '0+', ignorable: true }),
      topicConfigErrorCode: int16('5+', { tag: 0, ignorable: true }),
      numPartitions: int32('5+', { default: -1, ignorable: true }),
      replicationFactor: int16('5+', { default: -1, ignorable: true }),
      configs: arrayOf('5+', struct('CreatableTopicConfigs', {
        name: string('5+'),
        value: string('5+', { nullable: '5+' }),
        readOnly: bool('5+'),
        configSource: int8('5+', { default: -1, ignorable: true }),
        isSensitive: bool('5+'),
      }), { nullable: '5+', ignorable: true }),
    })),
  },
})

export type CreateTopicsRequest = RequestOf<typeof createTopicsApi>
export type CreateTopicsResponse = ResponseOf<typeof createTopicsApi>
