import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { NodeFileSystem } from '../../../src/platform/node-file-system.ts'

it.skipIf(!existsSync('/proc/self'))('a directory in a file system that takes none is refused, and the call returns', () => {
  expect(() => { new NodeFileSystem().makeDirectory('/proc/none/at/all') }).toThrow(expect.objectContaining({ code: 'MR_FILE_NOT_FOUND' }))
})

it('a pipe, a device or a directory is refused where a file is to be read, without waiting for it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-files-'))
  try {
    const pipe = join(folder, '00000000000000000000.log')
    execFileSync('mkfifo', [pipe])
    const files = new NodeFileSystem()
    for (const path of [pipe, '/dev/null', folder]) expect(() => files.open(path, 'read'), path).toThrow(expect.objectContaining({ code: 'MR_FILE_FAILED' }))
    expect(() => files.open(pipe, 'read')).toThrow(`open ${pipe}: it is no regular file`)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
