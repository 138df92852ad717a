import { arrayOf, bool, int16, int32, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * AlterPartitionReassignments: moves partitions to other replicas.
 *
 * Versions 0 to 1:
 * - v0: the lowest version, flexible
 * - v1: whether the replication factor may change
 *
 * Null replicas cancel a move under way.
 */
export const alterPartitionReassignmentsApi = defineApi({
  key: 45, name: 'AlterPartitionReassignments', versions: '0-1', flexible: '0+',
}, {
  request: {
    timeoutMs: int32('0+', { default: 60_000 }),
    allowReplicationFactorChange: bool('1+', { default: true }),
    topics: arrayOf('0+', struct('ReassignableTopic', {
      name: string('0+'),
      partitions: arrayOf('0+', struct('ReassignablePartition', {
        partitionIndex: int32('0+'),
        replicas: arrayOf('0+', 'int32', { nullable: '0+', default: null }),
      })),
    })),
  },
  response: {
    throttleTimeMs: int32('0+'),
    allowReplicationFactorChange: bool('1+', { default: true, ignorable: true }),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    responses: arrayOf('0+', struct('ReassignableTopicResponse', {
      name: string('0+'),
      partitions: arrayOf('0+', struct('ReassignablePartitionResponse', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: string('0+', { nullable: '0+' }),
      })),
    })),
  },
})

export type AlterPartitionReassignmentsRequest = RequestOf<typeof alterPartitionReassignmentsApi>
export type AlterPartitionReassignmentsResponse = ResponseOf<typeof alterPartitionReassignmentsApi>
