import { arrayOf, int16, int32, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * ListPartitionReassignments: moves of partitions that are under way.
 *
 * Version 0:
 * - v0: the only version, flexible
 *
 * Null topics mean all.
 */
export const listPartitionReassignmentsApi = defineApi({
  key: 46, name: 'ListPartitionReassignments', versions: '0', flexible: '0+',
}, {
  request: {
    timeoutMs: int32('0+', { default: 60_000 }),
    topics: arrayOf('0+', struct('ListPartitionReassignmentsTopics', {
      name: string('0+'),
      partitionIndexes: arrayOf('0+', 'int32'),
    }), { nullable: '0+', default: null }),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    topics: arrayOf('0+', struct('OngoingTopicReassignment', {
      name: string('0+'),
      partitions: arrayOf('0+', struct('OngoingPartitionReassignment', {
        partitionIndex: int32('0+'),
        replicas: arrayOf('0+', 'int32'),
        addingReplicas: arrayOf('0+', 'int32'),
        removingReplicas: arrayOf('0+', 'int32'),
      })),
    })),
  },
})

export type ListPartitionReassignmentsRequest = RequestOf<typeof listPartitionReassignmentsApi>
export type ListPartitionReassignmentsResponse = ResponseOf<typeof listPartitionReassignmentsApi>
