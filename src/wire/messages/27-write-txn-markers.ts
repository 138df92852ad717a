import { arrayOf, bool, int16, int32, int64, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * WriteTxnMarkers: writes the markers that end a transaction; from broker to broker.
 *
 * Versions 1 to 2:
 * - v1: the lowest version, flexible
 * - v2: transaction version
 */
export const writeTxnMarkersApi = defineApi({ key: 27, name: 'WriteTxnMarkers', versions: '1-2', flexible: '1+' }, {
  request: {
    markers: arrayOf('0+', struct('WritableTxnMarker', {
      producerId: int64('0+'),
      producerEpoch: int16('0+'),
      transactionResult: bool('0+'),
      topics: arrayOf('0+', struct('WritableTxnMarkerTopic', {
        name: string('0+'),
        partitionIndexes: arrayOf('0+', 'int32'),
      })),
      coordinatorEpoch: int32('0+'),
      transactionVersion: int8('2+', { default: 0, ignorable: true }),
    })),
  },
  response: {
    markers: arrayOf('0+', struct('WritableTxnMarkerResult', {
      producerId: int64('0+'),
      topics: arrayOf('0+', struct('WritableTxnMarkerTopicResult', {
        name: string('0+'),
        partitions: arrayOf('0+', struct('WritableTxnMarkerPartitionResult', {
          partitionIndex: int32('0+'),
          errorCode: int16('0+'),
        })),
      })),
    })),
  },
})

export type WriteTxnMarkersRequest = RequestOf<typeof writeTxnMarkersApi>
export type WriteTxnMarkersResponse = ResponseOf<typeof writeTxnMarkersApi>
