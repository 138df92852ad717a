import { arrayOf, bool, int16, int32, string, struct, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * Metadata: brokers, topics, partitions and their leaders.
 *
 * Versions 0 to 13:
 * - v0: an empty array of topics means all
 * - v1: null means all, an empty array none; controller, racks
 * - v2: cluster id
 * - v4: allowAutoTopicCreation
 * - v5: offline replicas
 * - v7: leader epochs
 * - v8: authorized operations
 * - v9: flexible
 * - v10: topic ids in the response
 * - v11: authorized operations of the cluster are gone
 * - v12: topics may be asked for by id, with a null name
 * - v13: an error code for the whole response (129 REBOOTSTRAP_REQUIRED)
 *
 * Quirk 5: librdkafka ends "all topics" of v9+ with three spare bytes.
 * Quirk 13: the empty array changes its meaning between v0 and v1; the codec gives what was sent.
 * Quirk 24: authorized operations are -2147483648 when nobody asked for them.
 */
export const metadataApi = defineApi({ key: 3, name: 'Metadata', versions: '0-13', flexible: '9+' }, {
  request: {
    topics: arrayOf('0+', struct('MetadataRequestTopic', {
      topicId: uuid('10+', { ignorable: true }),
      name: string('0+', { nullable: '10+' }),
    }), { nullable: '1+' }),
    allowAutoTopicCreation: bool('4+', { default: true }),
    includeClusterAuthorizedOperations: bool('8-10'),
    includeTopicAuthorizedOperations: bool('8+'),
  },
  response: {
    throttleTimeMs: int32('3+', { ignorable: true }),
    brokers: arrayOf('0+', struct('MetadataResponseBroker', {
      nodeId: int32('0+'),
      host: string('0+'),
      port: int32('0+'),
      rack: string('1+', { nullable: '1+', default: null, ignorable: true }),
    })),
    clusterId: string('2+', { nullable: '2+', default: null, ignorable: true }),
    controllerId: int32('1+', { default: -1, ignorable: true }),
    topics: arrayOf('0+', struct('MetadataResponseTopic', {
      errorCode: int16('0+'),
      name: string('0+', { nullable: '12+' }),
      topicId: uuid('10+', { ignorable: true }),
      isInternal: bool('1+', { default: false, ignorable: true }),
      partitions: arrayOf('0+', struct('MetadataResponsePartition', {
        errorCode: int16('0+'),
        partitionIndex: int32('0+'),
        leaderId: int32('0+'),
        leaderEpoch: int32('7+', { default: -1, ignorable: true }),
        replicaNodes: arrayOf('0+', 'int32'),
        isrNodes: arrayOf('0+', 'int32'),
        offlineReplicas: arrayOf('5+', 'int32', { ignorable: true }),
      })),
      topicAuthorizedOperations: int32('8+', { default: -0x8000_0000 }),
    })),
    clusterAuthorizedOperations: int32('8-10', { default: -0x8000_0000 }),
    errorCode: int16('13+', { ignorable: true }),
  },
})

export type MetadataRequest = RequestOf<typeof metadataApi>
export type MetadataResponse = ResponseOf<typeof metadataApi>
