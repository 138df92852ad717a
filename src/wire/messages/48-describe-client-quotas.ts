import { arrayOf, bool, float64, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DescribeClientQuotas: quotas of clients that match a filter.
 *
 * Versions 0 to 1:
 * - v0: the lowest version
 * - v1: flexible
 */
export const describeClientQuotasApi = defineApi({
  key: 48, name: 'DescribeClientQuotas', versions: '0-1', flexible: '1+',
}, {
  request: {
    components: arrayOf('0+', struct('ComponentData', {
      entityType: string('0+'),
      matchType: int8('0+'),
      match: string('0+', { nullable: '0+' }),
    })),
    strict: bool('0+'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    entries: arrayOf('0+', struct('EntryData', {
      entity: arrayOf('0+', struct('EntityData', {
        entityType: string('0+'),
        entityName: string('0+', { nullable: '0+' }),
      })),
      values: arrayOf('0+', struct('ValueData', {
        key: string('0+'),
        value: float64('0+'),
      })),
    }), { nullable: '0+' }),
  },
})

export type DescribeClientQuotasRequest = RequestOf<typeof describeClientQuotasApi>
export type DescribeClientQuotasResponse = ResponseOf<typeof describeClientQuotasApi>
