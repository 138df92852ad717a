import { MillraceError } from '../../kernel/errors/index.ts'
import { type Endpoint } from '../../kernel/ports/network.ts'
import { kafkaErrorName, kafkaErrors, saslAuthenticateApi, saslHandshakeApi, type RequestDraftOf, type ResponseOf } from '../../wire/index.ts'
import { type BrokerVersions, commonVersion } from '../channel/api-versions.ts'
import { type AnyApi } from '../channel/channel.ts'
import { type Connection } from '../channel/connection.ts'
import { type SaslOptions } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { ScramClient, ScramRefused, toBase64 } from './scram-client.ts'

const encoder = new TextEncoder()
const noBytes = new Uint8Array(0)

interface Exchange {
  readonly connection: Connection
  readonly endpoint: Endpoint
  readonly sasl: SaslOptions
  readonly authenticateVersion: number
  readonly timeoutMs: number
}

/**
 * Authenticates a connection, at its beginning or again. Resolves with the lifetime of the session in milliseconds, 0 for one without end (KIP-368).
 * Rejects with MR_CLIENT_AUTHENTICATION where the broker, or the proof of the broker, says no.
 */
export async function authenticate(
  world: ClientWorld, connection: Connection, endpoint: Endpoint, versions: BrokerVersions, sasl: SaslOptions, timeoutMs: number,
): Promise<number> {
  const refused = (reason: string): MillraceError => new MillraceError('MR_CLIENT_AUTHENTICATION', { host: endpoint.host, port: endpoint.port, reason })
  const handshakeVersion = commonVersion(saslHandshakeApi, versions.get(saslHandshakeApi.key))
  const authenticateVersion = commonVersion(saslAuthenticateApi, versions.get(saslAuthenticateApi.key))
  if (handshakeVersion !== 1 || authenticateVersion === undefined) throw refused('it offers no SASL on this port')
  const handshake = await request(connection, saslHandshakeApi, 1, { mechanism: sasl.mechanism }, timeoutMs)
  if (handshake.errorCode !== kafkaErrors.NONE) {
    throw refused(`${kafkaErrorName(handshake.errorCode)}: it offers ${handshake.mechanisms.join(', ') || 'no mechanism'}, not ${sasl.mechanism}`)
  }
  const exchange = { connection, endpoint, sasl, authenticateVersion, timeoutMs }
  if (sasl.mechanism === 'PLAIN') return (await step(exchange, encoder.encode(`\0${sasl.username}\0${sasl.password}`))).lifetimeMs
  const scram = new ScramClient(
    world.hashing, sasl.mechanism === 'SCRAM-SHA-256' ? 'sha256' : 'sha512', sasl.username, sasl.password, toBase64(world.random.bytes(24)),
  )
  try {
    const first = await step(exchange, scram.firstMessage())
    const last = await step(exchange, await scram.finalMessage(first.bytes))
    scram.finish(last.bytes)
    return last.lifetimeMs
  } catch (error) {
    throw error instanceof ScramRefused ? refused(error.message) : error
  }
}

async function step(exchange: Exchange, authBytes: Uint8Array): Promise<{ bytes: Uint8Array, lifetimeMs: number }> {
  const { connection, authenticateVersion, timeoutMs, endpoint } = exchange
  const response = await request(connection, saslAuthenticateApi, authenticateVersion, { authBytes }, timeoutMs)
  if (response.errorCode !== kafkaErrors.NONE) {
    const reason = response.errorMessage ?? kafkaErrorName(response.errorCode)
    throw new MillraceError('MR_CLIENT_AUTHENTICATION', { host: endpoint.host, port: endpoint.port, reason })
  }
  return { bytes: response.authBytes ?? noBytes, lifetimeMs: response.sessionLifetimeMs }
}

function request<A extends AnyApi>(
  connection: Connection, api: A, version: number, draft: RequestDraftOf<A>, timeoutMs: number,
): Promise<ResponseOf<A>> {
  return new Promise((resolve, reject) => {
    connection.sendNow(api, version, draft, { timeoutMs, keepBytes: true }, (error, response) => {
      if (response === undefined) reject(error as Error)
      else resolve(response)
    })
  })
}
