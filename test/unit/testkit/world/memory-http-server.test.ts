import { expect, test } from 'vitest'
import { type HttpRequest } from '../../../../src/kernel/ports/http.ts'
import { MemoryHttpServer } from '../../../../src/testkit/world/memory-http-server.ts'

const decode = (body: string | Uint8Array): string => typeof body === 'string' ? body : new TextDecoder().decode(body)

test('a request reaches the handler of its port as it would over the wire', async () => {
  const server = new MemoryHttpServer()
  const seen: HttpRequest[] = []
  const listener = await server.listen({ host: '127.0.0.1', port: 0 }, request => {
    seen.push(request)
    return Promise.resolve({ status: 200, contentType: 'text/plain', body: 'ok' })
  })
  const { port } = listener.endpoint
  const response = await server.request(port, '/a%20b?x=1%262&y=c+d&z', { method: 'POST', body: Uint8Array.of(1) })
  expect([response.status, decode(response.body)]).toEqual([200, 'ok'])
  expect(seen[0]).toMatchObject({ method: 'POST', path: '/a b', body: Uint8Array.of(1) })
  expect([...seen[0]!.query]).toEqual([['x', '1&2'], ['y', 'c d'], ['z', '']])
  await expect(server.listen({ host: '127.0.0.1', port }, () => Promise.reject(new Error()))).rejects.toMatchObject({ code: 'MR_NET_ADDRESS_IN_USE' })
  await listener.close()
  await expect(server.request(port, '/')).rejects.toMatchObject({ code: 'MR_NET_CONNECT' })
})

test('large bodies are refused with 413, and failing handlers answered with 500', async () => {
  const server = new MemoryHttpServer()
  const { endpoint } = await server.listen({ host: '127.0.0.1', port: 0 }, () => Promise.reject(new Error('secret')))
  expect((await server.request(endpoint.port, '/', { body: new Uint8Array((1 << 20) + 1) })).status).toBe(413)
  const failed = await server.request(endpoint.port, '/')
  expect([failed.status, decode(failed.body).includes('secret')]).toEqual([500, false])
})
