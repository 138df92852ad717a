import { arrayOf, int16, int32, int64, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DescribeProducers: producers that wrote to partitions.
 *
 * Version 0:
 * - v0: the only version, flexible
 */
export const describeProducersApi = defineApi({ key: 61, name: 'DescribeProducers', versions: '0', flexible: '0+' }, {
  request: {
    topics: arrayOf('0+', struct('TopicRequest', {
      name: string('0+'),
      partitionIndexes: arrayOf('0+', 'int32'),
    })),
  },
  response: {
    throttleTimeMs: int32('0+'),
    topics: arrayOf('0+', struct('TopicResponse', {
      name: string('0+'),
      partitions: arrayOf('0+', struct('PartitionResponse', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: string('0+', { nullable: '0+', default: null }),
        activeProducers: arrayOf('0+', struct('ProducerState', {
          producerId: int64('0+'),
          producerEpoch: int32('0+'),
          lastSequence: int32('0+', { default: -1 }),
          lastTimestamp: int64('0+', { default: -1 }),
          coordinatorEpoch: int32('0+'),
          currentTxnStartOffset: int64('0+', { default: -1 }),
        })),
      })),
    })),
  },
})

export type DescribeProducersRequest = RequestOf<typeof describeProducersApi>
export type DescribeProducersResponse = ResponseOf<typeof describeProducersApi>
