import { backoffMs } from '../../../base/backoff.ts'
import { isMillraceError, MillraceError, reasonOf, type ErrorCode } from '../../../kernel/errors/index.ts'
import { type HttpAnswer } from '../../../kernel/ports/http.ts'
import { pause } from '../../pause.ts'
import { headerText, withoutSecrets, type RegistrySettings, type RegistryUrl, type RegistryWorld } from './registry-settings.ts'

export interface RegistryQuestion {
  /** For errors, e.g. `schema 7`. */
  readonly what: string
  readonly method: 'GET' | 'POST'
  /** Begins with a slash; its parts are encoded. */
  readonly path: string
  readonly body?: object
}

const contentType = 'application/vnd.schemaregistry.v1+json'
const accept = `${contentType}, application/json`

/** Asks one registry after another, again after a while, until one has given an answer that counts. */
export class RegistryCalls {
  private readonly world: RegistryWorld
  private readonly settings: RegistrySettings
  /** The one that answered last is asked first. */
  private first = 0

  constructor(world: RegistryWorld, settings: RegistrySettings) {
    this.world = world
    this.settings = settings
  }

  /** The answer's JSON. */
  async ask(question: RegistryQuestion): Promise<unknown> {
    const { urls, attemptsMax, backoff, secrets } = this.settings
    let reason = ''
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      if (attempt > 1) await pause(this.world.timers, backoffMs(attempt - 1, backoff, () => this.world.random.fraction()))
      const from = this.first
      for (let step = 0; step < urls.length; step++) {
        const index = (from + step) % urls.length
        const url = urls[index]!
        try {
          const answer = await this.once(url, question)
          if (answer.status < 500 && answer.status !== 429 && answer.status !== 408) {
            this.first = index
            return this.accepted(question, url, answer)
          }
          reason = `${url.base} answered ${answer.status}: ${messageIn(answer, secrets).message}`
        } catch (error) {
          if (!isMillraceError(error, 'MR_NET_HTTP')) throw error
          reason = `${url.base}: ${reasonOf(error)}`
        }
      }
    }
    throw new MillraceError('MR_REGISTRY_UNAVAILABLE', { what: question.what, urls: urls.map(({ base }) => base).join(', '), reason })
  }

  private async once({ base, authorization }: RegistryUrl, { method, path, body }: RegistryQuestion): Promise<HttpAnswer> {
    const { token, headers: own, timeoutMs, answerBytesMax } = this.settings
    const auth = token === undefined ? authorization : `Bearer ${headerText('schemaRegistry.auth.token', await token())}`
    const headers = {
      Accept: accept, ...(body === undefined ? {} : { 'Content-Type': contentType }), ...own, ...(auth === undefined ? {} : { Authorization: auth }),
    }
    const controller = new AbortController()
    const timer = this.world.timers.after(timeoutMs, () => {
      controller.abort(new MillraceError('MR_NET_HTTP', { host: new URL(base).host, reason: `it did not answer within ${timeoutMs} ms` }))
    })
    try {
      return await this.world.http.ask({ method, url: base + path, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }, { signal: controller.signal, bodyBytesMax: answerBytesMax })
    } finally {
      timer.cancel()
    }
  }

  private accepted({ what }: RegistryQuestion, { base: url }: RegistryUrl, answer: HttpAnswer): unknown {
    const { status } = answer
    if (status >= 200 && status < 300) {
      const value = jsonIn(answer)
      if (value !== undefined) return value
      throw new MillraceError('MR_REGISTRY_REFUSED', { what, url, status, reason: 'it is no JSON; see whether that is the address of a schema registry' })
    }
    const { message, errorCode } = messageIn(answer, this.settings.secrets)
    throw new MillraceError(codeFor(status), { what, url, status, errorCode, reason: message })
  }
}

function codeFor(status: number): ErrorCode {
  switch (status) {
    case 401: case 403: return 'MR_REGISTRY_UNAUTHORIZED'
    case 404: return 'MR_REGISTRY_NOT_FOUND'
    case 409: return 'MR_REGISTRY_INCOMPATIBLE'
    default: return 'MR_REGISTRY_REFUSED'
  }
}

function jsonIn({ body }: HttpAnswer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch {
    return undefined
  }
}

/** What a registry says of a failure. Other servers' pages are not repeated. */
function messageIn(answer: HttpAnswer, secrets: readonly string[]): { readonly message: string, readonly errorCode: number | undefined } {
  const { message, error_code: errorCode } = (jsonIn(answer) ?? {}) as { readonly message?: unknown, readonly error_code?: unknown }
  return {
    message: typeof message === 'string' ? withoutSecrets(message, secrets) : answer.status >= 300 && answer.status < 400 ? 'a redirect, which is not followed' : 'no reason is given',
    errorCode: typeof errorCode === 'number' ? errorCode : undefined,
  }
}
