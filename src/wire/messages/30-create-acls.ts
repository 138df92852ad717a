import { arrayOf, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * CreateAcls: adds access control entries.
 *
 * Versions 1 to 3:
 * - v1: the lowest version: pattern types
 * - v2: flexible
 * - v3: users as resources
 */
export const createAclsApi = defineApi({ key: 30, name: 'CreateAcls', versions: '1-3', flexible: '2+' }, {
  request: {
    creations: arrayOf('0+', struct('AclCreation', {
      resourceType: int8('0+'),
      resourceName: string('0+'),
      resourcePatternType: int8('1+', { default: 3 }),
      principal: string('0+'),
      host: string('0+'),
      operation: int8('0+'),
      permissionType: int8('0+'),
    })),
  },
  response: {
    throttleTimeMs: int32('0+'),
    results: arrayOf('0+', struct('AclCreationResult', {
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+' }),
    })),
  },
})

export type CreateAclsRequest = RequestOf<typeof createAclsApi>
export type CreateAclsResponse = ResponseOf<typeof createAclsApi>
