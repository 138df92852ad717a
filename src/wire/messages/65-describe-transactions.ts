import { arrayOf, int16, int32, int64, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DescribeTransactions: state of transactions.
 *
 * Version 0:
 * - v0: the only version, flexible
 */
export const describeTransactionsApi = defineApi({
  key: 65, name: 'DescribeTransactions', versions: '0', flexible: '0+',
}, {
  request: {
    transactionalIds: arrayOf('0+', 'string'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    transactionStates: arrayOf('0+', struct('TransactionState', {
      errorCode: int16('0+'),
      transactionalId: string('0+'),
      transactionState: string('0+'),
      transactionTimeoutMs: int32('0+'),
      transactionStartTimeMs: int64('0+'),
      producerId: int64('0+'),
      producerEpoch: int16('0+'),
      topics: arrayOf('0+', struct('TopicData', {
        topic: string('0+'),
        partitions: arrayOf('0+', 'int32'),
      })),
    })),
  },
})

export type DescribeTransactionsRequest = RequestOf<typeof describeTransactionsApi>
export type DescribeTransactionsResponse = ResponseOf<typeof describeTransactionsApi>
