import { arrayOf, int16, int32, int64, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * ListTransactions: transactions of a broker.
 *
 * Versions 0 to 2:
 * - v0: the lowest version, flexible
 * - v1: a filter by duration
 * - v2: a filter by pattern
 */
export const listTransactionsApi = defineApi({ key: 66, name: 'ListTransactions', versions: '0-2', flexible: '0+' }, {
  request: {
    stateFilters: arrayOf('0+', 'string'),
    producerIdFilters: arrayOf('0+', 'int64'),
    durationFilter: int64('1+', { default: -1 }),
    transactionalIdPattern: string('2+', { nullable: '2+', default: null }),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    unknownStateFilters: arrayOf('0+', 'string'),
    transactionStates: arrayOf('0+', struct('TransactionState', {
      transactionalId: string('0+'),
      producerId: int64('0+'),
      transactionState: string('0+'),
    })),
  },
})

export type ListTransactionsRequest = RequestOf<typeof listTransactionsApi>
export type ListTransactionsResponse = ResponseOf<typeof listTransactionsApi>
