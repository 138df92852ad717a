import { describe, expect, it } from 'vitest'
import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { type AdminRoute, type HttpResponse } from '../../../../src/kernel/ports/http.ts'
import { AdminServer } from '../../../../src/plugins/admin-http/admin-server.ts'
import { MemoryHttpServer } from '../../../../src/testkit/world/memory-http-server.ts'
import { RecordingLogger } from '../../../../src/testkit/world/recording-telemetry.ts'

const text = (body: string): HttpResponse => ({ status: 200, contentType: 'text/plain', body })
const route = (method: AdminRoute['method'], path: string, handle: AdminRoute['handle'] = async () => text(`${method} ${path}`)): AdminRoute => ({ method, path, summary: `what ${path} is`, handle })

/** Serves the routes; `ask` gives status, type and body. */
async function serving(...routes: AdminRoute[]) {
  const [http, logger] = [new MemoryHttpServer(), new RecordingLogger()]
  const server = new AdminServer({ listen: '127.0.0.1:0', insecure: false }, http, routes, logger)
  await server.start()
  const { port } = server.endpoint()!
  return {
    server, logger, http, port,
    ask: async (method: string, path: string) => {
      const { status, contentType, body } = await http.request(port, path, { method })
      return [status, contentType, contentType === 'application/problem+json' ? JSON.parse(String(body)) as unknown : String(body)] as const
    },
  }
}

const problem = (status: number, detail: string) => [status, 'application/problem+json', { status, detail }]

describe('the operators\' HTTP', () => {
  it('answers with the route of the path and the method, and HEAD with that of GET', async () => {
    const { ask } = await serving(route('GET', '/things'), route('POST', '/things'))
    expect([await ask('GET', '/things?a=1'), await ask('POST', '/things'), await ask('HEAD', '/things')]).toEqual([
      [200, 'text/plain', 'GET /things'], [200, 'text/plain', 'POST /things'], [200, 'text/plain', 'GET /things'],
    ])
  })

  it('answers 404 for a path that no route has, and 405 with what it takes for a method that its routes lack', async () => {
    const { ask } = await serving(route('GET', '/things'), route('POST', '/things'))
    expect(await ask('GET', '/thing')).toEqual(problem(404, 'there is nothing at /thing; / lists what there is'))
    expect(await ask('GET', '/things/')).toEqual(problem(404, 'there is nothing at /things/; / lists what there is'))
    expect(await ask('DELETE', '/things')).toEqual(problem(405, '/things takes GET, POST'))
    expect(await ask('POST', '/')).toEqual(problem(405, '/ takes GET'))
  })

  it('lists its routes at /, for GET and HEAD', async () => {
    const { ask } = await serving(route('GET', '/things'))
    const [status, , page] = await ask('GET', '/')
    expect([status, page]).toEqual([200, expect.stringContaining('what /things is')])
    expect(await ask('HEAD', '/')).toEqual(await ask('GET', '/'))
  })

  it('answers 500 for a route that throws, whose error is in the log and not in the answer, and goes on', async () => {
    const error = new Error('the password is hunter2')
    const { ask, logger } = await serving(route('GET', '/bad', async () => { throw error }), route('GET', '/worse', () => { throw error }), route('GET', '/good'))
    for (const path of ['/bad', '/worse']) expect(await ask('GET', path)).toEqual(problem(500, 'the route failed; the log of the broker says why'))
    expect(logger.atLeast('error').map(({ message, fields }) => [message, fields])).toEqual(
      ['/bad', '/worse'].map((path) => ['an HTTP route failed', expect.objectContaining({ path, error })]))
    expect((await ask('GET', '/good'))[0]).toBe(200)
  })

  it('answers an error of the table with its status and words, and no line in the log', async () => {
    const { ask, logger } = await serving(route('POST', '/bad', async () => { throw new MillraceError('MR_TOPIC_EXISTS', { topic: 'a' }) }))
    expect(await ask('POST', '/bad')).toEqual(problem(409, 'topic a exists already; choose another name, or delete it first'))
    expect(logger.atLeast('warn')).toEqual([])
  })

  it('refuses two routes of one path and method', () => {
    expect(() => new AdminServer({ listen: 'off', insecure: false }, new MemoryHttpServer(), [route('GET', '/a'), route('GET', '/a')], new RecordingLogger()))
      .toThrow('two plugins serve GET /a')
  })

  it('is not there any more once it has stopped', async () => {
    const { server, http, port } = await serving(route('GET', '/a'))
    await server.stop()
    await server.stop()
    expect(server.endpoint()).toBeUndefined()
    await expect(http.request(port, '/a')).rejects.toThrow(/cannot connect/)
  })
})
