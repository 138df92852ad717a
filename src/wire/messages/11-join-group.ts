import { arrayOf, bool, bytes, int16, int32, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * JoinGroup: makes a member of a classic group, and waits for the others.
 *
 * Versions 0 to 9:
 * - v0: no rebalance timeout: the session timeout is used
 * - v1: rebalance timeout
 * - v4: a first join without member id is answered with MEMBER_ID_REQUIRED and an id (KIP-394)
 * - v5: static members (KIP-345)
 * - v6: flexible
 * - v7: protocol type in the response, null protocol names
 * - v8: a reason
 * - v9: skipAssignment for a static leader that rejoins
 *
 * Quirk 45: only the leader gets members. Quirk 46: metadata is opaque and goes through unchanged.
 */
export const joinGroupApi = defineApi({ key: 11, name: 'JoinGroup', versions: '0-9', flexible: '6+' }, {
  request: {
    groupId: string('0+'),
    sessionTimeoutMs: int32('0+'),
    rebalanceTimeoutMs: int32('1+', { default: -1, ignorable: true }),
    memberId: string('0+'),
    groupInstanceId: string('5+', { nullable: '5+', default: null }),
    protocolType: string('0+'),
    protocols: arrayOf('0+', struct('JoinGroupRequestProtocol', {
      name: string('0+'),
      metadata: bytes('0+'),
    })),
    reason: string('8+', { nullable: '8+', default: null, ignorable: true }),
  },
  response: {
    throttleTimeMs: int32('2+', { ignorable: true }),
    errorCode: int16('0+'),
    generationId: int32('0+', { default: -1 }),
    protocolType: string('7+', { nullable: '7+', default: null, ignorable: true }),
    protocolName: string('0+', { nullable: '7+' }),
    leader: string('0+'),
    skipAssignment: bool('9+', { default: false }),
    memberId: string('0+'),
    members: arrayOf('0+', struct('JoinGroupResponseMember', {
      memberId: string('0+'),
      groupInstanceId: string('5+', { nullable: '5+', default: null, ignorable: true }),
      metadata: bytes('0+'),
    })),
  },
})

export type JoinGroupRequest = RequestOf<typeof joinGroupApi>
export type JoinGroupResponse = ResponseOf<typeof joinGroupApi>
