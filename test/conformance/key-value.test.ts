import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { LevelKeyValueEngine } from '../../src/platform/level-key-value-engine.ts'
import { VolatileKeyValueEngine } from '../../src/platform/volatile-key-value-engine.ts'
import { keyValueConformance } from '../../src/testkit/conformance/key-value.ts'

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
