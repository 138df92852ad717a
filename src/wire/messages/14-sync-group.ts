import { arrayOf, bytes, int16, int32, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * SyncGroup: hands out the assignment that the leader of a classic group made.
 *
 * Versions 0 to 5:
 * - v0: the lowest version
 * - v3: static members
 * - v4: flexible
 * - v5: protocol type and name, to be checked
 *
 * Quirk 46: a member without assignment gets no bytes, not null.
 */
export const syncGroupApi = defineApi({ key: 14, name: 'SyncGroup', versions: '0-5', flexible: '4+' }, {
  request: {
    groupId: string('0+'),
    generationId: int32('0+'),
    memberId: string('0+'),
    groupInstanceId: string('3+', { nullable: '3+', default: null }),
    protocolType: string('5+', { nullable: '5+', default: null, ignorable: true }),
    protocolName: string('5+', { nullable: '5+', default: null, ignorable: true }),
    assignments: arrayOf('0+', struct('SyncGroupRequestAssignment', {
      memberId: string('0+'),
      assignment: bytes('0+'),
    })),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
    protocolType: string('5+', { nullable: '5+', default: null, ignorable: true }),
    protocolName: string('5+', { nullable: '5+', default: null, ignorable: true }),
    assignment: bytes('0+'),
  },
})

export type SyncGroupRequest = RequestOf<typeof syncGroupApi>
export type SyncGroupResponse = ResponseOf<typeof syncGroupApi>
