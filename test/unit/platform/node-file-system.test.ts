import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fileError } from '../../../src/platform/file-error.ts'
import { NodeFileSystem } from '../../../src/platform/node-file-system.ts'
import { MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'

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

it('a link that leads nowhere or in a circle is called that, with what to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-files-'))
  try {
    const files = new NodeFileSystem()
    const [nowhere, circle] = [join(folder, 'nowhere'), join(folder, 'circle')]
    symlinkSync('none', nowhere)
    symlinkSync('circle', circle)
    expect(() => { files.makeDirectory(nowhere) }).toThrow(`make directory ${nowhere}: it is a link that leads nowhere; correct the link, or make what it leads to`)
    for (const run of [() => files.makeDirectory(circle), () => files.stat(circle), () => files.open(circle, 'read')]) {
      expect(run).toThrow(/circle: its links lead in a circle \(ELOOP\); correct them, or name another path$/)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it.each([
  ['EMFILE', /ulimit -n/], ['ENFILE', /fs\.file-max/], ['EFBIG', /ulimit -f/], ['ENAMETOOLONG', /choose a shorter one/], ['EACCES', /give this user the right to do that/], ['EROFS', /read-only/],
])('what the system calls %s says what to do, and keeps its name for who looks for it', (code, remedy) => {
  const error = fileError(Object.assign(new Error(code), { code }), 'open', '/data/x')
  expect(error.message).toMatch(/^open \/data\/x: /)
  expect(error.message).toMatch(remedy)
  expect(error.details['reason']).toBe(code)
})

it.each(['sync', 'sync directory'])('a %s that finds no space has failed: it is no lack of space that may be waited for, on a disk or a simulated one', operation => {
  for (const code of ['ENOSPC', 'EDQUOT', 'EIO']) expect(fileError(Object.assign(new Error(code), { code }), operation, '/data').code, code).toBe('MR_FILE_FAILED')
  const files = new MemoryFileSystem()
  const file = files.open('/x', 'create')
  files.faults.add({ operation: 'any', error: 'ENOSPC' })
  expect(operation === 'sync' ? () => { file.syncNow() } : () => { files.syncDirectory('/') }).toThrow(expect.objectContaining({ code: 'MR_FILE_FAILED' }))
})
