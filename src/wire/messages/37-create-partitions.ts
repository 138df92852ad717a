import { arrayOf, bool, int16, int32, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * CreatePartitions: adds partitions to topics.
 *
 * Versions 0 to 3:
 * - v0: the lowest version
 * - v2: flexible
 * - v3: may answer THROTTLING_QUOTA_EXCEEDED
 */
export const createPartitionsApi = defineApi({ key: 37, name: 'CreatePartitions', versions: '0-3', flexible: '2+' }, {
  request: {
    topics: arrayOf('0+', struct('CreatePartitionsTopic', {
      name: string('0+'),
      count: int32('0+'),
      assignments: arrayOf('0+', struct('CreatePartitionsAssignment', {
        brokerIds: arrayOf('0+', 'int32'),
      }), { nullable: '0+' }),
    })),
    timeoutMs: int32('0+'),
    validateOnly: bool('0+'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    results: arrayOf('0+', struct('CreatePartitionsTopicResult', {
      name: string('0+'),
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+', default: null }),
    })),
  },
})

export type CreatePartitionsRequest = RequestOf<typeof createPartitionsApi>
export type CreatePartitionsResponse = ResponseOf<typeof createPartitionsApi>
