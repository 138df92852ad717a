import { arrayOf, bool, int16, int32, int64, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * AddPartitionsToTxn: adds partitions to a transaction.
 *
 * Versions 0 to 5:
 * - v0: the lowest version
 * - v2: fencing is PRODUCER_FENCED
 * - v3: flexible
 * - v4: several transactions at once, and verifyOnly: made for brokers
 * - v5: may answer TRANSACTION_ABORTABLE
 *
 * The fields of v0 to v3 have names of their own, as in Kafka. Quirk 32: some clients send v5.
 */
export const addPartitionsToTxnApi = defineApi({
  key: 24, name: 'AddPartitionsToTxn', versions: '0-5', flexible: '3+',
}, {
  request: {
    transactions: arrayOf('4+', struct('AddPartitionsToTxnTransaction', {
      transactionalId: string('4+'),
      producerId: int64('4+'),
      producerEpoch: int16('4+'),
      verifyOnly: bool('4+', { default: false }),
      topics: arrayOf('4+', struct('AddPartitionsToTxnTopic', {
        name: string('0+'),
        partitions: arrayOf('0+', 'int32'),
      })),
    })),
    v3AndBelowTransactionalId: string('0-3'),
    v3AndBelowProducerId: int64('0-3'),
    v3AndBelowProducerEpoch: int16('0-3'),
    v3AndBelowTopics: arrayOf('0-3', struct('AddPartitionsToTxnTopic', {
      name: string('0+'),
      partitions: arrayOf('0+', 'int32'),
    })),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('4+', { ignorable: true }),
    resultsByTransaction: arrayOf('4+', struct('AddPartitionsToTxnResult', {
      transactionalId: string('4+'),
      topicResults: arrayOf('4+', struct('AddPartitionsToTxnTopicResult', {
        name: string('0+'),
        resultsByPartition: arrayOf('0+', struct('AddPartitionsToTxnPartitionResult', {
          partitionIndex: int32('0+'),
          partitionErrorCode: int16('0+'),
        })),
      })),
    })),
    resultsByTopicV3AndBelow: arrayOf('0-3', struct('AddPartitionsToTxnTopicResult', {
      name: string('0+'),
      resultsByPartition: arrayOf('0+', struct('AddPartitionsToTxnPartitionResult', {
        partitionIndex: int32('0+'),
        partitionErrorCode: int16('0+'),
      })),
    })),
  },
})

export type AddPartitionsToTxnRequest = RequestOf<typeof addPartitionsToTxnApi>
export type AddPartitionsToTxnResponse = ResponseOf<typeof addPartitionsToTxnApi>
