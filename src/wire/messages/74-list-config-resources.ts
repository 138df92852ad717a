import { arrayOf, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * ListConfigResources: names of resources that have settings.
 *
 * Versions 0 to 1:
 * - v0: the lowest version, flexible: client metrics alone
 * - v1: resource types
 */
export const listConfigResourcesApi = defineApi({
  key: 74, name: 'ListConfigResources', versions: '0-1', flexible: '0+',
}, {
  request: {
    resourceTypes: arrayOf('1+', 'int8'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    configResources: arrayOf('0+', struct('ConfigResource', {
      resourceName: string('0+'),
      resourceType: int8('1+', { default: 16, ignorable: true }),
    })),
  },
})

export type ListConfigResourcesRequest = RequestOf<typeof listConfigResourcesApi>
export type ListConfigResourcesResponse = ResponseOf<typeof listConfigResourcesApi>
