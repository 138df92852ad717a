import { type HttpRequest, type HttpResponse, type HttpServer } from '../../kernel/ports/http.ts'
import { type Listener } from '../../kernel/ports/network.ts'
import { checkEqual, checkRejects, type DeclareTest } from './kit.ts'

/** A server, and a client to ask it. */
export interface HttpSubject {
  readonly server: HttpServer
  /** Sends one request as a client would, `target` with its query, and gives the answer. */
  readonly ask: (listener: Listener, method: string, target: string, body?: Uint8Array) => Promise<{ readonly status: number, readonly contentType: string, readonly body: string }>
}

/** What is examined, and with whose `test`. `create` is called for each test. */
export interface HttpServerConformance {
  readonly test: DeclareTest
  readonly create: () => HttpSubject
}

const at = { host: '127.0.0.1', port: 0 }
const text = (body: string, status = 200): HttpResponse => ({ status, contentType: 'text/plain', body })

/** What every HttpServer promises. */
export function httpServerConformance({ test, create }: HttpServerConformance): void {
  const serving = (title: string, handle: (request: HttpRequest) => Promise<HttpResponse>, body: (subject: HttpSubject, listener: Listener) => Promise<void>): void => {
    test(title, async () => {
      const subject = create()
      const listener = await subject.server.listen(at, handle)
      try {
        await body(subject, listener)
      } finally {
        await listener.close()
      }
    })
  }

  serving('a request comes with method, decoded path, query and body', ({ method, path, query, body }) =>
    Promise.resolve(text(JSON.stringify([method, path, [...query], new TextDecoder().decode(body)]))), async ({ ask }, listener) => {
    const { body } = await ask(listener, 'POST', '/a%20b/c?x=1%262&empty=', new TextEncoder().encode('hello'))
    checkEqual(JSON.parse(body), ['POST', '/a b/c', [['x', '1&2'], ['empty', '']], 'hello'], 'what the handler was given')
    checkEqual(JSON.parse((await ask(listener, 'GET', '/')).body), ['GET', '/', [], ''], 'what it was given of a request without anything')
  })
  serving('status, content type and body of the answer go back, a body of bytes as of text', ({ path }) =>
    Promise.resolve(path === '/bytes' ? { status: 201, contentType: 'application/json', body: new TextEncoder().encode('{}') } : text('text', 404)), async ({ ask }, listener) => {
    checkEqual(await ask(listener, 'GET', '/bytes'), { status: 201, contentType: 'application/json', body: '{}' }, 'the answer in bytes')
    checkEqual(await ask(listener, 'GET', '/text'), { status: 404, contentType: 'text/plain', body: 'text' }, 'the answer in text')
  })
  serving('a handler that rejects is answered with 500 and no word of its error, and the next request is served', ({ path }) =>
    path === '/bad' ? Promise.reject(new Error('a secret')) : Promise.resolve(text('good')), async ({ ask }, listener) => {
    const { status, body } = await ask(listener, 'GET', '/bad')
    checkEqual([status, body.includes('secret')], [500, false], 'the answer for the handler')
    checkEqual((await ask(listener, 'GET', '/good')).body, 'good', 'the next answer')
  })
  serving('a body of 1 MiB is taken, and a larger one refused with 413 without the handler', ({ body }) => Promise.resolve(text(String(body.length))), async ({ ask }, listener) => {
    checkEqual((await ask(listener, 'POST', '/', new Uint8Array(1 << 20))).body, String(1 << 20), 'a body of 1 MiB')
    checkEqual((await ask(listener, 'POST', '/', new Uint8Array((1 << 20) + 1))).status, 413, 'one byte more')
  })
  serving('an address that is taken is refused', () => Promise.resolve(text('')), async ({ server }, { endpoint }) => {
    await checkRejects('MR_NET_ADDRESS_IN_USE', server.listen(endpoint, () => Promise.resolve(text(''))), 'listening twice')
  })
  test('an address is free again when its listener is closed', async () => {
    const { server } = create()
    const first = await server.listen(at, () => Promise.resolve(text('')))
    await first.close()
    const second = await server.listen(first.endpoint, () => Promise.resolve(text('')))
    await second.close()
  })
}
