import { arrayOf, int16, int32, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * LeaveGroup: takes members out of a classic group.
 *
 * Versions 0 to 5:
 * - v0: one member
 * - v3: several members, by member id or instance id
 * - v4: flexible
 * - v5: a reason
 *
 * Up to v2 the one member is in memberId, from v3 on in members.
 */
export const leaveGroupApi = defineApi({ key: 13, name: 'LeaveGroup', versions: '0-5', flexible: '4+' }, {
  request: {
    groupId: string('0+'),
    memberId: string('0-2'),
    members: arrayOf('3+', struct('MemberIdentity', {
      memberId: string('3+'),
      groupInstanceId: string('3+', { nullable: '3+', default: null }),
      reason: string('5+', { nullable: '5+', default: null, ignorable: true }),
    })),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
    members: arrayOf('3+', struct('MemberResponse', {
      memberId: string('3+'),
      groupInstanceId: string('3+', { nullable: '3+' }),
      errorCode: int16('3+'),
    })),
  },
})

export type LeaveGroupRequest = RequestOf<typeof leaveGroupApi>
export type LeaveGroupResponse = ResponseOf<typeof leaveGroupApi>
