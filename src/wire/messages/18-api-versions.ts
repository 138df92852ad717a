import { arrayOf, bool, int16, int32, int64, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * ApiVersions: which versions of which APIs a broker serves, and its features.
 *
 * Versions 0 to 5:
 * - v0: the lowest version
 * - v1: throttle time
 * - v3: flexible; name and version of the client software, features
 * - v4: a feature may have 0 as its lowest version
 * - v5: the client says which cluster and node it means (KIP-1242); 129 REBOOTSTRAP_REQUIRED
 *
 * Quirk 1: a request of a version too new is answered in v0 with UNSUPPORTED_VERSION and the range of this API; its
 * body is not read.
 * Quirk 2: the response header is always v0, so that a client which does not know the version can read it.
 * Quirk 4: names that do not match the pattern are answered with INVALID_REQUEST.
 */
export const apiVersionsApi = defineApi({ key: 18, name: 'ApiVersions', versions: '0-5', flexible: '3+' }, {
  request: {
    clientSoftwareName: string('3+', { ignorable: true }),
    clientSoftwareVersion: string('3+', { ignorable: true }),
    clusterId: string('5+', { nullable: '5+', default: null, ignorable: true }),
    nodeId: int32('5+', { default: -1, ignorable: true }),
  },
  response: {
    errorCode: int16('0+'),
    apiKeys: arrayOf('0+', struct('ApiVersion', {
      apiKey: int16('0+'),
      minVersion: int16('0+'),
      maxVersion: int16('0+'),
    })),
    throttleTimeMs: int32('1+', { ignorable: true }),
    supportedFeatures: arrayOf('3+', struct('SupportedFeatureKey', {
      name: string('3+'),
      minVersion: int16('3+'),
      maxVersion: int16('3+'),
    }), { tag: 0, ignorable: true }),
    finalizedFeaturesEpoch: int64('3+', { tag: 1, default: -1, ignorable: true }),
    finalizedFeatures: arrayOf('3+', struct('FinalizedFeatureKey', {
      name: string('3+'),
      maxVersionLevel: int16('3+'),
      minVersionLevel: int16('3+'),
    }), { tag: 2, ignorable: true }),
    zkMigrationReady: bool('3+', { tag: 3, default: false, ignorable: true }),
  },
})

export type ApiVersionsRequest = RequestOf<typeof apiVersionsApi>
export type ApiVersionsResponse = ResponseOf<typeof apiVersionsApi>
