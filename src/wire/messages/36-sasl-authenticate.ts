import { bytes, int16, int64, string } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * SaslAuthenticate: one step of a SASL exchange.
 *
 * Versions 0 to 2:
 * - v0: the lowest version
 * - v1: session lifetime, after which the client must authenticate again (KIP-368)
 * - v2: flexible
 *
 * Quirk 11.
 */
export const saslAuthenticateApi = defineApi({ key: 36, name: 'SaslAuthenticate', versions: '0-2', flexible: '2+' }, {
  request: {
    authBytes: bytes('0+'),
  },
  response: {
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+' }),
    authBytes: bytes('0+'),
    sessionLifetimeMs: int64('1+', { default: 0, ignorable: true }),
  },
})

export type SaslAuthenticateRequest = RequestOf<typeof saslAuthenticateApi>
export type SaslAuthenticateResponse = ResponseOf<typeof saslAuthenticateApi>
