import { isMillraceError } from '../../kernel/errors/index.ts'
import { type HttpClient, type HttpRequest, type HttpResponse } from '../../kernel/ports/http.ts'
import { check, checkEqual, checkRejects, type DeclareTest } from './kit.ts'

/** A client, and a server for it to ask. */
export interface HttpClientSubject {
  readonly client: HttpClient
  /** Serves until it is closed; gives the address, `http://HOST:PORT` without a slash. When `close` has resolved nobody listens there. */
  readonly serve: (handle: (request: HttpRequest) => Promise<HttpResponse>) => Promise<{ readonly url: string, readonly close: () => Promise<void> }>
}

/** An HttpClient to examine. */
export interface HttpClientConformance {
  readonly test: DeclareTest
  readonly create: () => HttpClientSubject
}

const text = (body: string | Uint8Array, status = 200): HttpResponse => ({ status, contentType: 'text/plain', body })
const patient = (bodyBytesMax = 1_000_000) => ({ signal: new AbortController().signal, bodyBytesMax })
const secret = 'Bearer of-a-secret'

/** What every HttpClient promises. */
export function httpClientConformance({ test, create }: HttpClientConformance): void {
  const serving = (title: string, handle: (request: HttpRequest) => Promise<HttpResponse>, body: (client: HttpClient, url: string, close: () => Promise<void>) => Promise<void>): void => {
    test(title, async () => {
      const { client, serve } = create()
      const { url, close } = await serve(handle)
      try {
        await body(client, url, close)
      } finally {
        await close()
      }
    })
  }

  serving('method, path, query and body arrive, and the answer comes back in bytes', ({ method, path, query, body }) =>
    Promise.resolve(text(JSON.stringify([method, path, [...query], new TextDecoder().decode(body)]))), async (client, url) => {
    for (const method of ['GET', 'DELETE'] as const) {
      const { status, body } = await client.ask({ method, url: `${url}/a%20b?x=1%262`, headers: {} }, patient())
      checkEqual([status, JSON.parse(new TextDecoder().decode(body))], [200, [method, '/a b', [['x', '1&2']], '']], method)
    }
    for (const method of ['POST', 'PUT'] as const) {
      const { body } = await client.ask({ method, url, headers: { 'content-type': 'text/plain' }, body: 'größe' }, patient())
      checkEqual(JSON.parse(new TextDecoder().decode(body)), [method, '/', [], 'größe'], method)
    }
  })
  serving('any status is an answer, those of redirects and errors too, with its body', ({ path }) => Promise.resolve(text(path, Number(path.slice(1)))), async (client, url) => {
    for (const status of [200, 201, 302, 404, 409, 500, 503]) {
      const answer = await client.ask({ method: 'GET', url: `${url}/${status}`, headers: {} }, patient())
      checkEqual([answer.status, new TextDecoder().decode(answer.body)], [status, `/${status}`], `status ${status}`)
    }
  })
  serving('a body of just the bound is taken, and one byte more is refused', ({ path }) => Promise.resolve(text(new Uint8Array(Number(path.slice(1))).fill(7))), async (client, url) => {
    checkEqual((await client.ask({ method: 'GET', url: `${url}/100000`, headers: {} }, patient(100_000))).body, new Uint8Array(100_000).fill(7), 'the body')
    await checkRejects('MR_NET_HTTP', client.ask({ method: 'GET', url: `${url}/100001`, headers: {} }, patient(100_000)), 'one byte more')
    checkEqual((await client.ask({ method: 'GET', url: `${url}/0`, headers: {} }, patient(0))).body.length, 0, 'nothing, of which nothing is allowed')
  })
  serving('where nobody listens it rejects with MR_NET_HTTP, and says nothing of headers and body', () => Promise.resolve(text('')), async (client, url, close) => {
    await close()
    const error = await client.ask({ method: 'POST', url, headers: { authorization: secret }, body: secret }, patient()).then(() => undefined, (reason: unknown) => reason)
    check(isMillraceError(error, 'MR_NET_HTTP'), `it is MR_NET_HTTP, not ${String(error)}`)
    check(!`${error.message} ${JSON.stringify(error.details)} ${String(error.cause)}`.includes('of-a-secret'), 'no secret is in the error')
  })
  serving('a signal that has ended, or ends while the answer is waited for, ends the call with its own reason', () => new Promise(() => undefined), async (client, url) => {
    const before = new AbortController()
    before.abort(new Error('too late'))
    const ended = await client.ask({ method: 'GET', url, headers: {} }, { signal: before.signal, bodyBytesMax: 100 }).then(() => undefined, (reason: unknown) => reason)
    check(ended === before.signal.reason, `it is the reason of the signal, not ${String(ended)}`)
    const later = new AbortController()
    const call = client.ask({ method: 'GET', url, headers: {} }, { signal: later.signal, bodyBytesMax: 100 }).then(() => undefined, (reason: unknown) => reason)
    later.abort(new Error('long enough'))
    check(await call === later.signal.reason, 'the call ends with the reason')
  })
}
