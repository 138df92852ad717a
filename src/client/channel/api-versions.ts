import { MillraceError } from '../../kernel/errors/index.ts'
import { apiVersionsApi, kafkaErrorName, kafkaErrors, type ApiVersionsResponse } from '../../wire/index.ts'
import { type AnyApi } from './channel.ts'
import { type Connection } from './connection.ts'

export interface VersionSpan {
  readonly min: number
  readonly max: number
}

/** What a broker serves, by API key. */
export type BrokerVersions = ReadonlyMap<number, VersionSpan>

/** The newest version that both sides know, and no newer than `newest`. */
export function commonVersion(api: AnyApi, served: VersionSpan | undefined, newest = Infinity): number | undefined {
  if (served === undefined) return undefined
  const version = Math.min(api.versions.max, served.max, newest)
  return version >= api.versions.min && version >= served.min ? version : undefined
}

/** v3 brings the name of the client software to the broker; all that serve it, serve v0 too (quirk 1). */
const firstAsked = 3

/** Asks a broker what it serves: in v3, and where that is too new for it, in v0. */
export async function askVersions(connection: Connection, timeoutMs: number): Promise<BrokerVersions> {
  let response = await ask(connection, firstAsked, timeoutMs)
  if (response.errorCode === kafkaErrors.UNSUPPORTED_VERSION) response = await ask(connection, 0, timeoutMs)
  if (response.errorCode !== kafkaErrors.NONE) {
    throw new MillraceError('MR_CLIENT_BROKER_REFUSED', { what: 'ApiVersions', error: kafkaErrorName(response.errorCode) })
  }
  return new Map(response.apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { min: minVersion, max: maxVersion }]))
}

function ask(connection: Connection, version: number, timeoutMs: number): Promise<ApiVersionsResponse> {
  return new Promise((resolve, reject) => {
    const request = { clientSoftwareName: 'millrace', clientSoftwareVersion: '0.1.0' }
    connection.sendNow(apiVersionsApi, version, request, { timeoutMs }, (error, response) => {
      if (response === undefined) reject(error as Error)
      else resolve(response)
    })
  })
}
