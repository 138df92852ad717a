import { arrayOf, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DescribeAcls: lists access control entries that match a filter.
 *
 * Versions 1 to 3:
 * - v1: the lowest version: pattern types
 * - v2: flexible
 * - v3: users as resources
 */
export const describeAclsApi = defineApi({ key: 29, name: 'DescribeAcls', versions: '1-3', flexible: '2+' }, {
  request: {
    resourceTypeFilter: int8('0+'),
    resourceNameFilter: string('0+', { nullable: '0+' }),
    patternTypeFilter: int8('1+', { default: 3 }),
    principalFilter: string('0+', { nullable: '0+' }),
    hostFilter: string('0+', { nullable: '0+' }),
    operation: int8('0+'),
    permissionType: int8('0+'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    resources: arrayOf('0+', struct('DescribeAclsResource', {
      resourceType: int8('0+'),
      resourceName: string('0+'),
      patternType: int8('1+', { default: 3 }),
      acls: arrayOf('0+', struct('AclDescription', {
        principal: string('0+'),
        host: string('0+'),
        operation: int8('0+'),
        permissionType: int8('0+'),
      })),
    })),
  },
})

export type DescribeAclsRequest = RequestOf<typeof describeAclsApi>
export type DescribeAclsResponse = ResponseOf<typeof describeAclsApi>
