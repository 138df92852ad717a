import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, test } from 'vitest'
import { FetchHttpClient } from '../../src/platform/fetch-http-client.ts'
import { cacheLifeOf } from '../../src/platform/cache-life.ts'
import { NodeFileSystem } from '../../src/platform/node-file-system.ts'
import { NodeHashing } from '../../src/platform/node-hashing.ts'
import { NodeHttpServer } from '../../src/platform/node-http-server.ts'
import { NodeProcessStats } from '../../src/platform/node-process-stats.ts'
import { SystemRandom } from '../../src/platform/system-random.ts'
import { PinoLogger } from '../../src/plugins/observability/io/pino-logger.ts'
import { hashingConformance } from '../../src/testkit/conformance/hashing.ts'
import { httpClientConformance } from '../../src/testkit/conformance/http-client.ts'
import { loggerConformance } from '../../src/testkit/conformance/logger.ts'
import { pageCacheConformance } from '../../src/testkit/conformance/page-cache.ts'
import { processStatsConformance } from '../../src/testkit/conformance/process-stats.ts'
import { randomConformance } from '../../src/testkit/conformance/random.ts'
import { ManualClock } from '../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../src/testkit/world/memory-file-system.ts'
import { RecordingLogger } from '../../src/testkit/world/recording-telemetry.ts'
import { SeededRandom } from '../../src/testkit/world/seeded-random.ts'

describe('SystemRandom', () => {
  randomConformance({ test, create: () => new SystemRandom() })
})

describe('SeededRandom', () => {
  randomConformance({ test, create: () => new SeededRandom(20_261_201) })
})

describe('NodeHashing', () => {
  hashingConformance({ test, create: () => new NodeHashing() })
})

describe('NodeProcessStats', () => {
  processStatsConformance({ test, create: () => new NodeProcessStats() })
})

describe('PinoLogger', () => {
  loggerConformance({
    test,
    create: () => {
      const lines: string[] = []
      return { logger: PinoLogger.create('debug', new ManualClock(), { write: (line) => { lines.push(line) } }), lines: () => lines }
    },
  })
})

describe('RecordingLogger', () => {
  loggerConformance({
    test,
    create: () => {
      const logger = new RecordingLogger()
      return { logger, lines: () => logger.lines.map((line) => inspect(line, { depth: 8 })) }
    },
  })
})

describe('the page cache of NodeFileSystem', () => {
  pageCacheConformance({
    test,
    create: () => {
      const directory = mkdtempSync(join(tmpdir(), 'millrace-page-cache-'))
      const files = new NodeFileSystem()
      const probe = join(directory, 'probe')
      writeFileSync(probe, '')
      return {
        cache: files, files, directory, tells: cacheLifeOf(probe) !== undefined, another: () => new NodeFileSystem(),
        dispose: () => { rmSync(directory, { recursive: true }) },
      }
    },
  })
})

describe('the page cache of MemoryFileSystem', () => {
  pageCacheConformance({
    test,
    create: () => {
      const files = new MemoryFileSystem()
      files.makeDirectory('/data')
      files.syncDirectory('/')
      return { cache: files, files, directory: '/data', tells: true, another: () => files.afterCrash({ keepUnsynced: 'all', systemDown: false }), powerCut: () => files.afterCrash({ keepUnsynced: 'none' }) }
    },
  })
})

describe('FetchHttpClient', () => {
  httpClientConformance({
    test,
    create: () => ({
      client: new FetchHttpClient(),
      serve: async (handle) => {
        const { endpoint: { port }, close } = await new NodeHttpServer().listen({ host: '127.0.0.1', port: 0 }, handle)
        return { url: `http://127.0.0.1:${port}`, close }
      },
    }),
  })
})
