import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { NodeFileSystem } from '../../src/platform/node-file-system.ts'
import { fileSystemConformance } from '../../src/testkit/conformance/file-system.ts'
import { MemoryFileSystem } from '../../src/testkit/world/memory-file-system.ts'

describe('NodeFileSystem', () => {
  fileSystemConformance({
    test,
    create: () => {
      const directory = mkdtempSync(join(tmpdir(), 'millrace-files-'))
      return { files: new NodeFileSystem(), directory, dispose: () => rmSync(directory, { recursive: true }) }
    },
  })
})

describe('MemoryFileSystem', () => {
  fileSystemConformance({
    test,
    create: () => {
      const files = new MemoryFileSystem()
      files.makeDirectory('/data/test')
      files.syncDirectory('/')
      return { files, directory: '/data/test', powerCut: () => files.afterCrash({ keepUnsynced: 'none' }) }
    },
  })
})
