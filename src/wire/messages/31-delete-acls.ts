import { arrayOf, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DeleteAcls: removes access control entries that match a filter.
 *
 * Versions 1 to 3:
 * - v1: the lowest version: pattern types
 * - v2: flexible
 * - v3: users as resources
 */
export const deleteAclsApi = defineApi({ key: 31, name: 'DeleteAcls', versions: '1-3', flexible: '2+' }, {
  request: {
    filters: arrayOf('0+', struct('DeleteAclsFilter', {
      resourceTypeFilter: int8('0+'),
      resourceNameFilter: string('0+', { nullable: '0+' }),
      patternTypeFilter: int8('1+', { default: 3 }),
      principalFilter: string('0+', { nullable: '0+' }),
      hostFilter: string('0+', { nullable: '0+' }),
      operation: int8('0+'),
      permissionType: int8('0+'),
    })),
  },
  response: {
    throttleTimeMs: int32('0+'),
    filterResults: arrayOf('0+', struct('DeleteAclsFilterResult', {
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+' }),
      matchingAcls: arrayOf('0+', struct('DeleteAclsMatchingAcl', {
        errorCode: int16('0+'),
        errorMessage: string('0+', { nullable: '0+' }),
        resourceType: int8('0+'),
        resourceName: string('0+'),
        patternType: int8('1+', { default: 3 }),
        principal: string('0+'),
        host: string('0+'),
        operation: int8('0+'),
        permissionType: int8('0+'),
      })),
    })),
  },
})

export type DeleteAclsRequest = RequestOf<typeof deleteAclsApi>
export type DeleteAclsResponse = ResponseOf<typeof deleteAclsApi>
