import { type BackoffOptions } from '../base/backoff.ts'
import { MillraceError } from '../kernel/errors/index.ts'
import { type Endpoint, type TlsClientOptions } from '../kernel/ports/network.ts'
import { type RequestDispatcher } from '../kernel/ports/protocol-handler.ts'

/** Who a client is: a user with a password. SCRAM does not show the password to the broker, PLAIN does. */
export type SaslOptions = {
  readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'
  readonly username: string
  readonly password: string
}

/**
 * How to reach a cluster, millrace or Apache Kafka. Durations are whole numbers of milliseconds from 1 to 2147483647 (24 days); what is out of its range is
 * refused with MR_CLIENT_SETTING, which names the option, when the client is made.
 */
export interface ConnectionSettings {
  /** Brokers to begin with: `host:port`, several separated by commas, or an array. Any one that answers will do; the rest is learnt from it. */
  readonly bootstrap: string | readonly string[]
  /** Named in requests, and so in the broker's logs, metrics and quotas. Default `millrace`. */
  readonly clientId?: string
  /** True takes the certificate authorities of the system. Texts are PEM. */
  readonly tls?: boolean | TlsClientOptions
  /** Who this client is. Without it, it does not say. Passwords of PLAIN go over the wire as they are: use `tls` with it. */
  readonly sasl?: SaslOptions
  /** To fetch from a replica in the same rack where the cluster allows it (KIP-392). */
  readonly rack?: string
  /** For one attempt to connect to one address, TLS included; what SASL asks has `requestTimeoutMs`. Default 10000. */
  readonly connectTimeoutMs?: number
  /** How long a broker may take to answer one request. Default 30000. */
  readonly requestTimeoutMs?: number
  /** The wait before the second attempt to connect, or to ask again; each further one is twice as long, with a jitter of 20 %, up to `retryBackoffMsMax`. Default 50. */
  readonly retryBackoffMs?: number
  /** The longest such wait; where it is less than `retryBackoffMs`, that counts. Default 1000. */
  readonly retryBackoffMsMax?: number
  /** Topics and brokers are asked for again after so long, even if nothing seems wrong. Default 300000. */
  readonly metadataAgeMsMax?: number
  /** The largest response that is accepted: from 1024 to 2147483647. A larger one closes the connection. Default 268435456. */
  readonly responseBytesMax?: number
}

/** A broker in this process, reached without a socket. */
export interface InProcessSettings {
  /** What a broker of this process gives as `broker.dispatcher`. */
  readonly dispatcher: RequestDispatcher
  /** Set in a cluster: only this node is reached in process, others by the addresses that the metadata names. */
  readonly nodeId?: number
}

/** Settings with every default filled in. */
export interface ClientSettings {
  readonly bootstrap: readonly Endpoint[]
  readonly inProcess: InProcessSettings | undefined
  readonly clientId: string
  readonly tls: TlsClientOptions | undefined
  readonly sasl: SaslOptions | undefined
  readonly rack: string
  readonly connectTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly backoff: BackoffOptions
  readonly metadataAgeMsMax: number
  readonly responseBytesMax: number
}

const mechanisms: readonly string[] = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] satisfies SaslOptions['mechanism'][]

/** Throws MR_CLIENT_SETTING. */
export function clientSettings(given: Partial<ConnectionSettings> & { readonly inProcess?: InProcessSettings }): ClientSettings {
  const bootstrap = parseBootstrap(given.bootstrap ?? [])
  if (bootstrap.length === 0 && given.inProcess === undefined) throw settingError('bootstrap', 'it names no broker; give host:port')
  if (given.sasl !== undefined) checkSasl(given.sasl)
  const backoffMs = durationMs('retryBackoffMs', given.retryBackoffMs, 50)
  return {
    bootstrap,
    inProcess: given.inProcess,
    clientId: given.clientId ?? 'millrace',
    tls: given.tls === true ? {} : given.tls === false ? undefined : given.tls,
    sasl: given.sasl,
    rack: given.rack ?? '',
    connectTimeoutMs: durationMs('connectTimeoutMs', given.connectTimeoutMs, 10_000),
    requestTimeoutMs: durationMs('requestTimeoutMs', given.requestTimeoutMs, 30_000),
    backoff: {
      initialMs: backoffMs,
      maxMs: Math.max(backoffMs, durationMs('retryBackoffMsMax', given.retryBackoffMsMax, 1000)),
      multiplier: 2,
      jitter: 0.2,
    },
    metadataAgeMsMax: durationMs('metadataAgeMsMax', given.metadataAgeMsMax, 300_000),
    responseBytesMax: integer('responseBytesMax', given.responseBytesMax, 268_435_456, 1024, 0x7fff_ffff),
  }
}

export function settingError(key: string, reason: string): MillraceError {
  return new MillraceError('MR_CLIENT_SETTING', { key, reason })
}

/** A whole number within bounds, or the default where none is given. Throws MR_CLIENT_SETTING. */
export function integer(key: string, given: number | undefined, standard: number, min: number, max: number): number {
  const value = given ?? standard
  if (!Number.isInteger(value) || value < min || value > max) throw settingError(key, `${value} is not a whole number from ${min} to ${max}`)
  return value
}

/** At least 1 ms, at most 24 days. */
export function durationMs(key: string, given: number | undefined, standard: number): number {
  return integer(key, given, standard, 1, 0x7fff_ffff)
}

function checkSasl(sasl: SaslOptions): void {
  if (!mechanisms.includes(sasl.mechanism)) {
    throw settingError('sasl.mechanism', `${String(sasl.mechanism)} is not one of ${mechanisms.join(', ')}`)
  }
  if (typeof sasl.username !== 'string' || sasl.username === '') throw settingError('sasl.username', 'it is empty')
  if (typeof sasl.password !== 'string') throw settingError('sasl.password', 'it is no text')
}

function parseBootstrap(given: string | readonly string[]): Endpoint[] {
  const texts = typeof given === 'string' ? given.split(',') : given
  return texts.map(text => text.trim()).filter(text => text !== '').map(parseEndpoint)
}

function parseEndpoint(text: string): Endpoint {
  const found = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const port = Number(found?.[3])
  if (found === null || port < 1 || port > 65_535) {
    // A name or an IPv4 address alone; IPv6 stands in brackets.
    const hint = /^[\w.-]+$|^\[[^\]]+\]$/.test(text) ? `; did you mean ${text}:9092?` : ''
    throw settingError('bootstrap', `${JSON.stringify(text)} is not host:port${hint}`)
  }
  return { host: (found[1] ?? found[2])!, port }
}
