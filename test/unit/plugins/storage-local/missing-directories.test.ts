import { describe, expect, test } from 'vitest'
import { type MillraceError } from '../../../../src/kernel/errors/index.ts'
import { VolatileKeyValueEngine } from '../../../../src/platform/volatile-key-value-engine.ts'
import { fill, newLog } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { formatDirectoryList, parseDirectoryList } from '../../../../src/plugins/storage-local/core/directory-list.ts'
import { bytesOf, clusterId, makeStore, type TestStore } from './store-subjects.ts'

const both = ['/first', '/second']
const listOf = (directory: string): string => `${directory}/.millrace-directories`
const textOf = (files: MemoryFileSystem, path: string): string => new TextDecoder().decode(bytesOf(files, path))

async function started(files: MemoryFileSystem, directories: readonly string[], config: Record<string, unknown> = {}): Promise<TestStore> {
  const made = makeStore({ files, timers: new ManualTimers(), engine: new VolatileKeyValueEngine(), directories, config })
  try {
    await made.store.start()
  } catch (error) {
    await made.store.stop()
    throw error
  }
  return made
}

/** A store that was stopped with a log of one record in each directory. Gives the ids of the directories. */
async function stopped(files: MemoryFileSystem, directories: readonly string[]): Promise<Map<string, string>> {
  const { store } = await started(files, directories)
  for (const _ of directories) fill(newLog({ store }), 1)
  const ids = new Map(store.directories().map(({ path, id }) => [path, id]))
  expect(store.directories().map(({ partitions }) => partitions)).toEqual(directories.map(() => 1))
  await store.stop()
  return ids
}

const refusal = async (files: MemoryFileSystem, directories: readonly string[], config?: Record<string, unknown>): Promise<MillraceError> =>
  await started(files, directories, config).then(() => { throw new Error('it started') }, (error: unknown) => error as MillraceError)

async function partitionsOf(files: MemoryFileSystem, directories: readonly string[], config?: Record<string, unknown>): Promise<number[]> {
  const { store } = await started(files, directories, config)
  const counts = store.directories().map(({ partitions }) => partitions)
  await store.stop()
  return counts
}

describe('a data directory that is missing', () => {
  const ways: Record<string, { readonly change: (files: MemoryFileSystem) => void, readonly directories: readonly string[], readonly now: RegExp }> = {
    'is an empty one, as of a disk that is not mounted': { change: (files) => { files.rename('/second', '/away'); files.makeDirectory('/second') }, directories: both, now: /an empty one/ },
    'is not there at all': { change: (files) => { files.rename('/second', '/away') }, directories: both, now: /there is none now/ },
    'is left out of the setting': { change: () => {}, directories: ['/first'], now: /last at \/second$/ },
    'has another name, which was not given': { change: (files) => { files.rename('/second', '/away') }, directories: ['/first', '/third'], now: /last at \/second$/ },
  }
  test.each(Object.entries(ways))('%s: the start is refused with its id at each try, changes no file, and works when it is back', async (_name, { change, directories, now }) => {
    const files = new MemoryFileSystem()
    const ids = await stopped(files, both)
    change(files)
    const written: string[] = []
    files.observe = ({ kind, path }) => { if (kind === 'write' || kind === 'rename' || kind === 'remove') written.push(path) }
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await refusal(files, directories)
      expect(error).toMatchObject({ code: 'MR_LOG_DIRECTORY_MISSING', details: { ids: ids.get('/second'), lists: listOf('/first'), missing: expect.stringMatching(now) } })
    }
    expect(written).toEqual([])
    files.observe = undefined
    if (files.stat('/away') !== undefined) {
      files.remove('/second')
      files.rename('/away', '/second')
    }
    expect(await partitionsOf(files, both)).toEqual([1, 1])
  })

  test('may be any of three, and the refusal names all that are', async () => {
    const files = new MemoryFileSystem()
    const three = [...both, '/third']
    const ids = await stopped(files, three)
    for (const left of three) {
      const error = await refusal(files, [left])
      expect(String(error.details['ids']).split(', ').sort()).toEqual(three.filter(each => each !== left).map(each => ids.get(each)).sort())
    }
    expect(await partitionsOf(files, three)).toEqual([1, 1, 1])
  })

  test('is given up by its id: a warning tells, all lists forget it, and the setting is not needed any more', async () => {
    const files = new MemoryFileSystem()
    const three = [...both, '/third']
    const ids = await stopped(files, three)
    const id = ids.get('/second')!
    files.remove('/second')
    const { store, logger } = await started(files, ['/first', '/third'], { lostDirectories: [id] })
    expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([expect.objectContaining({ message: expect.stringContaining('was given up'), fields: { id, path: '/second' } })])
    expect(textOf(files, listOf('/first'))).not.toContain(id)
    await store.stop()
    expect(await partitionsOf(files, ['/first', '/third'])).toEqual([1, 1])
  })

  test('and another one in its place that is given up do not excuse one another', async () => {
    const files = new MemoryFileSystem()
    const three = [...both, '/third']
    const ids = await stopped(files, three)
    const error = await refusal(files, ['/first'], { lostDirectories: [ids.get('/second')] })
    expect(error).toMatchObject({ code: 'MR_LOG_DIRECTORY_MISSING', details: { ids: ids.get('/third') } })
  })

  test('is not one that is named as lost and is there: a warning says so, and it serves', async () => {
    const files = new MemoryFileSystem()
    const ids = await stopped(files, both)
    const { store, logger } = await started(files, both, { lostDirectories: [ids.get('/second')] })
    expect(logger.lines.filter(({ level }) => level === 'warn')).toMatchObject([{ fields: { path: '/second' } }])
    await store.stop()
    expect(await refusal(files, ['/first'])).toMatchObject({ code: 'MR_LOG_DIRECTORY_MISSING' })
  })
})

describe('data directories', () => {
  test('under other names and in another order are the same', async () => {
    const files = new MemoryFileSystem()
    await stopped(files, both)
    files.rename('/first', '/x')
    files.rename('/second', '/first')
    files.rename('/x', '/second')
    expect(await partitionsOf(files, both)).toEqual([1, 1])
    files.rename('/first', '/third')
    expect(await partitionsOf(files, ['/third', '/second'])).toEqual([1, 1])
    expect(await refusal(files, ['/third'])).toMatchObject({ details: { missing: expect.stringContaining('last at /second') } })
  })

  test('may have their ids changed by hand: none counts as missing for its old one, also after a crash', async () => {
    for (let step = 1, isDone = false; !isDone; step++) {
      const files = new MemoryFileSystem()
      const ids = await stopped(files, both)
      const meta = '/second/meta.properties'
      const file = files.open(meta, 'ensure')
      const changed = textOf(files, meta).replace(ids.get('/second')!, clusterId)
      file.truncate(0)
      file.write([new TextEncoder().encode(changed)], 0)
      file.syncNow()
      file.close()
      let left: MemoryFileSystem | undefined
      let steps = 0
      files.observe = ({ kind, path }) => {
        if (kind !== 'read' && path.includes('.millrace-directories') && ++steps === step) left = files.afterCrash({ keepUnsynced: 'all' })
      }
      const { store } = await started(files, both)
      files.observe = undefined
      await store.stop()
      isDone = left === undefined
      for (const disk of left === undefined ? [files] : [left]) {
        expect(await partitionsOf(disk, both), `step ${step}`).toEqual([1, 1])
        expect(await refusal(disk, ['/first'])).toMatchObject({ details: { ids: clusterId } })
      }
    }
  })

  test('of a release that kept no lists are taken as they are, and are on the lists from then on', async () => {
    const files = new MemoryFileSystem()
    await stopped(files, both)
    for (const each of both) files.remove(listOf(each))
    expect(await partitionsOf(files, both)).toEqual([1, 1])
    expect(await refusal(files, ['/second'])).toMatchObject({ code: 'MR_LOG_DIRECTORY_MISSING' })
  })

  test('whose lists say what is so are not written at a start', async () => {
    const files = new MemoryFileSystem()
    await stopped(files, both)
    const written: string[] = []
    files.observe = ({ kind, path }) => { if (kind === 'write') written.push(path) }
    await partitionsOf(files, both)
    expect(written.length).toBeGreaterThan(0)
    expect(written.filter(path => /directories|meta\.prop/.test(path))).toEqual([])
  })

  test('one of which fails are not missing; all of them are on the lists when it is back', async () => {
    const files = new MemoryFileSystem()
    await stopped(files, both)
    const remove = files.faults.add({ operation: 'open', path: /^\/second/, error: 'EIO' })
    const { store } = await started(files, both)
    expect(store.directories().map(({ offline }) => offline !== undefined)).toEqual([false, true])
    await store.stop()
    remove()
    expect(await partitionsOf(files, both)).toEqual([1, 1])
    files.faults.add({ operation: 'open', path: /^\/second/, error: 'EIO' })
    expect(await refusal(files, ['/second', '/third'])).toMatchObject({ code: 'MR_FILE_FAILED' })
  })

  test('one of which fails take no new one into use, which it could not be told of', async () => {
    const files = new MemoryFileSystem()
    await stopped(files, both)
    const remove = files.faults.add({ operation: 'write', path: /^\/second\/\.millrace-directories/, error: 'EIO' })
    const { store } = await started(files, [...both, '/third'])
    expect(store.directories().map(({ offline }) => offline?.includes('it is new'))).toEqual([undefined, false, true])
    await store.stop()
    remove()
    expect(files.stat('/third/meta.properties')).toBeUndefined()
    expect(await partitionsOf(files, [...both, '/third'])).toEqual([1, 1, 0])
  })

  test('have a damaged list made anew from that of another; where there is no other the start is refused', async () => {
    const files = new MemoryFileSystem()
    await stopped(files, both)
    const damage = (directory: string): void => {
      const file = files.open(listOf(directory), 'ensure')
      file.write([new TextEncoder().encode('x')], 25)
      file.close()
    }
    damage('/first')
    expect(await refusal(files, ['/first'])).toMatchObject({ code: 'MR_LOG_DIRECTORY_LIST_CORRUPT', details: { path: listOf('/first') } })
    const { store, logger } = await started(files, both)
    expect(logger.lines.some(({ level, fields }) => level === 'warn' && fields['path'] === listOf('/first'))).toBe(true)
    await store.stop()
    expect(await refusal(files, ['/first'])).toMatchObject({ code: 'MR_LOG_DIRECTORY_MISSING' })
  })
})

describe('a start that is ended at any step', () => {
  /** What says which directories there are; directories themselves are made and synced. */
  const concerned = /^\/[a-z]+$|\.millrace-directories|meta\.properties/

  /** Ends the process at the given change of such a file: what comes after is not done. */
  async function endedAt(files: MemoryFileSystem, step: number, directories: readonly string[], config?: Record<string, unknown>): Promise<{ readonly isDone: boolean, readonly left: MemoryFileSystem[] }> {
    let steps = 0
    let left: MemoryFileSystem[] | undefined
    files.observe = ({ kind, path }) => {
      if (kind === 'read' || !concerned.test(path) || left !== undefined || ++steps < step) return
      left = (['all', 'none'] as const).map(keepUnsynced => files.afterCrash({ keepUnsynced }))
    }
    const { store } = await started(files, directories, config)
    files.observe = undefined
    if (left !== undefined) return { isDone: false, left }
    for (const _ of directories) fill(newLog({ store }), 1)
    return { isDone: true, left: [] }
  }

  const three = [...both, '/third']
  const before: Record<string, { readonly had: readonly string[], readonly change?: (files: MemoryFileSystem) => void, readonly lost?: string }> = {
    'of the first data directories': { had: [] },
    'with a third directory that is new': { had: both },
    'with two directories that are new': { had: ['/first'] },
    'after a release without lists': { had: three, change: (files) => { for (const each of three) files.remove(listOf(each)) } },
    'that gives a directory up, with a new one in its place': { had: three, change: (files) => { files.remove('/third'); files.syncDirectory('/') }, lost: '/third' },
  }
  test.each(Object.entries(before))('%s, is followed by one that takes all, after which none may be missing', async (_name, { had, change, lost }) => {
    let steps = 0
    for (let step = 1; ; step++) {
      const files = new MemoryFileSystem()
      const ids = had.length === 0 ? new Map<string, string>() : await stopped(files, had)
      change?.(files)
      const config = lost === undefined ? {} : { lostDirectories: [ids.get(lost)] }
      const { isDone, left } = await endedAt(files, step, three, config)
      for (const each of left) {
        // What held a log may be missing from no start, wherever the last one ended.
        const mustHave = had.filter(path => path !== lost)
        if (mustHave.length > 1 && change === undefined) expect(await refusal(each, [mustHave[1]!])).toMatchObject({ code: 'MR_LOG_DIRECTORY_MISSING' })
        const counts = await partitionsOf(each, three, config)
        expect(counts).toEqual(three.map(path => mustHave.includes(path) ? 1 : 0))
        expect(await refusal(each, [three[step % 3]!])).toMatchObject({ code: 'MR_LOG_DIRECTORY_MISSING' })
      }
      if (isDone) break
      steps++
    }
    expect(steps).toBeGreaterThan(10)
  })

  test('leaves a new directory without meta.properties, or named in all lists', async () => {
    for (let step = 1; ; step++) {
      const files = new MemoryFileSystem()
      await stopped(files, ['/first'])
      const { isDone, left } = await endedAt(files, step, three)
      for (const each of left) for (const path of both.slice(1)) {
        if (each.stat(`${path}/meta.properties`) === undefined) continue
        const id = /directory\.id=(\S+)/.exec(textOf(each, `${path}/meta.properties`))![1]!
        for (const other of three) expect(textOf(each, listOf(other)), `step ${step}`).toContain(id)
      }
      if (isDone) break
    }
  })
})

describe('the list of data directories', () => {
  const list = { self: 'AAAAAAAAAAAAAAAAAAAAAQ', all: [{ id: 'AAAAAAAAAAAAAAAAAAAAAQ', path: 'd1' }, { id: 'AAAAAAAAAAAAAAAAAAAAAg', path: '/a b/"c"\nd' }] }

  test('is read as it was written, whatever the paths are', () => {
    expect(parseDirectoryList(formatDirectoryList(list))).toEqual(list)
  })

  test('is damaged with any byte that is not what was written, and any end', () => {
    const bytes = new TextEncoder().encode(formatDirectoryList(list))
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice()
      changed[at]! ^= 1
      expect(parseDirectoryList(new TextDecoder().decode(changed)), `byte ${at}`).toBeUndefined()
      expect(parseDirectoryList(new TextDecoder().decode(bytes.subarray(0, at))), `${at} bytes`).toBeUndefined()
    }
  })
})
