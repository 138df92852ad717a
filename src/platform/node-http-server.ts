import * as http from 'node:http'
import { type Socket } from 'node:net'
import { type HttpRequest, type HttpResponse, type HttpServer } from '../kernel/ports/http.ts'
import { type Endpoint, type Listener } from '../kernel/ports/network.ts'
import { startListening } from './node-network.ts'

const bodyBytesMax = 1024 * 1024
/** Whoever looks at a broker needs a few; the files that the process may have open are for its logs and clients. */
const connectionsMax = 128

type Handle = (request: HttpRequest) => Promise<HttpResponse>

/** HTTP/1.1 for operators: small requests, small answers, one at a time on a connection. Closing the listener ends connections that are idle, others after their answer. */
export class NodeHttpServer implements HttpServer {
  listen(at: Endpoint, handle: Handle): Promise<Listener> {
    const server = http.createServer({
      requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 5000, connectionsCheckingInterval: 5000,
    }, (request, response) => {
      const before = turns.get(request.socket)
      const turn = before === undefined ? take() : before.then(take)
      turns.set(request.socket, turn)
      async function take(): Promise<void> {
        // Nobody waits for it any more.
        if (request.socket.destroyed) return
        send(response, await answer(request, handle), !server.listening)
        await gone(response)
      }
    })
    server.maxConnections = connectionsMax
    /** The last request of each connection, when its answer is on its way: who sends a thousand at once does not have them all made at once. */
    const turns = new WeakMap<Socket, Promise<void>>()
    // A peer that talks no HTTP is answered and cut; that is nobody's failure here.
    server.on('clientError', (_error, socket) => {
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
      else socket.destroy()
    })
    return startListening(server, at, () => server.closeIdleConnections())
  }
}

async function answer(request: http.IncomingMessage, handle: Handle): Promise<HttpResponse> {
  const target = parseTarget(request.url ?? '/')
  if (target === undefined) return plain(400, 'the path is not a valid one\n')
  const foreign = foreignOrigin(request)
  if (foreign !== undefined) return problem(403, `${foreign} is another site than this one; only pages of this address may send ${request.method!} requests`)
  const body = await readBody(request)
  if (body === 'too large') return plain(413, `a body may have ${bodyBytesMax} bytes\n`)
  if (body === 'broken') return plain(400, 'the body ended early\n')
  try {
    return await handle({ method: request.method ?? 'GET', ...target, body })
  } catch {
    // Whoever handles requests turns its errors into answers; one that gets here has no words for a stranger.
    return plain(500, 'internal error\n')
  }
}

function send(response: http.ServerResponse, { status, contentType, body }: HttpResponse, last: boolean): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': bytes.length,
    'X-Content-Type-Options': 'nosniff',
    // After a refused body the rest of it is still on its way; after the listener closed nobody waits for more requests.
    ...(last || status === 413 ? { Connection: 'close' } : {}),
  })
  response.end(bytes)
}

/** Resolves when the system has taken the answer, or the connection is gone. */
function gone(response: http.ServerResponse): Promise<void> {
  return new Promise(resolve => {
    if (response.writableFinished || response.destroyed) resolve()
    else response.once('finish', resolve).once('close', resolve)
  })
}

function parseTarget(url: string): Pick<HttpRequest, 'path' | 'query'> | undefined {
  const mark = url.indexOf('?')
  try {
    const path = decodeURIComponent(mark < 0 ? url : url.slice(0, mark))
    return { path, query: new Map(new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1))) }
  } catch {
    return undefined
  }
}

function readBody(request: http.IncomingMessage): Promise<Uint8Array | 'too large' | 'broken'> {
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= bodyBytesMax) chunks.push(chunk)
      else {
        chunks.length = 0
        request.pause()
        resolve('too large')
      }
    })
    request.on('end', () => resolve(Uint8Array.from(Buffer.concat(chunks))))
    request.on('error', () => resolve('broken'))
    request.on('aborted', () => resolve('broken'))
  })
}

/**
 * The site whose page sent this, where that is another one and the request may change something: browsers send such requests for any page that is open in them, and
 * say whose it is. Who points a name of his own at this address (DNS rebinding) is not found out here.
 */
function foreignOrigin({ method, headers }: http.IncomingMessage): string | undefined {
  const { origin } = headers
  if (origin === undefined || method === 'GET' || method === 'HEAD') return undefined
  return URL.canParse(origin) && new URL(origin).host === headers.host?.toLowerCase() ? undefined : origin
}

const problem = (status: number, detail: string): HttpResponse => ({ status, contentType: 'application/problem+json', body: `${JSON.stringify({ status, detail })}\n` })

const plain = (status: number, text: string): HttpResponse => ({ status, contentType: 'text/plain; charset=utf-8', body: text })
