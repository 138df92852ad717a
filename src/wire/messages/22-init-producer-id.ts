import { bool, int16, int32, int64, string } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * InitProducerId: a producer id and epoch, for idempotence and transactions.
 *
 * Versions 0 to 6:
 * - v0: the lowest version
 * - v2: flexible
 * - v3: a producer may resume with its id and epoch
 * - v4: fencing is PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH
 * - v5: may answer TRANSACTION_ABORTABLE
 * - v6: two-phase commit; Kafka flags this version unstable and does not advertise it
 *
 * Quirk 30: with a transactional id it aborts an open transaction first.
 */
export const initProducerIdApi = defineApi({ key: 22, name: 'InitProducerId', versions: '0-6', flexible: '2+' }, {
  request: {
    transactionalId: string('0+', { nullable: '0+' }),
    transactionTimeoutMs: int32('0+'),
    producerId: int64('3+', { default: -1 }),
    producerEpoch: int16('3+', { default: -1 }),
    enable2Pc: bool('6+', { default: false }),
    keepPreparedTxn: bool('6+', { default: false }),
  },
  response: {
    throttleTimeMs: int32('0+', { ignorable: true }),
    errorCode: int16('0+'),
    producerId: int64('0+', { default: -1 }),
    producerEpoch: int16('0+'),
    ongoingTxnProducerId: int64('6+', { default: -1 }),
    ongoingTxnProducerEpoch: int16('6+', { default: -1 }),
  },
})

export type InitProducerIdRequest = RequestOf<typeof initProducerIdApi>
export type InitProducerIdResponse = ResponseOf<typeof initProducerIdApi>
