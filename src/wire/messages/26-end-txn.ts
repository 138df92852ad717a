import { bool, int16, int32, int64, string } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * EndTxn: commits or aborts a transaction.
 *
 * Versions 0 to 5:
 * - v0: the lowest version
 * - v2: fencing is PRODUCER_FENCED
 * - v3: flexible
 * - v4: may answer TRANSACTION_ABORTABLE
 * - v5: the response carries the producer id and the bumped epoch; only with transaction.version 2
 *
 * Quirk 33: a repeated end with the same outcome succeeds.
 */
export const endTxnApi = defineApi({ key: 26, name: 'EndTxn', versions: '0-5', flexible: '3+' }, {
  request: {
    transactionalId: string('0+'),
    producerId: int64('0+'),
    producerEpoch: int16('0+'),
    committed: bool('0+'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    producerId: int64('5+', { default: -1, ignorable: true }),
    producerEpoch: int16('5+', { default: -1, ignorable: true }),
  },
})

export type EndTxnRequest = RequestOf<typeof endTxnApi>
export type EndTxnResponse = ResponseOf<typeof endTxnApi>
