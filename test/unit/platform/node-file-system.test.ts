import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { NodeFileSystem } from '../../../src/platform/node-file-system.ts'

it.skipIf(!existsSync('/proc/self'))('a directory in a file system that takes none is refused, and the call returns', () => {
  expect(() => { new NodeFileSystem().makeDirectory('/proc/none/at/all') }).toThrow(expect.objectContaining({ code: 'MR_FILE_NOT_FOUND' }))
})
