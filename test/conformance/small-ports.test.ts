import { describe, test } from 'vitest'
import { createHost } from '../../src/kernel/plugin/plugin-host.ts'
import { AdminRoute } from '../../src/kernel/ports/http.ts'
import { Metrics, type GaugeSample } from '../../src/kernel/ports/telemetry.ts'
import { NodeCompression } from '../../src/platform/codecs/node-compression.ts'
import { NodeHttpServer } from '../../src/platform/node-http-server.ts'
import { nodePlatform } from '../../src/platform/node-platform-plugin.ts'
import { plugin as observability } from '../../src/plugins/observability/index.ts'
import { compressionConformance } from '../../src/testkit/conformance/compression.ts'
import { httpServerConformance, type HttpSubject } from '../../src/testkit/conformance/http-server.ts'
import { metricsConformance } from '../../src/testkit/conformance/metrics.ts'
import { ManualTimers } from '../../src/testkit/world/manual-clock.ts'
import { MemoryHttpServer } from '../../src/testkit/world/memory-http-server.ts'
import { RecordingMetrics } from '../../src/testkit/world/recording-telemetry.ts'
import { SimCompression } from '../../src/testkit/world/sim-compression.ts'

describe('NodeCompression', () => {
  compressionConformance({ test, create: () => new NodeCompression() })
})

describe('SimCompression', () => {
  const timers = new ManualTimers()
  compressionConformance({
    test, create: () => new SimCompression(new NodeCompression(), timers),
    settle: async (promise) => {
      timers.advance(10_000)
      return promise
    },
  })
})

describe('NodeHttpServer', () => {
  const ask: HttpSubject['ask'] = async ({ endpoint }, method, target, body) => {
    const answer = await fetch(`http://127.0.0.1:${endpoint.port}${target}`, { method, ...body === undefined ? {} : { body } })
    return { status: answer.status, contentType: answer.headers.get('content-type') ?? '', body: await answer.text() }
  }
  httpServerConformance({ test, create: () => ({ server: new NodeHttpServer(), ask }) })
})

describe('MemoryHttpServer', () => {
  httpServerConformance({
    test,
    create: () => {
      const server = new MemoryHttpServer()
      return {
        server,
        ask: async ({ endpoint }, method, target, body) => {
          const answer = await server.request(endpoint.port, target, { method, ...body === undefined ? {} : { body } })
          return { ...answer, body: typeof answer.body === 'string' ? answer.body : new TextDecoder().decode(answer.body) }
        },
      }
    },
  })
})

/** `{a="1",b="2"}` or `{a=1,b=2}`. */
const labelsOf = (text: string): Record<string, string> => Object.fromEntries([...text.matchAll(/(\w+)="?([^",}]*)/g)].map(([, key, value]) => [key, value]))

describe('the metrics of observability, as they are told to Prometheus', () => {
  metricsConformance({
    test,
    create: () => {
      const host = createHost({ plugins: [nodePlatform, observability] })
      const route = host.all(AdminRoute).find(({ path }) => path === '/metrics')!
      const read = async (name: string): Promise<GaugeSample[]> => {
        const { body } = await route.handle({ method: 'GET', path: '/metrics', query: new Map(), body: new Uint8Array() })
        const line = new RegExp(`^${name}(?:_count)?(\\{[^}]*\\})? (\\S+)$`, 'gm')
        return [...String(body).matchAll(line)].map(([, labels, value]) => ({ labels: labelsOf(labels ?? ''), value: Number(value) }))
      }
      return { metrics: host.get(Metrics), read }
    },
  })
})

describe('RecordingMetrics', () => {
  metricsConformance({
    test,
    create: () => {
      const metrics = new RecordingMetrics()
      const read = (name: string): Promise<GaugeSample[]> => {
        const value = metrics.value(name)
        if (typeof value === 'number') return Promise.resolve([{ labels: {}, value }])
        if (value !== undefined) return Promise.resolve([...value])
        const line = new RegExp(`^${name}(\\{[^}]*\\})? (?:observed )?(\\S+)$`)
        return Promise.resolve(metrics.snapshot().flatMap((each) => {
          const found = line.exec(each)
          return found === null ? [] : [{ labels: labelsOf(found[1] ?? ''), value: Number(found[2]) }]
        }))
      }
      return { metrics, read }
    },
  })
})
