import { arrayOf, bool, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DescribeCluster: brokers and controller of the cluster.
 *
 * Versions 0 to 2:
 * - v0: the lowest version, flexible
 * - v1: endpoint type: brokers or controllers
 * - v2: fenced brokers
 *
 * Quirk 24: authorized operations are -2147483648 when nobody asked for them.
 */
export const describeClusterApi = defineApi({ key: 60, name: 'DescribeCluster', versions: '0-2', flexible: '0+' }, {
  request: {
    includeClusterAuthorizedOperations: bool('0+'),
    endpointType: int8('1+', { default: 1 }),
    includeFencedBrokers: bool('2+'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    endpointType: int8('1+', { default: 1 }),
    clusterId: string('0+'),
    controllerId: int32('0+', { default: -1 }),
    brokers: arrayOf('0+', struct('DescribeClusterBroker', {
      brokerId: int32('0+'),
      host: string('0+'),
      port: int32('0+'),
      rack: string('0+', { nullable: '0+', default: null }),
      isFenced: bool('2+'),
    })),
    clusterAuthorizedOperations: int32('0+', { default: -0x8000_0000 }),
  },
})

export type DescribeClusterRequest = RequestOf<typeof describeClusterApi>
export type DescribeClusterResponse = ResponseOf<typeof describeClusterApi>
