import { arrayOf, int16, int32, int64, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * OffsetForLeaderEpoch: where a leader epoch ends in the log.
 *
 * Versions 2 to 4:
 * - v2: the lowest version, the only one of librdkafka: the leader epoch that the client knows
 * - v3: replica id
 * - v4: flexible
 *
 * Quirk 43: an unknown epoch is answered with epoch -1 and offset -1.
 */
export const offsetForLeaderEpochApi = defineApi({
  key: 23, name: 'OffsetForLeaderEpoch', versions: '2-4', flexible: '4+',
}, {
  request: {
    replicaId: int32('3+', { default: -2, ignorable: true }),
    topics: arrayOf('0+', struct('OffsetForLeaderTopic', {
      topic: string('0+'),
      partitions: arrayOf('0+', struct('OffsetForLeaderPartition', {
        partition: int32('0+'),
        currentLeaderEpoch: int32('2+', { default: -1, ignorable: true }),
        leaderEpoch: int32('0+'),
      })),
    })),
  },
  response: {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: arrayOf('0+', struct('OffsetForLeaderTopicResult', {
      topic: string('0+'),
      partitions: arrayOf('0+', struct('EpochEndOffset', {
        errorCode: int16('0+'),
        partition: int32('0+'),
        leaderEpoch: int32('1+', { default: -1, ignorable: true }),
        endOffset: int64('0+', { default: -1 }),
      })),
    })),
  },
})

export type OffsetForLeaderEpochRequest = RequestOf<typeof offsetForLeaderEpochApi>
export type OffsetForLeaderEpochResponse = ResponseOf<typeof offsetForLeaderEpochApi>
