import { arrayOf, int16, string } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * SaslHandshake: chooses a SASL mechanism.
 *
 * Versions 0 to 1:
 * - v0: the tokens follow as frames without headers
 * - v1: the tokens follow in SaslAuthenticate
 *
 * Never flexible. Quirk 11.
 */
export const saslHandshakeApi = defineApi({ key: 17, name: 'SaslHandshake', versions: '0-1' }, {
  request: {
    mechanism: string('0+'),
  },
  response: {
    errorCode: int16('0+'),
    mechanisms: arrayOf('0+', 'string'),
  },
})

export type SaslHandshakeRequest = RequestOf<typeof saslHandshakeApi>
export type SaslHandshakeResponse = ResponseOf<typeof saslHandshakeApi>
