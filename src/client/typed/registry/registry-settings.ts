import { type BackoffOptions } from '../../../base/backoff.ts'
import { type Clock, type Random, type Timers } from '../../../kernel/ports/clock.ts'
import { type HttpClient } from '../../../kernel/ports/http.ts'
import { unknownName } from '../../arguments.ts'
import { durationMs, integer, settingError } from '../../client-options.ts'
import { base64OfText } from './base64-of-text.ts'

/** What a registry's client knows of the machine it runs on. */
export interface RegistryWorld {
  /** For how long answers are remembered. */
  readonly clock: Clock
  /** For deadlines and for waits between attempts. */
  readonly timers: Timers
  /** For the jitter of those waits. */
  readonly random: Random
  /** What asks the registry. */
  readonly http: HttpClient
}

/** Who a client of the registry is: a user with a password (Basic), or a bearer token. */
export type RegistryAuth =
  | { readonly username: string, readonly password: string }
  /** A bearer token, or a function that gives one: it is called for every request, and caches by itself. */
  | { readonly token: string | (() => string | Promise<string>) }

/**
 * How to reach a registry, and what to remember of it. Durations are whole numbers of milliseconds from 1 to 2147483647; what is out of its range is refused
 * with MR_CLIENT_SETTING, which names the option.
 */
export interface SchemaRegistryOptions {
  /** Of the registry, or of several of one cluster: when one cannot be had the next is asked. A user and a password in it are taken as `auth` for it. */
  readonly url: string | readonly string[]
  /** Sent to every registry of the list that has no user in its URL. Default: none. */
  readonly auth?: RegistryAuth
  /** Sent with each request. Their values are kept out of errors, as `auth` is. */
  readonly headers?: Readonly<Record<string, string>>
  /** How long one registry may take for one answer. Default 10000. */
  readonly timeoutMs?: number
  /** How often each registry is asked before a call fails: 1 to 100. Default 3. */
  readonly attemptsMax?: number
  /** The wait before the second attempt; each further one is twice as long, with jitter of 20 %, up to `retryBackoffMsMax`. Default 100. */
  readonly retryBackoffMs?: number
  /** The longest such wait; where it is less than `retryBackoffMs`, that counts. Default 2000. */
  readonly retryBackoffMsMax?: number
  /** How many schemas, ids and latest versions are remembered, of each: 1 to 10000000. Default 1000. */
  readonly cacheEntriesMax?: number
  /** For how long the latest version of a subject is taken from memory. Default 300000. */
  readonly latestAgeMsMax?: number
  /** For how long an id that is not there is not asked for again. Default 5000. */
  readonly missingAgeMsMax?: number
  /** The largest answer that is accepted: 1024 to 2147483647 bytes. Default 4194304. */
  readonly answerBytesMax?: number
  /** Lets the registry compare schemas in their normal form when they are registered and found. Default false. */
  readonly normalize?: boolean
  /** Parts of the world to use instead of this machine's: for tests and simulations. */
  readonly world?: Partial<RegistryWorld>
}

export interface RegistryUrl {
  /** Without a slash at the end, a user or a password. */
  readonly base: string
  readonly authorization: string | undefined
}

export interface RegistrySettings {
  readonly urls: readonly RegistryUrl[]
  readonly token: (() => string | Promise<string>) | undefined
  readonly headers: Readonly<Record<string, string>>
  /** What must not be in an error, wherever it comes from. */
  readonly secrets: readonly string[]
  readonly timeoutMs: number
  readonly attemptsMax: number
  readonly backoff: BackoffOptions
  readonly cacheEntriesMax: number
  readonly latestAgeMsMax: number
  readonly missingAgeMsMax: number
  readonly answerBytesMax: number
  readonly normalize: boolean
}

const names = Object.keys({
  url: true, auth: true, headers: true, timeoutMs: true, attemptsMax: true, retryBackoffMs: true, retryBackoffMsMax: true, cacheEntriesMax: true,
  latestAgeMsMax: true, missingAgeMsMax: true, answerBytesMax: true, normalize: true, world: true,
} satisfies Record<keyof SchemaRegistryOptions, true>)

/** Throws MR_CLIENT_SETTING. */
export function registrySettings(given: SchemaRegistryOptions): RegistrySettings {
  if (typeof given !== 'object' || given === null) throw settingError('schemaRegistry', 'it takes { url, … }')
  const unknown = unknownName(given, names, { baseUrl: 'url', urls: 'url', username: 'auth: { username, password }', password: 'auth: { username, password }', token: 'auth: { token }', retries: 'attemptsMax' })
  if (unknown !== undefined) throw settingError('schemaRegistry', unknown)
  const { auth, headers = {} } = given
  for (const [name, value] of Object.entries(headers)) headerText(`schemaRegistry.headers.${name}`, value)
  const { authorization, secrets, token } = authSettings(auth)
  const urls = (Array.isArray(given.url) ? given.url as readonly string[] : [given.url as string]).map((url, index) => registryUrl(url, index, authorization))
  if (urls.length === 0) throw settingError('schemaRegistry.url', 'it names no registry')
  const backoffMs = durationMs('schemaRegistry.retryBackoffMs', given.retryBackoffMs, 100)
  return {
    urls: urls.map(({ base, authorization: own }) => ({ base, authorization: own })),
    token,
    headers,
    secrets: [...new Set([...secrets, ...urls.flatMap(each => each.secrets), ...Object.values(headers)])].filter(each => each !== ''),
    timeoutMs: durationMs('schemaRegistry.timeoutMs', given.timeoutMs, 10_000),
    attemptsMax: integer('schemaRegistry.attemptsMax', given.attemptsMax, 3, 1, 100),
    backoff: { initialMs: backoffMs, maxMs: Math.max(backoffMs, durationMs('schemaRegistry.retryBackoffMsMax', given.retryBackoffMsMax, 2000)), multiplier: 2, jitter: 0.2 },
    cacheEntriesMax: integer('schemaRegistry.cacheEntriesMax', given.cacheEntriesMax, 1000, 1, 10_000_000),
    latestAgeMsMax: durationMs('schemaRegistry.latestAgeMsMax', given.latestAgeMsMax, 300_000),
    missingAgeMsMax: durationMs('schemaRegistry.missingAgeMsMax', given.missingAgeMsMax, 5000),
    answerBytesMax: integer('schemaRegistry.answerBytesMax', given.answerBytesMax, 4_194_304, 1024, 0x7fff_ffff),
    normalize: given.normalize ?? false,
  }
}

/** The message of a server, without what it must not repeat. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((so, secret) => so.replaceAll(secret, '***'), text)
}

/** Refuses what would break out of its header, without showing it. */
export function headerText(key: string, value: unknown): string {
  if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw settingError(key, 'it is no text that fits into a header')
  return value
}

function authSettings(auth: RegistryAuth | undefined): { authorization?: string, secrets: string[], token: RegistrySettings['token'] } {
  if (auth === undefined) return { secrets: [], token: undefined }
  const { username, password, token } = auth as { readonly username?: unknown, readonly password?: unknown, readonly token?: unknown }
  if (typeof token === 'function' && username === undefined) return { secrets: [], token: token as () => string | Promise<string> }
  if (typeof token === 'string' && username === undefined) return { authorization: `Bearer ${headerText('schemaRegistry.auth.token', token)}`, secrets: [token], token: undefined }
  if (typeof username === 'string' && typeof password === 'string' && token === undefined) {
    const encoded = base64OfText(`${username}:${password}`)
    return { authorization: `Basic ${encoded}`, secrets: [encoded, password], token: undefined }
  }
  throw settingError('schemaRegistry.auth', 'it is { username, password } or { token }')
}

/** The address is not shown where it is refused: it may have a password in it. */
function registryUrl(given: unknown, index: number, authorization: string | undefined): RegistryUrl & { readonly secrets: readonly string[] } {
  const key = `schemaRegistry.url[${index}]`
  if (typeof given !== 'string' || !URL.canParse(given)) throw settingError(key, 'it is no URL, such as http://127.0.0.1:8081')
  const url = new URL(given)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw settingError(key, 'it is no http or https URL')
  if (url.search !== '' || url.hash !== '') throw settingError(key, 'it has a query or a fragment, which would be lost')
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const base = `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`
  if (username === '' && password === '') return { base, authorization, secrets: [] }
  const encoded = base64OfText(`${username}:${password}`)
  return { base, authorization: `Basic ${encoded}`, secrets: [encoded, password, url.password] }
}
