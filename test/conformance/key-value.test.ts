import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { LevelKeyValueEngine } from '../../src/platform/level-key-value-engine.ts'
import { VolatileKeyValueEngine } from '../../src/platform/volatile-key-value-engine.ts'
import { keyValueConformance } from '../../src/testkit/conformance/key-value.ts'
import { LogKeyValueEngine } from '../../src/testkit/world/log-key-value-engine.ts'
import { MemoryFileSystem } from '../../src/testkit/world/memory-file-system.ts'
import { MemoryKeyValueEngine } from '../../src/testkit/world/memory-key-value-engine.ts'
import { SeededRandom } from '../../src/testkit/world/seeded-random.ts'
import { SimScheduler } from '../../src/testkit/world/sim-scheduler.ts'
import { SimTimers } from '../../src/testkit/world/sim-timers.ts'

describe('LevelKeyValueEngine', () => {
  keyValueConformance({
    test,
    create: () => {
      const directory = mkdtempSync(join(tmpdir(), 'millrace-level-'))
      return { engine: new LevelKeyValueEngine(), path: join(directory, 'store'), dispose: () => rmSync(directory, { recursive: true }) }
    },
  })
})

describe('VolatileKeyValueEngine', () => {
  keyValueConformance({ test, create: () => ({ engine: new VolatileKeyValueEngine(), path: '/store', dispose: () => {} }) })
})

describe('MemoryKeyValueEngine', () => {
  keyValueConformance({
    test,
    create: () => {
      const engine = new MemoryKeyValueEngine()
      return { engine, path: '/data/store', powerCut: () => engine.afterCrash({ keepUnsynced: 'none' }) }
    },
  })
})

describe('LogKeyValueEngine', () => {
  keyValueConformance({
    test,
    create: () => {
      const files = new MemoryFileSystem()
      return { engine: new LogKeyValueEngine(files), path: '/data/store', powerCut: () => new LogKeyValueEngine(files.afterCrash({ keepUnsynced: 'none' })) }
    },
  })
})

describe('MemoryKeyValueEngine in virtual time', () => {
  keyValueConformance({
    test,
    create: () => {
      const scheduler = new SimScheduler()
      const random = new SeededRandom(1)
      const engine = new MemoryKeyValueEngine({ timers: new SimTimers(scheduler, 'disk'), syncMs: () => random.fraction() * 5 })
      return {
        engine, path: '/data/store', powerCut: () => engine.afterCrash({ keepUnsynced: 'none' }),
        settle: promise => scheduler.complete(promise),
      }
    },
  })
})
