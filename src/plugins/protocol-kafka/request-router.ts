import { AssertionError } from '../../base/assert.ts'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { type FatalErrors } from '../../kernel/ports/lifecycle.ts'
import { type Exchange, type ProtocolHandler } from '../../kernel/ports/protocol-handler.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { apiName } from '../../wire/api-keys.ts'
import { kafkaErrors } from '../../wire/kafka-error-codes.ts'
import { wireApi } from '../../wire/messages/index.ts'
import { type Api } from '../../wire/schema/message.ts'
import { codeOf } from './core/error-code.ts'
import { advertisedMin } from './core/version-ranges.ts'
import { type ApiInstruments, type ProtocolMetrics } from './metrics.ts'

/** An API with its handler, its codecs and its instruments. */
export interface ServedApi {
  readonly key: number
  readonly name: string
  readonly min: number
  readonly max: number
  readonly advertisedMin: number
  readonly api: Api
  readonly handler: ProtocolHandler
  readonly instruments: ApiInstruments
}

/** Knows who serves what, and hands requests over. */
export class RequestRouter {
  /** Ascending by key. */
  readonly apis: readonly ServedApi[]
  private readonly byKey: (ServedApi | undefined)[] = []
  private readonly logger: Logger
  private readonly fatal: FatalErrors
  private readonly metrics: ProtocolMetrics

  /** Throws MR_PROTOCOL_HANDLER when two handlers serve one API, or one serves what can not be read. */
  constructor(handlers: readonly ProtocolHandler[], logger: Logger, metrics: ProtocolMetrics, fatal: FatalErrors) {
    this.logger = logger
    this.metrics = metrics
    this.fatal = fatal
    for (const handler of handlers) {
      const { apiKey: key, minVersion: min, maxVersion: max } = handler
      const api = wireApi(key)
      if (this.byKey[key] !== undefined) throw wrong(key, 'two plugins serve it')
      if (api === undefined) throw wrong(key, 'its messages are not known')
      if (min > max || min < api.versions.min || max > api.versions.max) {
        throw wrong(key, `versions ${min} to ${max} are served, and ${api.versions.min} to ${api.versions.max} can be read`)
      }
      this.byKey[key] = { key, name: api.name, min, max, advertisedMin: advertisedMin(key, min), api, handler, instruments: metrics.api(key) }
    }
    this.apis = this.byKey.filter((served) => served !== undefined)
  }

  served(key: number): ServedApi | undefined {
    return this.byKey[key]
  }

  /** Hands a request to its handler. Whatever goes wrong there is answered, or closes the connection; it never comes out here. */
  handle(served: ServedApi, request: unknown, exchange: Exchange): void {
    served.instruments.requests.add(1)
    try {
      served.handler.handle(request, exchange)
    } catch (error) {
      this.failed(served, request, exchange, error)
    }
  }

  /** Answers an error that a handler threw, or found out later. */
  failed(served: ServedApi, request: unknown, exchange: Exchange, error: unknown): void {
    if (error instanceof AssertionError) {
      this.fatal.fatal(error, `${served.name} v${exchange.apiVersion}`)
      exchange.abort(error)
      return
    }
    const code = codeOf(error, served.key, exchange.apiVersion)
    if (!isMillraceError(error) || code === kafkaErrors.UNKNOWN_SERVER_ERROR) {
      this.logger.error('a request failed for a reason that is not the client\'s', {
        api: served.name, version: exchange.apiVersion, clientId: exchange.clientId, peer: exchange.peer.host, error,
      })
    }
    this.metrics.error(served.key, code)
    const response = served.handler.failure(request, code, exchange)
    if (response === undefined) exchange.abort(error)
    else exchange.reply(response)
  }
}

const wrong = (key: number, reason: string): MillraceError => new MillraceError('MR_PROTOCOL_HANDLER', { api: apiName(key), reason })
