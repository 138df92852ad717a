import { arrayOf, bool, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DescribeConfigs: settings of topics, brokers and other resources.
 *
 * Versions 1 to 4:
 * - v1: the lowest version: synonyms and source of a setting
 * - v3: type and documentation
 * - v4: flexible
 *
 * Quirk 21: null or empty keys mean all settings, those at their default included.
 */
export const describeConfigsApi = defineApi({ key: 32, name: 'DescribeConfigs', versions: '1-4', flexible: '4+' }, {
  request: {
    resources: arrayOf('0+', struct('DescribeConfigsResource', {
      resourceType: int8('0+'),
      resourceName: string('0+'),
      configurationKeys: arrayOf('0+', 'string', { nullable: '0+' }),
    })),
    includeSynonyms: bool('1+', { default: false }),
    includeDocumentation: bool('3+', { default: false }),
  },
  response: {
    throttleTimeMs: int32('0+'),
    results: arrayOf('0+', struct('DescribeConfigsResult', {
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+' }),
      resourceType: int8('0+'),
      resourceName: string('0+'),
      configs: arrayOf('0+', struct('DescribeConfigsResourceResult', {
        name: string('0+'),
        value: string('0+', { nullable: '0+' }),
        readOnly: bool('0+'),
        configSource: int8('1+', { default: -1, ignorable: true }),
        isSensitive: bool('0+'),
        synonyms: arrayOf('1+', struct('DescribeConfigsSynonym', {
          name: string('1+'),
          value: string('1+', { nullable: '0+' }),
          source: int8('1+'),
        }), { ignorable: true }),
        configType: int8('3+', { default: 0, ignorable: true }),
        documentation: string('3+', { nullable: '0+', ignorable: true }),
      })),
    })),
  },
})

export type DescribeConfigsRequest = RequestOf<typeof describeConfigsApi>
export type DescribeConfigsResponse = ResponseOf<typeof describeConfigsApi>
