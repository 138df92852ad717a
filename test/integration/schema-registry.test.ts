import * as http from 'node:http'
import { type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { schemaRegistry } from '../../src/client/index.ts'
import { listen, TestRegistry } from '../unit/client/typed/registry/test-registry.ts'

const servers: http.Server[] = []
afterEach(() => { for (const server of servers.splice(0)) server.close().closeAllConnections() })

/** A server that does as it is told. */
async function serve(handle: http.RequestListener): Promise<string> {
  const server = http.createServer(handle)
  servers.push(server)
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const schema = { schemaType: 'AVRO', schema: '"string"' } as const

describe('a schema registry over HTTP', () => {
  it('is asked by its paths, with its content type and who one is', async () => {
    const server = new TestRegistry()
    server.authorization = `Basic ${Buffer.from('u:p').toString('base64')}`
    await using at = await listen(server)
    const registry = schemaRegistry({ url: at.url, auth: { username: 'u', password: 'p' } })
    const id = await registry.register('a/ü b', schema)
    expect(await registry.byId(id)).toEqual(schema)
    expect(await registry.latest('a/ü b')).toEqual({ ...schema, subject: 'a/ü b', version: 1, id })
    expect(server.asked[0]).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' } })
    await expect(schemaRegistry({ url: at.url }).byId(1)).rejects.toMatchObject({ code: 'MR_REGISTRY_UNAUTHORIZED' })
  })

  it('is another one of the list when the first is not there', async () => {
    const server = new TestRegistry()
    server.add('s', '"int"')
    await using at = await listen(server)
    const gone = await listen(server)
    await gone.close()
    expect(await schemaRegistry({ url: [gone.url, at.url] }).byId(1)).toMatchObject({ schema: '"int"' })
    await expect(schemaRegistry({ url: gone.url, attemptsMax: 2, retryBackoffMs: 1 }).byId(1)).rejects.toMatchObject({ code: 'MR_REGISTRY_UNAVAILABLE', message: expect.stringContaining('ECONNREFUSED') })
  })

  it('is given up when it does not answer, cuts its answer off, or gives too long a one', async () => {
    const once = { attemptsMax: 1, timeoutMs: 100 }
    const silent = await serve(() => undefined)
    await expect(schemaRegistry({ url: silent, ...once }).byId(1)).rejects.toMatchObject({ message: expect.stringContaining('did not answer within 100 ms') })
    const slow = await serve((_request, response) => { response.writeHead(200).write('{"schema":') })
    await expect(schemaRegistry({ url: slow, ...once }).byId(1)).rejects.toMatchObject({ message: expect.stringContaining('did not answer within 100 ms') })
    const cut = await serve((_request, response) => { response.writeHead(200, { 'Content-Length': 100 }).write('{', () => response.destroy()) })
    await expect(schemaRegistry({ url: cut, attemptsMax: 1 }).byId(1)).rejects.toMatchObject({ code: 'MR_REGISTRY_UNAVAILABLE' })
    const endless = await serve((_request, response) => {
      const more = (): void => { while (!response.destroyed && response.write('x'.repeat(65_536))); }
      response.writeHead(200).on('drain', more)
      more()
    })
    await expect(schemaRegistry({ url: endless, attemptsMax: 1, answerBytesMax: 100_000 }).byId(1)).rejects.toMatchObject({ message: expect.stringContaining('more than 100000 bytes') })
  })

  it('sends nobody elsewhere with what it was told', async () => {
    const told: (string | undefined)[] = []
    const other = await serve((request, response) => { told.push(request.headers.authorization); response.end('{}') })
    const redirecting = await serve((_request, response) => { response.writeHead(307, { Location: `${other}/schemas/ids/1` }).end() })
    await expect(schemaRegistry({ url: redirecting, auth: { token: 't' } }).byId(1)).rejects.toMatchObject({ code: 'MR_REGISTRY_REFUSED', message: expect.stringContaining('a redirect, which is not followed') })
    expect(told).toEqual([])
  })
})
