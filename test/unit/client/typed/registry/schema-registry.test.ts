import { describe, expect, it } from 'vitest'
import { deferred } from '../../../../../src/base/deferred.ts'
import { MillraceError, schemaRegistry, type SchemaRegistryOptions } from '../../../../../src/client/index.ts'
import { type HttpAnswer, type HttpAskOptions, type HttpCall } from '../../../../../src/kernel/ports/http.ts'
import { SeededRandom } from '../../../../../src/testkit/world/seeded-random.ts'
import { SimScheduler } from '../../../../../src/testkit/world/sim-scheduler.ts'
import { SimClock, SimTimers } from '../../../../../src/testkit/world/sim-timers.ts'
import { thrown } from '../typed-fixtures.ts'
import { callsTo, TestRegistry } from './test-registry.ts'

const avro = (schema: string) => ({ schemaType: 'AVRO', schema }) as const
const text = new TextEncoder()
const down = (host: string, reason = 'ECONNREFUSED') => new MillraceError('MR_NET_HTTP', { host, reason })

function simulated(options: Partial<SchemaRegistryOptions> = {}, before?: (call: HttpCall, options: HttpAskOptions) => Promise<HttpAnswer | undefined> | undefined) {
  const server = new TestRegistry()
  const scheduler = new SimScheduler()
  const clock = new SimClock(scheduler)
  const world = { clock, timers: new SimTimers(scheduler, 'client'), random: new SeededRandom(1), http: callsTo(server, before) }
  const registry = schemaRegistry({ url: 'http://registry:8081', world, ...options })
  const failure = (work: Promise<unknown>): Promise<unknown> => scheduler.complete(work.then(() => { throw new Error('it resolved') }, (error: unknown) => error))
  return { server, scheduler, clock, registry, failure }
}

describe('a schema registry', () => {
  it('registers, finds, and tells schemas by id, by version and the latest', async () => {
    const { server, registry } = simulated()
    expect(await registry.register('orders-value', avro('"string"'))).toBe(1)
    expect(await registry.register('orders-value', { schemaType: 'JSON', schema: '{}', references: [{ name: 'x', subject: 'y', version: 1 }] })).toBe(2)
    expect(await registry.find('orders-value', avro('"string"'))).toBe(1)
    expect(await registry.byId(2)).toEqual({ schemaType: 'JSON', schema: '{}', references: [{ name: 'x', subject: 'y', version: 1 }] })
    expect(await registry.version('orders-value', 1)).toEqual({ subject: 'orders-value', version: 1, id: 1, schemaType: 'AVRO', schema: '"string"' })
    expect(registry.knownLatest('orders-value')).toBeUndefined()
    expect(await registry.latest('orders-value')).toMatchObject({ version: 2, id: 2 })
    expect(registry.knownLatest('orders-value')).toMatchObject({ version: 2 })
    expect(await registry.checkCompatibility('orders-value', avro('"int"'))).toEqual({ isCompatible: true, reasons: [] })
    server.incompatible.add('"int"')
    expect(await registry.checkCompatibility('orders-value', avro('"int"'), 1)).toEqual({ isCompatible: false, reasons: ['a field has gone'] })
    expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toContain('POST /compatibility/subjects/orders-value/versions/1?verbose=true')
    expect(JSON.parse(server.asked[0]!.body)).toEqual({ schema: '"string"' })
  })

  it('puts names of subjects into its paths so that they stay one part, and says normalize where it is told to', async () => {
    const { server, registry } = simulated({ normalize: true })
    await registry.register('a/b?c d', avro('"int"'))
    expect(server.asked[0]!.path).toBe('/subjects/a%2Fb%3Fc%20d/versions?normalize=true')
    expect(server.subjects.has('a/b?c d')).toBe(true)
  })

  it('tells with a code what the registry will not do', async () => {
    const { server, registry } = simulated()
    server.incompatible.add('"bad"')
    const wrong: [Promise<unknown>, string, string][] = [
      [registry.byId(9), 'MR_REGISTRY_NOT_FOUND', 'schema 9: the schema registry has none: Schema 9 not found'], [registry.latest('none'), 'MR_REGISTRY_NOT_FOUND', 'Subject'],
      [registry.find('none', avro('"int"')), 'MR_REGISTRY_NOT_FOUND', 'a schema under none'], [registry.register('s', avro('"bad"')), 'MR_REGISTRY_INCOMPATIBLE', 'incompatible with an earlier'],
      [registry.register('s', avro('')), 'MR_REGISTRY_REFUSED', 'http://registry:8081 answered 422: Invalid schema'], [registry.byId(-1), 'MR_REGISTRY_NOT_FOUND', 'whole numbers'],
      [registry.byId(2 ** 31), 'MR_REGISTRY_NOT_FOUND', 'whole numbers'],
    ]
    for (const [call, code, words] of wrong) await expect(call).rejects.toMatchObject({ code, message: expect.stringContaining(words) })
  })

  it('asks once for what many ask for at the same time, and never again for an id it knows', async () => {
    const gate = deferred<void>()
    const { server, registry } = simulated({}, async () => gate.promise.then(() => undefined))
    server.add('s', '"int"')
    const all = Promise.all([registry.byId(1), registry.byId(1), registry.latest('s'), registry.latest('s'), registry.find('s', avro('"int"')), registry.find('s', avro('"int"'))])
    gate.resolve()
    await all
    await registry.byId(1)
    await registry.find('s', avro('"int"'))
    expect(server.asked).toHaveLength(3)
  })

  it('forgets what was used longest ago, the latest after its time, and the missing after theirs', async () => {
    const { server, registry, scheduler } = simulated({ cacheEntriesMax: 2, latestAgeMsMax: 1000, missingAgeMsMax: 500 })
    for (const schema of ['"int"', '"long"', '"string"']) server.add('s', schema)
    for (const id of [1, 2, 3, 3, 2, 1]) await registry.byId(id)
    expect(server.asked).toHaveLength(4)
    await registry.latest('s')
    server.add('s', '"bytes"')
    await scheduler.runFor(999)
    expect((await registry.latest('s')).version).toBe(3)
    await scheduler.runFor(1)
    expect((await registry.latest('s')).version).toBe(4)
    const before = server.asked.length
    for (let round = 0; round < 3; round++) await expect(registry.byId(77)).rejects.toMatchObject({ code: 'MR_REGISTRY_NOT_FOUND' })
    expect(server.asked).toHaveLength(before + 1)
    while (server.schemas.length < 77) server.add('s', `"${server.schemas.length}"`)
    await scheduler.runFor(500)
    expect(await registry.byId(77)).toMatchObject({ schemaType: 'AVRO' })
  })

  it('asks the next registry when one is down, and that one first from then on', async () => {
    const asked: string[] = []
    const { server, registry } = simulated({ url: ['http://one', 'http://two/base/'] }, call => {
      asked.push(call.url)
      if (call.url.startsWith('http://one')) return Promise.reject(down('one'))
      return call.url.includes('/ids/2') ? Promise.resolve({ status: 200, body: text.encode('{"schema":"2"}') }) : Promise.resolve({ status: 200, body: text.encode('{"schema":"1"}') })
    })
    server.add('s', '"int"')
    await registry.byId(1)
    await registry.byId(2)
    expect(asked).toEqual(['http://one/schemas/ids/1', 'http://two/base/schemas/ids/1', 'http://two/base/schemas/ids/2'])
  })

  it('tries again after what passes, with longer and longer waits, and then says what it was', async () => {
    const times: number[] = []
    let answers: (number | 'down')[] = []
    const sim = simulated({ attemptsMax: 4, retryBackoffMs: 100 }, () => {
      times.push(sim.clock.monotonicMs())
      const answer = answers.shift() ?? 200
      if (answer === 'down') return Promise.reject(down('registry:8081'))
      return Promise.resolve({ status: answer, body: text.encode(answer === 200 ? '{"schema":"x"}' : '{"error_code":50002,"message":"timed out"}') })
    })
    answers = ['down', 500, 429]
    await sim.scheduler.complete(sim.registry.byId(1))
    const waits = times.slice(1).map((at, index) => at - times[index]!)
    expect(waits.map((waitMs, index) => waitMs >= 80 * 2 ** index && waitMs <= 120 * 2 ** index)).toEqual([true, true, true])
    answers = ['down', 503, 'down', 500]
    expect(await sim.failure(sim.registry.byId(2))).toMatchObject({ code: 'MR_REGISTRY_UNAVAILABLE', row: { retriable: true }, message: expect.stringContaining('http://registry:8081 answered 500: timed out') })
    answers = []
    await sim.scheduler.complete(sim.registry.byId(2))
  })

  it('waits so long for one answer as timeoutMs says, and lets go of the call', async () => {
    const ends: number[] = []
    const sim = simulated({ attemptsMax: 2, timeoutMs: 300, retryBackoffMs: 100 }, (_call, { signal }) => new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => { ends.push(sim.clock.monotonicMs()); reject(signal.reason as Error) })
    }))
    expect(await sim.failure(sim.registry.byId(1))).toMatchObject({ code: 'MR_REGISTRY_UNAVAILABLE', message: expect.stringContaining('did not answer within 300 ms') })
    expect(ends).toHaveLength(2)
    expect(ends[0]).toBe(300)
  })

  it('carries who it is, and never says so in an error, whatever the server repeats', async () => {
    for (const [auth, header, secrets] of [
      [{ username: 'u', password: 'päss:word' }, `Basic ${Buffer.from('u:päss:word').toString('base64')}`, ['päss:word', Buffer.from('u:päss:word').toString('base64')]],
      [{ token: 'tok-123' }, 'Bearer tok-123', ['tok-123']],
    ] as const) {
      const { server, registry } = simulated({ auth, headers: { 'target-sr-cluster': 'lsrc-9' } })
      server.authorization = header
      server.add('s', '"int"')
      await registry.byId(1)
      expect(server.asked[0]!.headers).toMatchObject({ authorization: header, 'target-sr-cluster': 'lsrc-9' })
      server.authorization = 'Basic other'
      const error = await registry.byId(2).catch((each: unknown) => each) as Error
      expect(error).toMatchObject({ code: 'MR_REGISTRY_UNAUTHORIZED', message: expect.stringContaining('Unauthorized: ') })
      for (const secret of [...secrets, 'lsrc-9']) expect(JSON.stringify([error.message, error, error.stack, error.cause])).not.toContain(secret)
    }
  })

  it('takes a user and a password from an address, and asks a function for each token', async () => {
    const { server, registry } = simulated({ url: 'http://me:p%40ss@registry:8081' })
    server.authorization = `Basic ${Buffer.from('me:p@ss').toString('base64')}`
    server.add('s', '"int"')
    await registry.byId(1)
    let count = 0
    const tokens = simulated({ auth: { token: async () => Promise.resolve(`t${++count}`) } })
    tokens.server.add('s', '"int"')
    await tokens.registry.byId(1)
    await tokens.registry.latest('s')
    expect(tokens.server.asked.map(({ headers }) => headers['authorization'])).toEqual(['Bearer t1', 'Bearer t2'])
    const broken = simulated({ auth: { token: () => 'a\nb' } })
    await expect(broken.registry.byId(1)).rejects.toMatchObject({ code: 'MR_CLIENT_SETTING', message: expect.not.stringContaining('a\nb') })
  })

  it('takes no answer that a registry would not give', async () => {
    const answers: [number, string][] = [[200, '<html>'], [200, '{}'], [200, '{"schema":1}'], [200, '[]'], [302, ''], [404, '<html>nothing here</html>']]
    for (const [status, body] of answers) {
      const { registry } = simulated({}, () => Promise.resolve({ status, body: text.encode(body) }))
      const error = await registry.byId(1).catch((each: unknown) => each)
      expect(error).toMatchObject({ code: status === 404 ? 'MR_REGISTRY_NOT_FOUND' : 'MR_REGISTRY_REFUSED', message: expect.not.stringContaining('<html>') })
    }
    const { registry } = simulated({}, () => Promise.resolve({ status: 200, body: text.encode('{"id":-1,"schema":"x","version":1,"is_compatible":"yes"}') }))
    for (const call of [registry.register('s', avro('x')), registry.latest('s'), registry.checkCompatibility('s', avro('x'))]) await expect(call).rejects.toMatchObject({ code: 'MR_REGISTRY_REFUSED' })
  })

  it('refuses settings that are wrong, without showing an address that may have a password in it', () => {
    const wrong: [unknown, string][] = [
      [undefined, 'it takes { url'], [{}, 'it is no URL'], [{ url: [] }, 'no registry'], [{ url: 'hidden:pw@host' }, 'no http or https'], [{ url: 'http://u:hidden@h:8081?x=1' }, 'a query'], [{ url: '://hidden' }, 'no URL'],
      [{ url: 'http://h', auth: { username: 'u' } }, '{ username, password } or { token }'], [{ url: 'http://h', auth: { token: 'hid\nden' } }, 'no text that fits'], [{ url: 'http://h', timeoutMs: 0 }, 'from 1'],
      [{ url: 'http://h', headers: { a: 'hid\r\nden' } }, 'no text that fits'], [{ baseUrl: 'http://h' }, 'did you mean url?'], [{ url: 'http://h', timeout: 5 }, 'did you mean timeoutMs?'],
    ]
    for (const [options, words] of wrong) {
      const error = thrown(() => schemaRegistry(options as never)) as Error
      expect(error).toMatchObject({ code: 'MR_CLIENT_SETTING', message: expect.stringContaining(words) })
      expect(error.message).not.toMatch(/hidden|hid\n/)
    }
  })
})
