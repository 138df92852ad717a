import { arrayOf, bool, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * UpdateFeatures: raises or lowers feature levels.
 *
 * Versions 0 to 2:
 * - v0: the lowest version, flexible
 * - v1: upgrade type in place of allowDowngrade; validateOnly
 * - v2: no results by feature
 */
export const updateFeaturesApi = defineApi({ key: 57, name: 'UpdateFeatures', versions: '0-2', flexible: '0+' }, {
  request: {
    timeoutMs: int32('0+', { default: 60_000 }),
    featureUpdates: arrayOf('0+', struct('FeatureUpdateKey', {
      feature: string('0+'),
      maxVersionLevel: int16('0+'),
      allowDowngrade: bool('0'),
      upgradeType: int8('1+', { default: 1 }),
    })),
    validateOnly: bool('1+', { default: false }),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    results: arrayOf('0-1', struct('UpdatableFeatureResult', {
      feature: string('0+'),
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+' }),
    }), { ignorable: true }),
  },
})

export type UpdateFeaturesRequest = RequestOf<typeof updateFeaturesApi>
export type UpdateFeaturesResponse = ResponseOf<typeof updateFeaturesApi>
