import { arrayOf, int16, int32, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DeleteGroups: deletes groups without members.
 *
 * Versions 0 to 3:
 * - v0: the lowest version
 * - v2: flexible
 * - v3: an error message
 */
export const deleteGroupsApi = defineApi({ key: 42, name: 'DeleteGroups', versions: '0-3', flexible: '2+' }, {
  request: {
    groupsNames: arrayOf('0+', 'string'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    results: arrayOf('0+', struct('DeletableGroupResult', {
      groupId: string('0+'),
      errorCode: int16('0+'),
      errorMessage: string('3+', { nullable: '3+', default: null, ignorable: true }),
    })),
  },
})

export type DeleteGroupsRequest = RequestOf<typeof deleteGroupsApi>
export type DeleteGroupsResponse = ResponseOf<typeof deleteGroupsApi>
