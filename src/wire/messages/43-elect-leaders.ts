import { arrayOf, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * ElectLeaders: elects leaders of partitions.
 *
 * Versions 0 to 2:
 * - v0: preferred leaders
 * - v1: an election type: preferred or unclean
 * - v2: flexible
 *
 * Null partitions mean all.
 */
export const electLeadersApi = defineApi({ key: 43, name: 'ElectLeaders', versions: '0-2', flexible: '2+' }, {
  request: {
    electionType: int8('1+'),
    topicPartitions: arrayOf('0+', struct('TopicPartitions', {
      topic: string('0+'),
      partitions: arrayOf('0+', 'int32'),
    }), { nullable: '0+' }),
    timeoutMs: int32('0+', { default: 60_000 }),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('1+'),
    replicaElectionResults: arrayOf('0+', struct('ReplicaElectionResult', {
      topic: string('0+'),
      partitionResult: arrayOf('0+', struct('PartitionResult', {
        partitionId: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: string('0+', { nullable: '0+' }),
      })),
    })),
  },
})

export type ElectLeadersRequest = RequestOf<typeof electLeadersApi>
export type ElectLeadersResponse = ResponseOf<typeof electLeadersApi>
