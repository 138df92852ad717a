import { int16, int32, int64, string } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * AddOffsetsToTxn: adds the offsets of a group to a transaction.
 *
 * Versions 0 to 4:
 * - v0: the lowest version
 * - v2: fencing is PRODUCER_FENCED
 * - v3: flexible
 * - v4: may answer TRANSACTION_ABORTABLE
 */
export const addOffsetsToTxnApi = defineApi({ key: 25, name: 'AddOffsetsToTxn', versions: '0-4', flexible: '3+' }, {
  request: {
    transactionalId: string('0+'),
    producerId: int64('0+'),
    producerEpoch: int16('0+'),
    groupId: string('0+'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
  },
})

export type AddOffsetsToTxnRequest = RequestOf<typeof addOffsetsToTxnApi>
export type AddOffsetsToTxnResponse = ResponseOf<typeof addOffsetsToTxnApi>
