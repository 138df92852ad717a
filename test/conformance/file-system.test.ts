import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { NodeFileSystem } from '../../src/platform/node-file-system.ts'
import { fileSystemConformance } from '../../src/testkit/conformance/file-system.ts'
import { MemoryFileSystem } from '../../src/testkit/world/memory-file-system.ts'
import { seedsOf } from '../integration/seeds.ts'

/** New ones with CRASH_SEEDS=n, one alone with SEED=n. */
const seeds = seedsOf([1, 2, 3, 4, 5, 6, 7, 8])

describe('NodeFileSystem', () => {
  fileSystemConformance({
    test,
    seeds,
    create: () => {
      const directory = mkdtempSync(join(tmpdir(), 'millrace-files-'))
      return { files: new NodeFileSystem(), directory, dispose: () => rmSync(directory, { recursive: true }) }
    },
  })
})

describe.each(['ordered', 'each'] as const)('MemoryFileSystem, names %s', reach => {
  fileSystemConformance({
    test,
    create: () => {
      const files = new MemoryFileSystem({ names: reach })
      files.makeDirectory('/data/test')
      files.syncDirectory('/')
      files.syncDirectory('/data')
      return { files, directory: '/data/test', powerCut: () => files.afterCrash({ keepUnsynced: 'none' }) }
    },
  })
})
