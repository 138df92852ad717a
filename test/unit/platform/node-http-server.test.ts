import { once } from 'node:events'
import * as net from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type HttpRequest, type HttpResponse } from '../../../src/kernel/ports/http.ts'
import { type Listener } from '../../../src/kernel/ports/network.ts'
import { NodeHttpServer } from '../../../src/platform/node-http-server.ts'

const listeners: Listener[] = []
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close()
})

async function serve(handle: (request: HttpRequest) => Promise<HttpResponse>): Promise<{ readonly url: string, readonly port: number }> {
  const listener = await new NodeHttpServer().listen({ host: '127.0.0.1', port: 0 }, handle)
  listeners.push(listener)
  return { url: `http://127.0.0.1:${listener.endpoint.port}`, port: listener.endpoint.port }
}

const ok = (body: string): HttpResponse => ({ status: 200, contentType: 'text/plain', body })

/** Sends raw bytes and gives all that is answered. */
async function talk(port: number, request: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', chunk => {
    answer += chunk.toString()
  })
  socket.write(request)
  await once(socket, 'close')
  return answer
}

describe('NodeHttpServer', () => {
  test('a request comes with method, decoded path, query and body, and the answer goes back', async () => {
    const seen: HttpRequest[] = []
    const { url } = await serve(request => {
      seen.push(request)
      return Promise.resolve({ status: 201, contentType: 'application/json', body: new TextEncoder().encode('{"a":1}') })
    })
    const response = await fetch(`${url}/a%20b/c?x=1%262&empty=`, { method: 'POST', body: 'hello' })
    expect(response.status).toBe(201)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.text()).toBe('{"a":1}')
    const [request] = seen
    expect(request).toMatchObject({ method: 'POST', path: '/a b/c' })
    expect([...request!.query]).toEqual([['x', '1&2'], ['empty', '']])
    expect(new TextDecoder().decode(request!.body)).toBe('hello')
  })

  test('requests that are sent at once on one connection are handled one after the other, in order, and not at all once it is gone', async () => {
    let [underWay, most, count] = [0, 0, 0]
    const client: { leave?: () => void } = {}
    const { port } = await serve(async request => {
      most = Math.max(most, ++underWay)
      count++
      await new Promise(resolve => { setImmediate(resolve) })
      underWay--
      if (request.path === '/5') client.leave?.()
      return ok(`answer to ${request.path}`)
    })
    const requests = (last: string): string => Array.from({ length: 20 }, (_, index) => `GET /${index} HTTP/1.1\r\nHost: a\r\n${index === 19 ? last : ''}\r\n`).join('')
    const answers = [...(await talk(port, requests('Connection: close\r\n'))).matchAll(/answer to \/(\d+)/g)].map(([, number]) => Number(number))
    expect(answers).toEqual(Array.from({ length: 20 }, (_, index) => index))
    expect(most).toBe(1)
    const socket = net.connect(port, '127.0.0.1')
    count = 0
    client.leave = () => { socket.destroy() }
    socket.write(requests(''))
    await once(socket, 'close')
    // Another connection's answer comes after all that was still to come of this one.
    await talk(port, 'GET /other HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(count).toBeLessThan(20)
  })

  test('a body of 1 MiB is taken, a larger one is refused with 413 whether its length is told or not', async () => {
    const { url } = await serve(request => Promise.resolve(ok(String(request.body.length))))
    const exact = await fetch(url, { method: 'POST', body: new Uint8Array(1 << 20) })
    expect(await exact.text()).toBe(String(1 << 20))
    const told = await fetch(url, { method: 'POST', body: new Uint8Array((1 << 20) + 1) })
    expect(told.status).toBe(413)
    const { port } = await serve(request => Promise.resolve(ok(String(request.body.length))))
    const chunk = `100000\r\n${'x'.repeat(1 << 20)}\r\n`
    expect(await talk(port, `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`)).toContain('413')
  })

  test('a handler that rejects is answered with 500 and no word of its error', async () => {
    const { url } = await serve(() => Promise.reject(new Error('secret detail')))
    const response = await fetch(url)
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret')
  })

  test('a path that cannot be decoded, and bytes that are no HTTP, are answered with 400', async () => {
    const { url, port } = await serve(() => Promise.resolve(ok('')))
    expect((await fetch(`${url}/%ff`)).status).toBe(400)
    expect(await talk(port, 'this is no http\r\n\r\n')).toContain('400')
  })

  test('a closed listener answers what is on its way, then the connection closes and the port is free', async () => {
    let release!: () => void
    let reached!: () => void
    const inHandler = new Promise<void>(resolve => {
      reached = resolve
    })
    const { url, port } = await serve(() => {
      reached()
      return new Promise(resolve => {
        release = () => resolve(ok('done'))
      })
    })
    const response = fetch(url)
    await inHandler
    await listeners.pop()!.close()
    const again = await new NodeHttpServer().listen({ host: '127.0.0.1', port }, () => Promise.resolve(ok('second')))
    listeners.push(again)
    release()
    const first = await response
    expect(await first.text()).toBe('done')
    expect(first.headers.get('connection')).toBe('close')
    expect(await (await fetch(url)).text()).toBe('second')
  })

  test('a place in use is refused with its code', async () => {
    const { port } = await serve(() => Promise.resolve(ok('')))
    await expect(new NodeHttpServer().listen({ host: '127.0.0.1', port }, () => Promise.resolve(ok(''))))
      .rejects.toMatchObject({ code: 'MR_NET_ADDRESS_IN_USE' })
  })

  test('a page of another site may send nothing that changes something; one of this address, and who is no browser, may', async () => {
    const seen: string[] = []
    const { port } = await serve(({ method }) => {
      seen.push(method)
      return Promise.resolve(ok('done'))
    })
    const ask = async (method: string, origin: string | undefined): Promise<string> => {
      const header = origin === undefined ? '' : `Origin: ${origin}\r\n`
      return await talk(port, `${method} /x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${header}Connection: close\r\nContent-Length: 0\r\n\r\n`)
    }
    for (const method of ['POST', 'PUT', 'DELETE']) {
      for (const origin of ['https://evil.example', `http://evil.example:${port}`, `http://127.0.0.1:${port + 1}`, 'null', 'nonsense', `http://127.0.0.1.evil.example:${port}`]) {
        const answer = await ask(method, origin)
        expect(answer).toMatch(/^HTTP\/1\.1 403 /)
        expect(answer).toContain('application/problem+json')
        expect(answer).toContain(origin)
      }
    }
    expect(seen).toEqual([])
    for (const [method, origin] of [['POST', `http://127.0.0.1:${port}`], ['POST', undefined], ['GET', 'https://evil.example']] as const) {
      expect(await ask(method, origin)).toMatch(/^HTTP\/1\.1 200 /)
    }
    expect(seen).toEqual(['POST', 'POST', 'GET'])
  })
})
