import { arrayOf, int16, int32, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * ListGroups: the groups of a broker.
 *
 * Versions 0 to 5:
 * - v0: the lowest version
 * - v3: flexible
 * - v4: states, and a filter by them
 * - v5: types, and a filter by them
 *
 * Quirk 53: filters do not care about case; types are answered in lower case.
 */
export const listGroupsApi = defineApi({ key: 16, name: 'ListGroups', versions: '0-5', flexible: '3+' }, {
  request: {
    statesFilter: arrayOf('4+', 'string'),
    typesFilter: arrayOf('5+', 'string'),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
    groups: arrayOf('0+', struct('ListedGroup', {
      groupId: string('0+'),
      protocolType: string('0+'),
      groupState: string('4+', { ignorable: true }),
      groupType: string('5+', { ignorable: true }),
    })),
  },
})

export type ListGroupsRequest = RequestOf<typeof listGroupsApi>
export type ListGroupsResponse = ResponseOf<typeof listGroupsApi>
