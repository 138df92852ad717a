import { describe, expect, test } from 'vitest'
import { type Compression } from '../../../src/kernel/ports/compression.ts'
import { type HttpServer } from '../../../src/kernel/ports/http.ts'
import { type GaugeSample, type Metrics } from '../../../src/kernel/ports/telemetry.ts'
import { NodeCompression } from '../../../src/platform/codecs/node-compression.ts'
import { compressionConformance } from '../../../src/testkit/conformance/compression.ts'
import { httpServerConformance } from '../../../src/testkit/conformance/http-server.ts'
import { failuresOf } from '../../../src/testkit/conformance/kit.ts'
import { metricsConformance } from '../../../src/testkit/conformance/metrics.ts'
import { MemoryHttpServer } from '../../../src/testkit/world/memory-http-server.ts'
import { RecordingMetrics } from '../../../src/testkit/world/recording-telemetry.ts'

/** The real one with some methods replaced. */
const over = <T extends object>(real: T, broken: Partial<T>): T => Object.assign(Object.create(real) as T, broken)

describe('compressionConformance', () => {
  const real = new NodeCompression()
  const shared = new Uint8Array(400_000)
  const cases: Readonly<Record<string, Partial<Compression>>> = {
    'nothing that compresses': { available: codec => codec === 0 },
    'bytes that are lost': { decompress: (codec, bytes, limit) => real.decompress(codec, bytes, limit).subarray(1) },
    'no compression at all': { compress: (_codec, bytes) => bytes.slice(), decompress: (_codec, bytes) => bytes.slice() },
    'a limit that is not kept': { decompress: (codec, bytes) => real.decompress(codec, bytes, 1 << 30) },
    'a result that the next call changes': {
      compress: (codec, bytes, level) => {
        const packed = real.compress(codec, bytes, level)
        shared.set(packed)
        return shared.subarray(0, packed.length)
      },
    },
    'a callback before the call has returned': { compressLater: (codec, bytes, level, done) => { done(undefined, real.compress(codec, bytes, level)) } },
    'a callback twice': {
      decompressLater: (codec, bytes, limit, done) => { real.decompressLater(codec, bytes, limit, (error, plain) => { done(error, plain); done(error, plain) }) },
    },
    'a limit that is not kept off the loop': { decompressLater: (codec, bytes, _limit, done) => { real.decompressLater(codec, bytes, 1 << 30, done) } },
  }
  test.each(Object.entries(cases))('finds %s', async (_name, broken) => {
    expect(await failuresOf(declare => { compressionConformance({ test: declare, create: () => over<Compression>(real, broken) }) })).not.toEqual([])
  })
})

describe('httpServerConformance', () => {
  const failures = (broken: (real: MemoryHttpServer) => Partial<HttpServer>, change: (target: string) => string = target => target) => failuresOf(declare => {
    httpServerConformance({
      test: declare,
      create: () => {
        const real = new MemoryHttpServer()
        return {
          server: over<HttpServer>(real, broken(real)),
          ask: async ({ endpoint }, method, target, body) => {
            const answer = await real.request(endpoint.port, change(target), { method, ...body === undefined ? {} : { body } })
            return { ...answer, body: typeof answer.body === 'string' ? answer.body : new TextDecoder().decode(answer.body) }
          },
        }
      },
    })
  })

  test('finds a path that is not decoded, a query that is lost, and a method that is', async () => {
    expect(await failures(() => ({}), target => encodeURI(target))).not.toEqual([])
    expect(await failures(() => ({}), target => target.split('?')[0]!)).not.toEqual([])
    expect(await failures(real => ({ listen: (at, handle) => real.listen(at, request => handle({ ...request, method: 'GET' })) }))).not.toEqual([])
  })

  test('finds an error that is told to strangers, and an address that is never free again', async () => {
    expect(await failures(real => ({
      listen: (at, handle) => real.listen(at, async request => await handle(request).catch((error: unknown) => ({ status: 500, contentType: '', body: String(error) }))),
    }))).not.toEqual([])
    expect(await failures(real => ({ listen: async (at, handle) => ({ ...await real.listen(at, handle), close: () => Promise.resolve() }) }))).not.toEqual([])
  })
})

describe('metricsConformance', () => {
  const cases: Readonly<Record<string, (real: RecordingMetrics) => Partial<Metrics>>> = {
    'labels that are dropped': real => ({ counter: (name, help) => real.counter(name, help) }),
    'instruments that are forgotten by nobody': () => ({ forget: () => undefined }),
    'gauges that are read once': real => ({
      gauge: (name, help, read) => {
        const value = read()
        real.gauge(name, help, () => value)
      },
    }),
    'observations that are lost': () => ({ histogram: () => ({ observe: () => undefined }) }),
  }
  test.each(Object.entries(cases))('finds %s', async (_name, broken) => {
    const found = await failuresOf(declare => {
      metricsConformance({
        test: declare,
        create: () => {
          const real = new RecordingMetrics()
          const read = (name: string): Promise<readonly GaugeSample[]> => {
            const value = real.value(name)
            const labels: GaugeSample['labels'][] = [{}, { a: '1', b: '2' }, { a: '1' }, { topic: 'a' }, { topic: 'b' }]
            if (value !== undefined) return Promise.resolve(typeof value === 'number' ? [{ labels: {}, value }] : value)
            if (name.endsWith('_seconds')) return Promise.resolve([{ labels: {}, value: real.observed(name).length }])
            const there = real.snapshot().filter(line => line.startsWith(name)).length
            return Promise.resolve(labels.map(each => ({ labels: each, value: real.count(name, each) })).filter(each => each.value > 0).slice(0, there))
          }
          return { metrics: over<Metrics>(real, broken(real)), read }
        },
      })
    })
    expect(found).not.toEqual([])
  })
})
