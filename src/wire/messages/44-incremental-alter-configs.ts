import { arrayOf, bool, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * IncrementalAlterConfigs: sets, deletes, appends to or subtracts from single settings.
 *
 * Versions 0 to 1:
 * - v0: the lowest version
 * - v1: flexible
 */
export const incrementalAlterConfigsApi = defineApi({
  key: 44, name: 'IncrementalAlterConfigs', versions: '0-1', flexible: '1+',
}, {
  request: {
    resources: arrayOf('0+', struct('AlterConfigsResource', {
      resourceType: int8('0+'),
      resourceName: string('0+'),
      configs: arrayOf('0+', struct('AlterableConfig', {
        name: string('0+'),
        configOperation: int8('0+'),
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

export type IncrementalAlterConfigsRequest = RequestOf<typeof incrementalAlterConfigsApi>
export type IncrementalAlterConfigsResponse = ResponseOf<typeof incrementalAlterConfigsApi>
