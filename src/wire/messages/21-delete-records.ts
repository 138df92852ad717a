import { arrayOf, int16, int32, int64, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DeleteRecords: moves the log start offset of partitions.
 *
 * Versions 0 to 2:
 * - v0: the lowest version
 * - v2: flexible
 *
 * Offset -1 means the high watermark.
 */
export const deleteRecordsApi = defineApi({ key: 21, name: 'DeleteRecords', versions: '0-2', flexible: '2+' }, {
  request: {
    topics: arrayOf('0+', struct('DeleteRecordsTopic', {
      name: string('0+'),
      partitions: arrayOf('0+', struct('DeleteRecordsPartition', {
        partitionIndex: int32('0+'),
        offset: int64('0+'),
      })),
    })),
    timeoutMs: int32('0+'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    topics: arrayOf('0+', struct('DeleteRecordsTopicResult', {
      name: string('0+'),
      partitions: arrayOf('0+', struct('DeleteRecordsPartitionResult', {
        partitionIndex: int32('0+'),
        lowWatermark: int64('0+'),
        errorCode: int16('0+'),
      })),
    })),
  },
})

export type DeleteRecordsRequest = RequestOf<typeof deleteRecordsApi>
export type DeleteRecordsResponse = ResponseOf<typeof deleteRecordsApi>
