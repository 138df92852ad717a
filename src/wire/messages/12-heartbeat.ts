import { int16, int32, string } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * Heartbeat: keeps a member of a classic group alive.
 *
 * Versions 0 to 4:
 * - v0: the lowest version
 * - v3: static members
 * - v4: flexible
 *
 * Quirk 47: REBALANCE_IN_PROGRESS only while the group prepares a rebalance.
 */
export const heartbeatApi = defineApi({ key: 12, name: 'Heartbeat', versions: '0-4', flexible: '4+' }, {
  request: {
    groupId: string('0+'),
    generationId: int32('0+'),
    memberId: string('0+'),
    groupInstanceId: string('3+', { nullable: '3+', default: null }),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
  },
})

export type HeartbeatRequest = RequestOf<typeof heartbeatApi>
export type HeartbeatResponse = ResponseOf<typeof heartbeatApi>
