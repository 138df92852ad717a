import { arrayOf, int16, int32, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * OffsetDelete: deletes committed offsets of a group.
 *
 * Version 0:
 * - v0: the only version, never flexible
 */
export const offsetDeleteApi = defineApi({ key: 47, name: 'OffsetDelete', versions: '0' }, {
  request: {
    groupId: string('0+'),
    topics: arrayOf('0+', struct('OffsetDeleteRequestTopic', {
      name: string('0+'),
      partitions: arrayOf('0+', struct('OffsetDeleteRequestPartition', {
        partitionIndex: int32('0+'),
      })),
    })),
  },
  response: {
    errorCode: int16('0+'),
    throttleTimeMs: int32('0+', { ignorable: true }),
    topics: arrayOf('0+', struct('OffsetDeleteResponseTopic', {
      name: string('0+'),
      partitions: arrayOf('0+', struct('OffsetDeleteResponsePartition', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
      })),
    })),
  },
})

export type OffsetDeleteRequest = RequestOf<typeof offsetDeleteApi>
export type OffsetDeleteResponse = ResponseOf<typeof offsetDeleteApi>
