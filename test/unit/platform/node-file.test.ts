import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { NodeFileSystem } from '../../../src/platform/node-file-system.ts'
import { systemFileCalls, type SystemFileCalls } from '../../../src/platform/system-file-calls.ts'

type SyncDone = (error: NodeJS.ErrnoException | null) => void

/** Syncs that end when the test says so. */
function heldSyncs(): { readonly calls: SystemFileCalls, readonly started: SyncDone[], readonly closed: number[] } {
  const started: SyncDone[] = []
  const closed: number[] = []
  const calls = {
    ...systemFileCalls,
    fdatasync: ((_fd: number, done: SyncDone) => void started.push(done)) as SystemFileCalls['fdatasync'],
    closeSync: (fd: number) => {
      closed.push(fd)
      systemFileCalls.closeSync(fd)
    },
  }
  return { calls, started, closed }
}

describe('NodeFile', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'millrace-file-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  test('at most three syncs are in the pool, and a file that waits is synced once for all who ask', () => {
    const { calls, started } = heldSyncs()
    const files = new NodeFileSystem(calls)
    const open = ['a', 'b', 'c', 'd'].map(name => files.open(join(directory, name), 'create'))
    const done: string[] = []
    open.forEach((file, index) => file.sync(() => done.push(`first ${index}`)))
    open[3]!.sync(() => done.push('second 3'))
    expect(started.length).toBe(3)
    started[1]!(null)
    expect(done).toEqual(['first 1'])
    expect(started.length).toBe(4)
    started[3]!(null)
    expect(done).toEqual(['first 1', 'first 3', 'second 3'])
    expect(started.length).toBe(4)
    started[0]!(null)
    started[2]!(null)
    for (const file of open) file.close()
  })

  test('a sync asked for while one runs is not joined to it: it would not cover what was written since', () => {
    const { calls, started } = heldSyncs()
    const file = new NodeFileSystem(calls).open(join(directory, 'a'), 'create')
    file.sync(() => {})
    file.sync(() => {})
    expect(started.length).toBe(2)
    for (const each of started) each(null)
    file.close()
  })

  test('a closed file keeps its descriptor until its sync has come back', () => {
    const { calls, started, closed } = heldSyncs()
    const file = new NodeFileSystem(calls).open(join(directory, 'a'), 'create')
    let synced = 0
    file.sync(() => synced++)
    file.close()
    file.close()
    expect(closed).toEqual([])
    started[0]!(null)
    expect(synced).toBe(1)
    expect(closed.length).toBe(1)
    expect(() => file.size()).toThrow('not used after it was closed')
  })

  test.each(['EIO', 'ENOSPC', 'EDQUOT'])('a failed sync (%s) names the operation and the path, and is never a lack of space that may be waited for', errno => {
    const { calls, started } = heldSyncs()
    const file = new NodeFileSystem(calls).open(join(directory, 'a'), 'create')
    let failure: unknown
    file.sync(error => {
      failure = error
    })
    started[0]!(Object.assign(new Error('bad disk'), { code: errno }))
    expect(isMillraceError(failure, 'MR_FILE_FAILED')).toBe(true)
    expect(String(failure)).toContain(`sync ${join(directory, 'a')}: ${errno}`)
    file.close()
  })

  test('a read that comes in pieces is put together, here and in the pool', async () => {
    const calls: SystemFileCalls = {
      ...systemFileCalls,
      readSync: ((fd: number, target: Uint8Array, at: number, length: number, position: number) =>
        systemFileCalls.readSync(fd, target, at, Math.min(length, 2), position)) as SystemFileCalls['readSync'],
      read: ((fd: number, target: Uint8Array, at: number, length: number, position: number, done: () => void) =>
        systemFileCalls.read(fd, target, at, Math.min(length, 2), position, done)) as SystemFileCalls['read'],
    }
    const file = new NodeFileSystem(calls).open(join(directory, 'a'), 'create')
    file.write([Uint8Array.of(1, 2, 3, 4, 5)], 0)
    const now = new Uint8Array(8)
    expect(file.read(now, 1, 7, 0)).toBe(5)
    expect([...now]).toEqual([0, 1, 2, 3, 4, 5, 0, 0])
    const later = new Uint8Array(8)
    const bytes = await new Promise<number>((resolve, reject) => {
      file.readLater(later, 1, 7, 0, (error, count) => error === undefined ? resolve(count) : reject(error as Error))
    })
    expect(bytes).toBe(5)
    expect([...later]).toEqual([...now])
    file.close()
  })

  test('a read outside its target is refused', () => {
    const file = new NodeFileSystem().open(join(directory, 'a'), 'create')
    expect(() => file.read(new Uint8Array(4), 2, 3, 0)).toThrow('stays inside its target')
    file.close()
  })
})
