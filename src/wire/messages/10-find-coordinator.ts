import { arrayOf, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * FindCoordinator: the broker that coordinates a group or a transactional id.
 *
 * Versions 0 to 6:
 * - v0: groups only
 * - v1: key types; an error message
 * - v3: flexible
 * - v4: several keys at once
 * - v6: share groups
 *
 * Up to v3 the one key is in key, from v4 on in coordinatorKeys, also when there is only one; the response follows.
 * Quirk 52: a coordinator is named for groups that do not exist, too.
 */
export const findCoordinatorApi = defineApi({ key: 10, name: 'FindCoordinator', versions: '0-6', flexible: '3+' }, {
  request: {
    key: string('0-3'),
    keyType: int8('1+', { default: 0 }),
    coordinatorKeys: arrayOf('4+', 'string'),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0-3'),
    errorMessage: string('1-3', { nullable: '1-3', ignorable: true }),
    nodeId: int32('0-3'),
    host: string('0-3'),
    port: int32('0-3'),
    coordinators: arrayOf('4+', struct('Coordinator', {
      key: string('4+'),
      nodeId: int32('4+'),
      host: string('4+'),
      port: int32('4+'),
      errorCode: int16('4+'),
      errorMessage: string('4+', { nullable: '4+', ignorable: true }),
    })),
  },
})

export type FindCoordinatorRequest = RequestOf<typeof findCoordinatorApi>
export type FindCoordinatorResponse = ResponseOf<typeof findCoordinatorApi>
