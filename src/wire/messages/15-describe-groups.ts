import { arrayOf, bool, bytes, int16, int32, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DescribeGroups: state and members of classic groups.
 *
 * Versions 0 to 6:
 * - v0: the lowest version
 * - v3: authorized operations
 * - v4: static members
 * - v5: flexible
 * - v6: an unknown group is GROUP_ID_NOT_FOUND with a message
 *
 * Quirk 53: up to v5 an unknown group has state Dead and no error.
 */
export const describeGroupsApi = defineApi({ key: 15, name: 'DescribeGroups', versions: '0-6', flexible: '5+' }, {
  request: {
    groups: arrayOf('0+', 'string'),
    includeAuthorizedOperations: bool('3+'),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    groups: arrayOf('0+', struct('DescribedGroup', {
      errorCode: int16('0+'),
      errorMessage: string('6+', { nullable: '6+', default: null }),
      groupId: string('0+'),
      groupState: string('0+'),
      protocolType: string('0+'),
      protocolData: string('0+'),
      members: arrayOf('0+', struct('DescribedGroupMember', {
        memberId: string('0+'),
        groupInstanceId: string('4+', { nullable: '4+', default: null, ignorable: true }),
        clientId: string('0+'),
        clientHost: string('0+'),
        memberMetadata: bytes('0+'),
        memberAssignment: bytes('0+'),
      })),
      authorizedOperations: int32('3+', { default: -0x8000_0000 }),
    })),
  },
})

export type DescribeGroupsRequest = RequestOf<typeof describeGroupsApi>
export type DescribeGroupsResponse = ResponseOf<typeof describeGroupsApi>
