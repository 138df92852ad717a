import { type AdminRoute, type HttpRequest, type HttpResponse } from '../../../kernel/ports/http.ts'
import { MillraceError } from '../../../kernel/errors/millrace-error.ts'

/** Routes by path and method, fixed at start. Two for one place are refused. */
export class RouteTable {
  readonly #routes = new Map<string, Map<string, AdminRoute>>()

  constructor(routes: readonly AdminRoute[]) {
    for (const route of routes) {
      const methods = this.#routes.get(route.path) ?? new Map<string, AdminRoute>()
      if (methods.has(route.method)) {
        throw new MillraceError('MR_HOST_PLUGIN_INVALID', { plugin: 'admin-http', reason: `two plugins serve ${route.method} ${route.path}` })
      }
      this.#routes.set(route.path, methods.set(route.method, route))
    }
  }

  /** The route, or the answer that says why there is none. HEAD is served by GET. */
  find(request: HttpRequest): AdminRoute | HttpResponse {
    const methods = this.#routes.get(request.path)
    if (methods === undefined) return problem(404, `there is nothing at ${request.path}; / lists what there is`)
    const route = methods.get(request.method === 'HEAD' ? 'GET' : request.method)
    return route ?? problem(405, `${request.path} takes ${[...methods.keys()].join(', ')}`)
  }

  list(): readonly AdminRoute[] {
    return [...this.#routes.values()].flatMap((methods) => [...methods.values()]).sort((left, right) => left.path < right.path ? -1 : 1)
  }
}

/** RFC 9457 */
export const problem = (status: number, detail: string): HttpResponse => ({
  status, contentType: 'application/problem+json', body: `${JSON.stringify({ status, detail })}\n`,
})
