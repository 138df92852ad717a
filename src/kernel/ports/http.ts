import { token } from '../plugin/token.ts'
import { type Endpoint, type Listener } from './network.ts'

/** A request that came whole. Its bytes are the handler's. */
export interface HttpRequest {
  /** In capitals. */
  readonly method: string
  /** Decoded path, without the query. */
  readonly path: string
  /** Decoded; of a name that comes twice the last value. */
  readonly query: ReadonlyMap<string, string>
  /** Empty where there is none. */
  readonly body: Uint8Array
}

/** What is answered. A text goes out as UTF-8. */
export interface HttpResponse {
  /** As HTTP has it. */
  readonly status: number
  /** The header, with its charset where it is a text. */
  readonly contentType: string
  /** Goes out whole. */
  readonly body: string | Uint8Array
}

/** Serves HTTP/1.1 on one address. Bodies over 1 MiB are refused with 413. */
export interface HttpServer {
  /** Rejects with MR_NET_ADDRESS_IN_USE or MR_NET_LISTEN. A handler that rejects is answered with 500. */
  listen(at: Endpoint, handle: (request: HttpRequest) => Promise<HttpResponse>): Promise<Listener>
}
export const HttpServer = token<HttpServer>('HttpServer', { listen: true })

/** Contribution: a path of the operators' HTTP. */
export interface AdminRoute {
  /** Another one on the path is answered with 405. */
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** An exact path, such as `/metrics`. */
  readonly path: string
  /** One line for the index of routes. */
  readonly summary: string
  /**
   * Answers one request; several may be under way. A MillraceError that it rejects with is answered with the HTTP status of its code and its message, as
   * `application/problem+json`; anything else with 500 and no detail, and a line in the log. It has no deadline of its own: keep one where it waits for others.
   */
  handle(request: HttpRequest): Promise<HttpResponse>
}
export const AdminRoute = token<AdminRoute>('AdminRoute', { handle: true })

/** One request to a server. The body is sent as UTF-8. */
export interface HttpCall {
  /** In capitals. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `http:` or `https:`, without a user in it. */
  readonly url: string
  /** By name, as they are sent. */
  readonly headers: Readonly<Record<string, string>>
  /** None where it is left out. */
  readonly body?: string
}

/** A whole answer. The bytes are the caller's. */
export interface HttpAnswer {
  /** Any, errors too. */
  readonly status: number
  /** As it came; empty where there is none. */
  readonly body: Uint8Array
}

/** The bounds of one call. */
export interface HttpAskOptions {
  /** Ends the call: the only bound of its time. */
  readonly signal: AbortSignal
  /** A longer body is not read to its end: the call rejects. */
  readonly bodyBytesMax: number
}

/** Asks servers over HTTP. */
export interface HttpClient {
  /**
   * Resolves with any whole answer, whatever its status; redirects are answers, and are not followed. Rejects with MR_NET_HTTP when there is none or it is too
   * long, and with the signal's reason when that came first. No error has headers or bodies in it. A call that rejects may have been carried out.
   */
  ask(call: HttpCall, options: HttpAskOptions): Promise<HttpAnswer>
}
export const HttpClient = token<HttpClient>('HttpClient', { ask: true })
