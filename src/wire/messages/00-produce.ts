import { arrayOf, int16, int32, int64, nested, records, string, struct, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * Produce: appends record batches to partitions.
 *
 * Versions 3 to 13:
 * - v3: the lowest version: record batches of magic 2, a transactional id
 * - v5: logStartOffset in the response
 * - v7: batches may be compressed with zstd
 * - v8: errors of single records, an error message
 * - v9: flexible
 * - v10: currentLeader and nodeEndpoints beside NOT_LEADER_OR_FOLLOWER (KIP-951)
 * - v11: may answer TRANSACTION_ABORTABLE
 * - v12: a transactional produce adds its partitions to the transaction (KIP-890); only with transaction.version 2
 * - v13: topic ids instead of names
 *
 * Quirk 8: a broker advertises 0 as its lowest version though 0 to 2 are refused; older librdkafka turns compression
 * off otherwise.
 * Quirk 25: with acks 0 there is no response, not even for an error.
 * Quirk 26: one batch of magic 2 a partition.
 * Quirk 28: zstd below v7 is answered with UNSUPPORTED_COMPRESSION_TYPE.
 */
export const produceApi = defineApi({ key: 0, name: 'Produce', versions: '3-13', flexible: '9+' }, {
  request: {
    transactionalId: string('3+', { nullable: '3+', default: null }),
    acks: int16('0+'),
    timeoutMs: int32('0+'),
    topicData: arrayOf('0+', struct('TopicProduceData', {
      name: string('0-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitionData: arrayOf('0+', struct('PartitionProduceData', {
        index: int32('0+'),
        records: records('0+', { nullable: '0+' }),
      })),
    })),
  },
  response: {
    responses: arrayOf('0+', struct('TopicProduceResponse', {
      name: string('0-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitionResponses: arrayOf('0+', struct('PartitionProduceResponse', {
        index: int32('0+'),
        errorCode: int16('0+'),
        baseOffset: int64('0+'),
        logAppendTimeMs: int64('2+', { default: -1, ignorable: true }),
        logStartOffset: int64('5+', { default: -1, ignorable: true }),
        recordErrors: arrayOf('8+', struct('BatchIndexAndErrorMessage', {
          batchIndex: int32('8+'),
          batchIndexErrorMessage: string('8+', { nullable: '8+', default: null }),
        }), { ignorable: true }),
        errorMessage: string('8+', { nullable: '8+', default: null, ignorable: true }),
        currentLeader: nested('10+', struct('LeaderIdAndEpoch', {
          leaderId: int32('10+', { default: -1 }),
          leaderEpoch: int32('10+', { default: -1 }),
        }), { tag: 0 }),
      })),
    })),
    throttleTimeMs: int32('1+', { default: 0, ignorable: true }),
    nodeEndpoints: arrayOf('10+', struct('NodeEndpoint', {
      nodeId: int32('10+'),
      host: string('10+'),
      port: int32('10+'),
      rack: string('10+', { nullable: '10+', default: null }),
    }), { tag: 0 }),
  },
})

export type ProduceRequest = RequestOf<typeof produceApi>
export type ProduceResponse = ResponseOf<typeof produceApi>
