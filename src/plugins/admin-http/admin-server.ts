import { type AdminRoute, type HttpRequest, type HttpResponse, type HttpServer } from '../../kernel/ports/http.ts'
import { MillraceError, isMillraceError } from '../../kernel/errors/index.ts'
import { type Lifecycle, type ServedEndpoint } from '../../kernel/ports/lifecycle.ts'
import { type Endpoint, type Listener } from '../../kernel/ports/network.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { isLoopback, parseEndpoint } from './core/listen-address.ts'
import { indexPage } from './core/index-page.ts'
import { RouteTable, problem } from './core/route-table.ts'

export interface AdminServerOptions {
  readonly listen: string
  readonly insecure: boolean
}

/** Serves every contributed route on one address. */
export class AdminServer implements Lifecycle, ServedEndpoint {
  readonly protocol = 'http' as const
  /** Undefined: nothing is served. */
  readonly #at: Endpoint | undefined
  readonly #server: HttpServer
  readonly #routes: RouteTable
  readonly #logger: Logger
  #listener: Listener | undefined

  /** Throws MR_NET_INSECURE for an address beyond this machine that `insecure` does not allow: before anything of the broker is started. */
  constructor(options: AdminServerOptions, server: HttpServer, routes: readonly AdminRoute[], logger: Logger) {
    this.#at = options.listen === 'off' ? undefined : parseEndpoint(options.listen)
    if (this.#at !== undefined && !isLoopback(this.#at.host) && !options.insecure) throw new MillraceError('MR_NET_INSECURE', { host: this.#at.host })
    this.#server = server
    this.#logger = logger.child({ part: 'admin-http' })
    this.#routes = new RouteTable(routes)
  }

  endpoint(): Endpoint | undefined {
    return this.#listener?.endpoint
  }

  async start(): Promise<void> {
    if (this.#at !== undefined) this.#listener = await this.#server.listen(this.#at, (request) => this.#handle(request))
  }

  async stop(): Promise<void> {
    const listener = this.#listener
    this.#listener = undefined
    await listener?.close()
  }

  async #handle(request: HttpRequest): Promise<HttpResponse> {
    if (request.path === '/') return /^(GET|HEAD)$/.test(request.method) ? indexPage(this.#routes.list()) : problem(405, '/ takes GET')
    const route = this.#routes.find(request)
    if ('status' in route) return route
    try {
      return await route.handle(request)
    } catch (error) {
      if (isMillraceError(error)) return problem(error.row.http, error.message)
      this.#logger.error('an HTTP route failed', { path: request.path, error })
      return problem(500, 'the route failed; the log of the broker says why')
    }
  }
}
