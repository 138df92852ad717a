import { arrayOf, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DescribeUserScramCredentials: which users have SCRAM credentials.
 *
 * Version 0:
 * - v0: the only version, flexible
 *
 * Null users mean all. Nothing secret is in the response.
 */
export const describeUserScramCredentialsApi = defineApi({
  key: 50, name: 'DescribeUserScramCredentials', versions: '0', flexible: '0+',
}, {
  request: {
    users: arrayOf('0+', struct('UserName', {
      name: string('0+'),
    }), { nullable: '0+' }),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    results: arrayOf('0+', struct('DescribeUserScramCredentialsResult', {
      user: string('0+'),
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+' }),
      credentialInfos: arrayOf('0+', struct('CredentialInfo', {
        mechanism: int8('0+'),
        iterations: int32('0+'),
      })),
    })),
  },
})

export type DescribeUserScramCredentialsRequest = RequestOf<typeof describeUserScramCredentialsApi>
export type DescribeUserScramCredentialsResponse = ResponseOf<typeof describeUserScramCredentialsApi>
