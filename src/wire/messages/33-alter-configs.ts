import { arrayOf, bool, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * AlterConfigs: replaces the whole set of settings of a resource.
 *
 * Versions 0 to 2:
 * - v0: the lowest version
 * - v2: flexible
 *
 * Quirk 22: older clients still use it; IncrementalAlterConfigs is its successor.
 */
export const alterConfigsApi = defineApi({ key: 33, name: 'AlterConfigs', versions: '0-2', flexible: '2+' }, {
  request: {
    resources: arrayOf('0+', struct('AlterConfigsResource', {
      resourceType: int8('0+'),
      resourceName: string('0+'),
      configs: arrayOf('0+', struct('AlterableConfig', {
        name: string('0+'),
        value: string('0+', { nullable: '0+' }),
      })),
    })),
    validateOnly: bool('0+'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    responses: arrayOf('0+', struct('AlterConfigsResourceResponse', {
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+' }),
      resourceType: int8('0+'),
      resourceName: string('0+'),
    })),
  },
})

export type AlterConfigsRequest = RequestOf<typeof alterConfigsApi>
export type AlterConfigsResponse = ResponseOf<typeof alterConfigsApi>
