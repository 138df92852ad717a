import { arrayOf, bytes, int16, int32, int8, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * AlterUserScramCredentials: adds and removes SCRAM credentials.
 *
 * Version 0:
 * - v0: the only version, flexible
 *
 * The salted password is a secret: it must not be logged.
 */
export const alterUserScramCredentialsApi = defineApi({
  key: 51, name: 'AlterUserScramCredentials', versions: '0', flexible: '0+',
}, {
  request: {
    deletions: arrayOf('0+', struct('ScramCredentialDeletion', {
      name: string('0+'),
      mechanism: int8('0+'),
    })),
    upsertions: arrayOf('0+', struct('ScramCredentialUpsertion', {
      name: string('0+'),
      mechanism: int8('0+'),
      iterations: int32('0+'),
      salt: bytes('0+'),
      saltedPassword: bytes('0+'),
    })),
  },
  response: {
    throttleTimeMs: int32('0+'),
    results: arrayOf('0+', struct('AlterUserScramCredentialsResult', {
      user: string('0+'),
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+' }),
    })),
  },
})

export type AlterUserScramCredentialsRequest = RequestOf<typeof alterUserScramCredentialsApi>
export type AlterUserScramCredentialsResponse = ResponseOf<typeof alterUserScramCredentialsApi>
