import { arrayOf, bool, float64, int16, int32, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * AlterClientQuotas: changes quotas of clients.
 *
 * Versions 0 to 1:
 * - v0: the lowest version
 * - v1: flexible
 */
export const alterClientQuotasApi = defineApi({ key: 49, name: 'AlterClientQuotas', versions: '0-1', flexible: '1+' }, {
  request: {
    entries: arrayOf('0+', struct('EntryData', {
      entity: arrayOf('0+', struct('EntityData', {
        entityType: string('0+'),
        entityName: string('0+', { nullable: '0+' }),
      })),
      ops: arrayOf('0+', struct('OpData', {
        key: string('0+'),
        value: float64('0+'),
        remove: bool('0+'),
      })),
    })),
    validateOnly: bool('0+'),
  },
  response: {
    throttleTimeMs: int32('0+'),
    entries: arrayOf('0+', struct('EntryData', {
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+' }),
      entity: arrayOf('0+', struct('EntityData', {
        entityType: string('0+'),
        entityName: string('0+', { nullable: '0+' }),
      })),
    })),
  },
})

export type AlterClientQuotasRequest = RequestOf<typeof alterClientQuotasApi>
export type AlterClientQuotasResponse = ResponseOf<typeof alterClientQuotasApi>
