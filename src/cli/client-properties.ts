import { suggestion } from '../base/suggestion.ts'
import { MillraceError } from '../kernel/errors/index.ts'
import type { ConnectionSettings, SaslOptions } from '../client/index.ts'
import { parseProperties, type Property } from './properties-text.ts'
import { unreadableReason } from './unreadable.ts'

type Settings = { -readonly [Key in keyof ConnectionSettings]?: ConnectionSettings[Key] } & {
  /** Of producers: the only one of theirs that a file may have. */
  requestBytesMax?: number
}

/** Reads a PEM file that a property names. */
export type ReadText = (path: string) => string

const protocols: readonly string[] = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL']
const mechanisms: readonly string[] = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']

/** Names of Kafka's clients, and librdkafka's where Kafka has none. docs/command-line.md lists them. */
export const clientProperties: readonly string[] = [
  'bootstrap.servers', 'client.id', 'client.rack', 'security.protocol', 'request.timeout.ms', 'socket.connection.setup.timeout.ms',
  'retry.backoff.ms', 'retry.backoff.max.ms', 'metadata.max.age.ms', 'max.request.size',
  'sasl.mechanism', 'sasl.jaas.config', 'sasl.username', 'sasl.password',
  'ssl.truststore.type', 'ssl.truststore.location', 'ssl.truststore.certificates', 'ssl.ca.location', 'ssl.ca.pem',
  'ssl.keystore.type', 'ssl.keystore.location', 'ssl.keystore.certificate.chain', 'ssl.keystore.key',
  'ssl.certificate.location', 'ssl.certificate.pem', 'ssl.key.location', 'ssl.key.pem',
  'ssl.endpoint.identification.algorithm', 'enable.ssl.certificate.verification',
]

/**
 * The connection that a file of Kafka's client properties describes (`--command-config`). Throws MR_CONFIG_FILE, with path and line, for what is unknown
 * or not supported: a security setting that is passed over in silence would be worse than none.
 */
export function connectionFromProperties(text: string, path: string, readText: ReadText): Settings {
  const given = new Map<string, Property>()
  for (const property of parseProperties(text)) {
    if (property.key === '') throw wrong(path, property, 'no key before the value; write it as key=value')
    if (!clientProperties.includes(property.key)) {
      throw wrong(path, property, `unknown client property ${property.key}${suggestion(property.key, clientProperties)}`)
    }
    const first = given.get(property.key)
    if (first !== undefined) throw wrong(path, property, `${property.key} is in line ${first.line} already; keep one of them`)
    given.set(property.key, property)
  }
  return new ClientProperties(path, given, readText).settings()
}

function wrong(path: string, property: Property, reason: string): MillraceError {
  return new MillraceError('MR_CONFIG_FILE', { path, reason: `line ${property.line}: ${reason}` })
}

class ClientProperties {
  readonly #path: string
  readonly #given: ReadonlyMap<string, Property>
  readonly #readText: ReadText

  constructor(path: string, given: ReadonlyMap<string, Property>, readText: ReadText) {
    this.#path = path
    this.#given = given
    this.#readText = readText
  }

  settings(): Settings {
    const protocol = this.#oneOf('security.protocol', protocols) ?? 'PLAINTEXT'
    const withTls = protocol.endsWith('SSL')
    const withSasl = protocol.startsWith('SASL')
    this.#refuseUnused(protocol, withTls, withSasl)
    const settings: { readonly [Key in keyof Settings]: Settings[Key] | undefined } = {
      bootstrap: this.#text('bootstrap.servers'),
      clientId: this.#text('client.id'),
      rack: this.#text('client.rack'),
      requestTimeoutMs: this.#number('request.timeout.ms'),
      connectTimeoutMs: this.#number('socket.connection.setup.timeout.ms'),
      retryBackoffMs: this.#number('retry.backoff.ms'),
      retryBackoffMsMax: this.#number('retry.backoff.max.ms'),
      metadataAgeMsMax: this.#number('metadata.max.age.ms'),
      requestBytesMax: this.#number('max.request.size', 'bytes'),
      tls: withTls ? this.#tls() : undefined,
      sasl: withSasl ? this.#sasl() : undefined,
    }
    return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
  }

  /** Credentials beside a protocol that does not use them are a mistake that would go out in the clear, or not be used at all. */
  #refuseUnused(protocol: string, withTls: boolean, withSasl: boolean): void {
    for (const property of this.#given.values()) {
      const needs = property.key.startsWith('sasl.') && !withSasl ? ['SASL_PLAINTEXT', 'SASL_SSL']
        : /^(enable\.)?ssl\./.test(property.key) && !withTls ? ['SSL', 'SASL_SSL'] : undefined
      if (needs !== undefined) {
        throw this.#wrong(property.key, `${property.key} has no effect with security.protocol=${protocol}; set security.protocol to ${needs.join(' or ')}`)
      }
    }
  }

  #sasl(): SaslOptions {
    const mechanism = this.#oneOf('sasl.mechanism', mechanisms)
    if (mechanism === undefined) throw this.#wrong('security.protocol', `sasl.mechanism is missing; give one of ${mechanisms.join(', ')}`)
    const jaas = this.#text('sasl.jaas.config')
    const username = this.#text('sasl.username') ?? (jaas === undefined ? undefined : jaasOption(jaas, 'username'))
    const password = this.#text('sasl.password') ?? (jaas === undefined ? undefined : jaasOption(jaas, 'password'))
    if (username === undefined || password === undefined) {
      const missing = username === undefined ? 'username' : 'password'
      throw this.#wrong(jaas === undefined ? 'sasl.mechanism' : 'sasl.jaas.config',
        `no ${missing}; write sasl.jaas.config=<module> required username="…" password="…"; or set sasl.username and sasl.password`)
    }
    return { mechanism: mechanism as SaslOptions['mechanism'], username, password }
  }

  #tls(): ConnectionSettings['tls'] {
    this.#refuseKeystores()
    const ca = this.#pem('ssl.truststore.certificates', 'ssl.truststore.location', 'ssl.ca.pem', 'ssl.ca.location')
    const keystore = this.#pem('ssl.keystore.location')
    const cert = this.#pem('ssl.keystore.certificate.chain', 'ssl.certificate.pem', 'ssl.certificate.location') ?? keystore
    const key = this.#pem('ssl.keystore.key', 'ssl.key.pem', 'ssl.key.location') ?? keystore
    const verify = this.#oneOf('enable.ssl.certificate.verification', ['true', 'false']) !== 'false'
    return {
      verify,
      ...ca === undefined ? {} : { ca },
      ...cert === undefined ? {} : { cert },
      ...key === undefined ? {} : { key },
    }
  }

  #refuseKeystores(): void {
    for (const store of ['ssl.truststore', 'ssl.keystore'] as const) {
      const type = this.#text(`${store}.type`)
      const location = this.#text(`${store}.location`)
      if (type !== undefined && type.toUpperCase() !== 'PEM') {
        throw this.#wrong(`${store}.type`, `${store}.type=${type} cannot be read; export it as PEM (keytool -exportcert -rfc, openssl pkcs12) and set ${store}.type=PEM`)
      }
      if (location !== undefined && /\.(jks|p12|pfx|keystore|truststore)$/i.test(location)) {
        throw this.#wrong(`${store}.location`, `${location} is no PEM file; export it as PEM (keytool -exportcert -rfc, openssl pkcs12)`)
      }
    }
    const identification = this.#text('ssl.endpoint.identification.algorithm')
    if (identification !== undefined && identification.toLowerCase() !== 'https') {
      throw this.#wrong('ssl.endpoint.identification.algorithm',
        'host names of certificates are always checked; only https is accepted (for a test cluster: enable.ssl.certificate.verification=false)')
    }
  }

  /** The first of these that is given: itself where the name does not end in `.location`, else the text of the file. */
  #pem(...keys: readonly string[]): string | undefined {
    const key = keys.find((each) => this.#given.has(each))
    if (key === undefined) return undefined
    const value = this.#text(key)!
    if (!key.endsWith('.location')) return value
    try {
      return this.#readText(value)
    } catch (error) {
      throw this.#wrong(key, `${key}=${value}: ${unreadableReason(error)}`)
    }
  }

  #text(key: string): string | undefined {
    return this.#given.get(key)?.value.trim()
  }

  #number(key: string, unit = 'milliseconds'): number | undefined {
    const text = this.#text(key)
    if (text === undefined) return undefined
    if (!/^\d{1,10}$/.test(text)) throw this.#wrong(key, `${key}=${text} is not a whole number of ${unit}`)
    return Number(text)
  }

  #oneOf(key: string, values: readonly string[]): string | undefined {
    const text = this.#text(key)
    const found = values.find((value) => value.toLowerCase() === text?.toLowerCase())
    if (text !== undefined && found === undefined) throw this.#wrong(key, `${key}=${text} is not one of ${values.join(', ')}`)
    return found
  }

  #wrong(key: string, reason: string): MillraceError {
    return wrong(this.#path, this.#given.get(key)!, reason)
  }
}

/** An option of a login module: `name="value"`, `name='value'` or `name=value`. */
function jaasOption(jaas: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|'((?:[^'\\\\]|\\\\.)*)'|([^\\s;"']+))`).exec(jaas)
  return (found?.[1] ?? found?.[2])?.replaceAll(/\\(.)/g, '$1') ?? found?.[3]
}
