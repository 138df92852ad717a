import { describe, expect, test } from 'vitest'
import { type Random } from '../../../src/kernel/ports/clock.ts'
import { type CoordinatorFinder } from '../../../src/kernel/ports/coordinator-finder.ts'
import { MillraceError } from '../../../src/kernel/errors/index.ts'
import { type Hashing } from '../../../src/kernel/ports/hashing.ts'
import { type HttpClient } from '../../../src/kernel/ports/http.ts'
import { type PageCache } from '../../../src/kernel/ports/page-cache.ts'
import { type ProcessSample, type ProcessStats } from '../../../src/kernel/ports/process-stats.ts'
import { type Logger } from '../../../src/kernel/ports/telemetry.ts'
import { NodeHashing } from '../../../src/platform/node-hashing.ts'
import { coordinatorFinderConformance } from '../../../src/testkit/conformance/coordinator-finder.ts'
import { hashingConformance } from '../../../src/testkit/conformance/hashing.ts'
import { httpClientConformance } from '../../../src/testkit/conformance/http-client.ts'
import { failuresOf } from '../../../src/testkit/conformance/kit.ts'
import { loggerConformance } from '../../../src/testkit/conformance/logger.ts'
import { pageCacheConformance } from '../../../src/testkit/conformance/page-cache.ts'
import { processStatsConformance } from '../../../src/testkit/conformance/process-stats.ts'
import { randomConformance } from '../../../src/testkit/conformance/random.ts'
import { MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'
import { MemoryHttpServer } from '../../../src/testkit/world/memory-http-server.ts'
import { SeededRandom } from '../../../src/testkit/world/seeded-random.ts'

/** The real one with some methods replaced. */
const over = <T extends object>(real: T, broken: Partial<T>): T => Object.assign(Object.create(real) as T, broken)

describe('randomConformance', () => {
  const real = new SeededRandom(1)
  const pool = new Uint8Array(100_000)
  const cases: Readonly<Record<string, Partial<Random>>> = {
    'one that is always the same': { fraction: () => 0.5 },
    'a fraction of 1': { fraction: () => 1 - Math.floor(real.fraction() * 10) / 10 },
    'fractions of 16 bits': { fraction: () => Math.floor(real.fraction() * 65_536) / 65_536 },
    'fractions that favour the low': { fraction: () => real.fraction() ** 2 },
    'bytes that are too few': { bytes: length => real.bytes(Math.min(length, 4096)) },
    'bytes with a bit that is never set': { bytes: length => real.bytes(length).map(byte => byte & 0x7f) },
    'bytes that a later call changes': {
      bytes: length => {
        pool.set(real.bytes(length))
        return pool.subarray(0, length)
      },
    },
    'bytes that come again': { bytes: length => new SeededRandom(7).bytes(length) },
  }
  test.each(Object.entries(cases))('finds %s', async (_name, broken) => {
    expect(await failuresOf(declare => { randomConformance({ test: declare, create: () => over<Random>(real, broken) }) })).not.toEqual([])
  })
})

describe('hashingConformance', () => {
  const real = new NodeHashing()
  const shared = new Uint8Array(64)
  const cases: Readonly<Record<string, Partial<Hashing>>> = {
    'one hash for both': { digest: (_algorithm, bytes) => real.digest('sha256', bytes) },
    'an HMAC without its key': { hmac: (algorithm, _key, bytes) => real.digest(algorithm, bytes) },
    'an HMAC that cuts long keys': { hmac: (algorithm, key, bytes) => real.hmac(algorithm, key.subarray(0, 64), bytes) },
    'iterations that are not done': { pbkdf2: (algorithm, password, salt, iterations) => real.pbkdf2(algorithm, password, salt, Math.min(iterations, 1)) },
    'no iteration that is taken for one': { pbkdf2: (algorithm, password, salt, iterations) => real.pbkdf2(algorithm, password, salt, Math.max(iterations, 1)) },
    'a key of a length of its own': { pbkdf2: async (algorithm, password, salt, iterations) => (await real.pbkdf2(algorithm, password, salt, iterations)).subarray(0, 20) },
    'a comparison of beginnings': { equal: (a, b) => real.equal(a.subarray(0, 8), b.subarray(0, 8)) },
    'a comparison that takes what is missing for equal': { equal: (a, b) => a.every((byte, at) => byte === (b[at] ?? byte)) },
    'a result that the next call changes': {
      digest: (algorithm, bytes) => {
        const hash = real.digest(algorithm, bytes)
        if (shared[0] === 0) shared.set(hash)
        return shared.subarray(0, hash.length)
      },
    },
  }
  test.each(Object.entries(cases))('finds %s', async (_name, broken) => {
    expect(await failuresOf(declare => { hashingConformance({ test: declare, create: () => over<Hashing>(real, broken) }) })).not.toEqual([])
  })
})

describe('processStatsConformance', () => {
  let cpuSeconds = 0
  const sample = (): ProcessSample => ({ cpuSeconds: cpuSeconds += 0.001, residentBytes: 70e6, heapUsedBytes: 10e6, heapBytes: 12e6, externalBytes: 3e6, startedMs: 1_700_000_000_000, loopBusySeconds: 0.25, openFiles: undefined, openFilesMax: undefined })
  const failures = (change: (stats: ProcessSample) => Partial<ProcessSample>, broken: Partial<ProcessStats> = {}) => failuresOf(declare => {
    processStatsConformance({
      test: declare, work: () => undefined,
      create: () => ({
        version: '1.0.0', nodeVersion: 'v20.0.0',
        read: () => {
          const real = sample()
          return { ...real, ...change(real) }
        },
        ...broken,
      }),
    })
  })

  test('takes one that is right', async () => { expect(await failures(() => ({}))).toEqual([]) })
  test.each<readonly [string, (real: ProcessSample) => Partial<ProcessSample>]>([
    ['kilobytes with a fraction', () => ({ residentBytes: 70e6 / 1024 }) ],
    ['a heap that is fuller than it is large', () => ({ heapUsedBytes: 13e6 })],
    ['a start in seconds', () => ({ startedMs: 1_700_000_000 })],
    ['a start that moves', ({ cpuSeconds: at }) => ({ startedMs: 1_700_000_000_000 + at })],
    ['time that falls', ({ cpuSeconds: at }) => ({ cpuSeconds: 100 - at })],
    ['time that stands still', () => ({ cpuSeconds: 1 })],
    ['a loop whose time falls', ({ cpuSeconds: at }) => ({ loopBusySeconds: 100 - at })],
    ['files below none', () => ({ openFiles: -1 })],
  ])('finds %s', async (_name, change) => { expect(await failures(change)).not.toEqual([]) })
  test('finds a release that is not told', async () => { expect(await failures(() => ({}), { version: '' })).not.toEqual([]) })
})

/** Lines as JSON does them, which is wrong where JSON cannot write. */
class PlainLogger implements Logger {
  private readonly lines: string[]
  private readonly fields: object

  constructor(lines: string[], fields: object = {}) {
    this.lines = lines
    this.fields = fields
  }

  debug(message: string, fields?: object): void { this.tell('debug', message, fields) }
  info(message: string, fields?: object): void { this.tell('info', message, fields) }
  warn(message: string, fields?: object): void { this.tell('warn', message, fields) }
  error(message: string, fields?: object): void { this.tell('error', message, fields) }
  child(fields: object): Logger { return new PlainLogger(this.lines, { ...this.fields, ...fields }) }

  private tell(level: string, message: string, fields?: object): void {
    this.lines.push(JSON.stringify({ level, message, ...this.fields, ...fields }, (_key, each: unknown) => each instanceof Error ? `${each.message} ${String(each.cause)}` : each))
  }
}

describe('loggerConformance', () => {
  const failures = (change: (real: Logger) => Partial<Logger>, lines: string[] = []) => failuresOf(declare => {
    loggerConformance({
      test: declare,
      create: () => {
        lines.splice(0)
        const real = new PlainLogger(lines)
        return { logger: over<Logger>(real, change(real)), lines: () => lines }
      },
    })
  })
  const awkward = 'fields that cannot be written do not throw, and cost no line after them'

  test('finds fields that throw, and nothing else in one that is right but for them', async () => { expect(await failures(() => ({}))).toEqual([awkward]) })
  test.each<readonly [string, (real: Logger) => Partial<Logger>]>([
    ['a level that is lost', real => ({ warn: (message, fields) => { real.info(message, fields) } })],
    ['fields that are lost', real => ({ info: message => { real.info(message) } })],
    ['children without the fields of their parents', real => ({ child: fields => over<Logger>(real.child(fields), { child: inner => real.child(inner) }) })],
    ['a parent that takes what its child says', real => {
      let said = {}
      return {
        child: fields => {
          said = { ...said, ...fields }
          return real.child(fields)
        },
        info: (message, fields) => { real.info(message, { ...said, ...fields }) },
      }
    }],
    ['an error without its cause', real => ({ error: (message, fields) => { real.error(message, { error: (fields?.['error'] as Error | undefined)?.message }) } })],
    ['a line that is dropped', () => ({ debug: () => undefined })],
  ])('finds %s', async (_name, change) => { expect((await failures(change)).filter(title => title !== awkward)).not.toEqual([]) })
})

describe('pageCacheConformance', () => {
  const failures = (change: (real: MemoryFileSystem) => Partial<PageCache>) => failuresOf(declare => {
    pageCacheConformance({
      test: declare,
      create: () => {
        const files = new MemoryFileSystem()
        files.makeDirectory('/data')
        files.syncDirectory('/')
        const broken = (real: MemoryFileSystem): PageCache => ({ cacheLife: path => real.cacheLife(path), ...change(real) })
        return { cache: broken(files), files, directory: '/data', tells: true, powerCut: () => broken(files.afterCrash({ keepUnsynced: 'none' })) }
      },
    })
  })
  const fileOf = (life: string | undefined) => life?.replace(/^life \S+, /, '')

  test('takes one that is right', async () => { expect(await failures(() => ({}))).toEqual([]) })
  test.each<readonly [string, (real: MemoryFileSystem) => Partial<PageCache>]>([
    ['a life for what is not there', real => ({ cacheLife: path => real.cacheLife(path) ?? 'a life' })],
    ['a life that is the path\'s and not the file\'s', real => ({ cacheLife: path => real.cacheLife(path)?.replace(/file .*/, path) })],
    ['a life that each write changes', real => ({ cacheLife: path => real.cacheLife(path) === undefined ? undefined : `${real.cacheLife(path)} ${real.stat(path)?.bytes}` })],
    ['a life that survives a power cut', real => ({ cacheLife: path => fileOf(real.cacheLife(path)) })],
    ['one that tells nothing where it could', () => ({ cacheLife: () => undefined })],
  ])('finds %s', async (_name, change) => { expect(await failures(change)).not.toEqual([]) })
})

describe('httpClientConformance', () => {
  /** Asks the server in memory; right, as far as there are no sockets. */
  const clientOf = (servers: Map<string, MemoryHttpServer>): HttpClient => ({
    ask: async ({ method, url, body }, { signal, bodyBytesMax }) => {
      const refuse = (reason: string): never => { throw new MillraceError('MR_NET_HTTP', { host: new URL(url).host, reason }) }
      if (signal.aborted) throw signal.reason
      const { origin, port, pathname, search } = new URL(url)
      const server = servers.get(origin) ?? refuse('nobody listens there')
      const ended = new Promise<never>((_resolve, reject) => { signal.addEventListener('abort', () => { reject(signal.reason as Error) }) })
      const answer = await Promise.race([ended, server.request(Number(port), pathname + search, { method, ...body === undefined ? {} : { body: new TextEncoder().encode(body) } })])
      const bytes = typeof answer.body === 'string' ? new TextEncoder().encode(answer.body) : answer.body
      return bytes.length > bodyBytesMax ? refuse('it is too long') : { status: answer.status, body: bytes }
    },
  })
  const failures = (change: (real: HttpClient) => HttpClient) => failuresOf(declare => {
    httpClientConformance({
      test: declare,
      create: () => {
        const servers = new Map<string, MemoryHttpServer>()
        return {
          client: change(clientOf(servers)),
          serve: async handle => {
            const server = new MemoryHttpServer()
            const listener = await server.listen({ host: '127.0.0.1', port: 0 }, handle)
            const url = `http://127.0.0.1:${listener.endpoint.port}`
            servers.set(url, server)
            return { url, close: async () => { if (servers.delete(url)) await listener.close() } }
          },
        }
      },
    })
  })

  test('takes one that is right', async () => { expect(await failures(real => real)).toEqual([]) })
  test.each<readonly [string, (real: HttpClient) => HttpClient]>([
    ['a method that is lost', real => ({ ask: (call, options) => real.ask({ ...call, method: 'GET' }, options) })],
    ['a body that is lost', real => ({ ask: ({ method, url, headers }, options) => real.ask({ method, url, headers }, options) })],
    ['a query that is lost', real => ({ ask: (call, options) => real.ask({ ...call, url: call.url.split('?')[0]! }, options) })],
    ['errors of servers that are thrown', real => ({
      ask: async (call, options) => {
        const answer = await real.ask(call, options)
        if (answer.status >= 400) throw new MillraceError('MR_NET_HTTP', { host: 'h', reason: `status ${answer.status}` })
        return answer
      },
    })],
    ['a bound that is not kept', real => ({ ask: (call, { signal }) => real.ask(call, { signal, bodyBytesMax: Infinity }) })],
    ['a body that is cut at the bound', real => ({
      ask: async (call, { signal, bodyBytesMax }) => {
        const { status, body } = await real.ask(call, { signal, bodyBytesMax: Infinity })
        return { status, body: body.subarray(0, bodyBytesMax) }
      },
    })],
    ['secrets in errors', real => ({ ask: (call, options) => real.ask(call, options).catch(() => { throw new MillraceError('MR_NET_HTTP', { host: 'h', reason: JSON.stringify(call.headers) }) }) })],
    ['a signal whose reason is lost', real => ({ ask: (call, options) => real.ask(call, options).catch((error: unknown) => { throw options.signal.aborted ? new MillraceError('MR_NET_HTTP', { host: 'h', reason: 'aborted' }) : error }) })],
  ])('finds %s', async (_name, change) => { expect(await failures(change)).not.toEqual([]) })
})

describe('coordinatorFinderConformance', () => {
  const failures = (change: Partial<CoordinatorFinder>) => failuresOf(declare => {
    coordinatorFinderConformance({ test: declare, create: () => Promise.resolve({ finder: { keyType: 0, find: (_key, done) => { done(undefined, 1) }, ...change }, brokers: [1, 2] }) })
  })
  let turn = 0

  test('takes one that is right', async () => { expect(await failures({})).toEqual([]) })
  test.each<readonly [string, Partial<CoordinatorFinder>]>([
    ['a type that nobody asks for', { keyType: 7 }],
    ['a broker that there is not', { find: (_key, done) => { done(undefined, 3) } }],
    ['an error of its own', { find: (_key, done) => { done(new MillraceError('MR_CLUSTER_STOPPED'), -1) } }],
    ['two answers', { find: (_key, done) => { done(undefined, 1); done(undefined, 1) } }],
    ['one that changes its mind', { find: (_key, done) => { done(undefined, 1 + turn++ % 2) } }],
    ['one that never finds any', { find: (_key, done) => { done(new MillraceError('MR_COORDINATOR_UNAVAILABLE'), -1) } }],
  ])('finds %s', async (_name, change) => { expect(await failures(change)).not.toEqual([]) })
})
