import { MillraceError } from '../../kernel/errors/index.ts'
import { type HttpRequest, type HttpResponse, type HttpServer } from '../../kernel/ports/http.ts'
import { type Endpoint, type Listener } from '../../kernel/ports/network.ts'

const bodyBytesMax = 1024 * 1024

type Handle = (request: HttpRequest) => Promise<HttpResponse>

/** HTTP without bytes: what listens is asked by calling `request`. */
export class MemoryHttpServer implements HttpServer {
  private readonly handlers = new Map<number, Handle>()
  private nextPort = 30_000

  async listen(at: Endpoint, handle: Handle): Promise<Listener> {
    const port = at.port === 0 ? this.nextPort++ : at.port
    if (this.handlers.has(port)) throw new MillraceError('MR_NET_ADDRESS_IN_USE', { host: at.host, port })
    this.handlers.set(port, handle)
    return {
      endpoint: { host: at.host, port },
      close: async () => {
        if (this.handlers.get(port) === handle) this.handlers.delete(port)
      },
    }
  }

  /** Asks as a client would. `target` is a path with an optional query. Rejects with MR_NET_CONNECT where nobody listens. */
  async request(port: number, target: string, options: { readonly method?: string, readonly body?: Uint8Array } = {}): Promise<HttpResponse> {
    const { method = 'GET', body = new Uint8Array(0) } = options
    const handle = this.handlers.get(port)
    if (handle === undefined) throw new MillraceError('MR_NET_CONNECT', { host: 'memory', port, reason: 'ECONNREFUSED' })
    if (body.length > bodyBytesMax) return plain(413, 'too large\n')
    const mark = target.indexOf('?')
    const path = decodeURIComponent(mark < 0 ? target : target.slice(0, mark))
    const query = new Map(mark < 0 ? [] : pairsOf(target.slice(mark + 1)))
    try {
      return await handle({ method, path, query, body })
    } catch {
      return plain(500, 'internal error\n')
    }
  }

  /** All listeners are gone: the process ended. */
  crash(): void {
    this.handlers.clear()
  }
}

function pairsOf(query: string): (readonly [string, string])[] {
  return query.split('&').filter(part => part !== '').map(part => {
    const mark = part.indexOf('=')
    const [name, value] = mark < 0 ? [part, ''] : [part.slice(0, mark), part.slice(mark + 1)]
    return [decodeURIComponent(name), decodeURIComponent(value.replaceAll('+', ' '))]
  })
}

const plain = (status: number, text: string): HttpResponse => ({ status, contentType: 'text/plain; charset=utf-8', body: text })
