import { arrayOf, int16, int32, int64, string, struct, uint16, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DescribeQuorum: state of the metadata quorum.
 *
 * Versions 0 to 2:
 * - v0: the lowest version, flexible
 * - v1: when replicas last fetched and caught up
 * - v2: directory ids, endpoints of the nodes, error messages
 */
export const describeQuorumApi = defineApi({ key: 55, name: 'DescribeQuorum', versions: '0-2', flexible: '0+' }, {
  request: {
    topics: arrayOf('0+', struct('TopicData', {
      topicName: string('0+'),
      partitions: arrayOf('0+', struct('PartitionData', {
        partitionIndex: int32('0+'),
      })),
    })),
  },
  response: {
    errorCode: int16('0+'),
    errorMessage: string('2+', { nullable: '2+', ignorable: true }),
    topics: arrayOf('0+', struct('TopicData', {
      topicName: string('0+'),
      partitions: arrayOf('0+', struct('PartitionData', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: string('2+', { nullable: '2+', ignorable: true }),
        leaderId: int32('0+'),
        leaderEpoch: int32('0+'),
        highWatermark: int64('0+'),
        currentVoters: arrayOf('0+', struct('ReplicaState', {
          replicaId: int32('0+'),
          replicaDirectoryId: uuid('2+'),
          logEndOffset: int64('0+'),
          lastFetchTimestamp: int64('1+', { default: -1, ignorable: true }),
          lastCaughtUpTimestamp: int64('1+', { default: -1, ignorable: true }),
        })),
        observers: arrayOf('0+', struct('ReplicaState', {
          replicaId: int32('0+'),
          replicaDirectoryId: uuid('2+'),
          logEndOffset: int64('0+'),
          lastFetchTimestamp: int64('1+', { default: -1, ignorable: true }),
          lastCaughtUpTimestamp: int64('1+', { default: -1, ignorable: true }),
        })),
      })),
    })),
    nodes: arrayOf('2+', struct('Node', {
      nodeId: int32('2+'),
      listeners: arrayOf('2+', struct('Listener', {
        name: string('2+'),
        host: string('2+'),
        port: uint16('2+'),
      })),
    })),
  },
})

export type DescribeQuorumRequest = RequestOf<typeof describeQuorumApi>
export type DescribeQuorumResponse = ResponseOf<typeof describeQuorumApi>
