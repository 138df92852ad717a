import { arrayOf, int16, int32, int64, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * ListOffsets: finds offsets by timestamp, or the ends of a log.
 *
 * Versions 1 to 11:
 * - v1: the lowest version: one offset and its timestamp a partition
 * - v2: isolation level
 * - v4: leader epochs
 * - v6: flexible
 * - v7: timestamp -3: the record with the largest timestamp
 * - v8: timestamp -4: the earliest local offset
 * - v9: timestamp -5: the last tiered offset
 * - v10: timeoutMs, since remote logs may have to be asked
 * - v11: timestamp -6: the earliest offset pending upload
 *
 * Quirk 42: what is not found has offset -1 and timestamp -1, and is no error.
 */
export const listOffsetsApi = defineApi({ key: 2, name: 'ListOffsets', versions: '1-11', flexible: '6+' }, {
  request: {
    replicaId: int32('0+'),
    isolationLevel: int8('2+'),
    topics: arrayOf('0+', struct('ListOffsetsTopic', {
      name: string('0+'),
      partitions: arrayOf('0+', struct('ListOffsetsPartition', {
        partitionIndex: int32('0+'),
        currentLeaderEpoch: int32('4+', { default: -1, ignorable: true }),
        timestamp: int64('0+', { saturating: true }),
      })),
    })),
    timeoutMs: int32('10+', { ignorable: true }),
  },
  response: {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: arrayOf('0+', struct('ListOffsetsTopicResponse', {
      name: string('0+'),
      partitions: arrayOf('0+', struct('ListOffsetsPartitionResponse', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        timestamp: int64('1+', { default: -1 }),
        offset: int64('1+', { default: -1 }),
        leaderEpoch: int32('4+', { default: -1 }),
      })),
    })),
  },
})

export type ListOffsetsRequest = RequestOf<typeof listOffsetsApi>
export type ListOffsetsResponse = ResponseOf<typeof listOffsetsApi>
