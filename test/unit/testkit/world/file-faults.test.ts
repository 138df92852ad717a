import { describe, expect, test } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { type File } from '../../../../src/kernel/ports/file-system.ts'
import { faultSwarm, fileFaultKinds } from '../../../../src/testkit/world/fault-swarm.ts'
import { nameOfFault, type FileFault } from '../../../../src/testkit/world/file-faults.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { bytesOf, codeOf, filled, putSynced, runsOf } from './disk-files.ts'

/** The synced content is 1, the one before 9; then this fault. */
function withFault(fault: FileFault): { readonly files: MemoryFileSystem, readonly file: File } {
  const files = new MemoryFileSystem({ blockBytes: 512 })
  const file = putSynced(files, '/a', filled(2048, 9))
  file.write([filled(2048, 1)], 0)
  file.syncNow()
  putSynced(files, '/other', filled(1024, 5))
  files.faults.add(fault)
  return { files, file }
}

const read = (file: File, position = 0, length = 2048): string => {
  const target = new Uint8Array(length)
  return runsOf(target.subarray(0, file.read(target, 0, length, position)))
}

describe('a call that fails', () => {
  test('is the one of this number, of this path, once or for ever, whatever its kind if so asked', () => {
    const files = new MemoryFileSystem()
    const file = putSynced(files, '/a', filled(10, 1))
    const remove = files.faults.add({ operation: 'any', error: 'EIO', skip: 3, times: 1 })
    const calls = (): string[] => [() => file.size(), () => files.list('/'), () => files.stat('/a'), () => files.rename('/a', '/b'), () => files.remove('/b')].map(codeOf)
    expect(calls()).toEqual(['nothing thrown', 'nothing thrown', 'nothing thrown', 'MR_FILE_FAILED', 'nothing thrown'])
    expect(files.list('/')).toEqual(['a'])
    remove()
    files.faults.add({ operation: 'open', path: /^\/d\//, error: 'EMFILE' })
    expect([1, 2].map(() => codeOf(() => files.open('/d/x', 'ensure')))).toEqual(['MR_FILE_NOT_FOUND', 'MR_FILE_NOT_FOUND'])
    files.makeDirectory('/d')
    putSynced(files, '/d/x', filled(1, 1))
    expect([1, 2].map(() => codeOf(() => files.open('/d/x', 'read')))).toEqual(['MR_FILE_FAILED', 'MR_FILE_FAILED'])
    expect(files.counts.all()).toEqual([['any: EIO', 1], ['open: EMFILE', 2]])
  })

  test.each(fileFaultKinds.filter(fault => 'error' in fault && fault.operation !== 'write' && fault.operation !== 'sync'))(
    '$operation with $error: changes nothing', fault => {
      const files = new MemoryFileSystem()
      files.makeDirectory('/d')
      const file = putSynced(files, '/d/a', filled(10, 1))
      const remove = files.faults.add(fault)
      const run: Record<string, () => unknown> = {
        'open': () => files.open('/d/a', 'read'), 'create': () => files.open('/d/new', 'create'), 'list': () => files.list('/d'), 'stat': () => files.stat('/d/a'),
        'make directory': () => { files.makeDirectory('/d/e') }, 'rename': () => { files.rename('/d/a', '/d/b') }, 'remove': () => { files.remove('/d/a') },
        'sync directory': () => { files.syncDirectory('/d') }, 'size': () => file.size(), 'read': () => read(file), 'truncate': () => { file.truncate(3) },
      }
      expect(codeOf(run[fault.operation]!)).toMatch(/^MR_FILE_/)
      expect(files.counts.of(nameOfFault(fault))).toBe(1)
      remove()
      expect([files.list('/d'), runsOf(bytesOf(files, '/d/a'))]).toEqual([['a'], '10x1'])
      expect(codeOf(run[fault.operation]!)).toBe('nothing thrown')
    })

  test('a write that fails has written any prefix, and works again when there is room', () => {
    const lengths = new Set<number>()
    const { files, file } = withFault({ operation: 'write', path: '/a', error: 'ENOSPC', keptBytes: 'by chance', times: 200 })
    for (let count = 0; count < 200; count++) {
      file.truncate(0)
      expect(codeOf(() => { file.write([filled(3, 2), filled(2, 2)], 0) })).toBe('MR_FILE_NO_SPACE')
      lengths.add(file.size())
    }
    expect([...lengths].sort()).toEqual([0, 1, 2, 3, 4, 5])
    file.truncate(0)
    file.write([filled(5, 2)], 0)
    expect([read(file), files.counts.of('write: ENOSPC, some bytes written')]).toEqual(['5x2', 200])
  })

  test('a full disk takes what fits, tells how much is free, and can be made larger', () => {
    const files = new MemoryFileSystem({ capacityBytes: 100 })
    const file = putSynced(files, '/a', filled(90, 1))
    expect(codeOf(() => { file.write([filled(20, 2)], 90) })).toBe('MR_FILE_NO_SPACE')
    expect([read(file), files.space('/').freeBytes, files.counts.of('write: disk full')]).toEqual(['90x1 10x2', 0, 1])
    files.resize(200)
    file.write([filled(20, 3)], 100)
    expect([file.size(), files.space('/').freeBytes]).toEqual([120, 80])
    expect(files.afterCrash({ keepUnsynced: 'none' }).space('/').freeBytes).toBe(110)
  })
})

describe('a sync that fails', () => {
  const failed = (blocks: 'keep' | 'drop' | 'some') => {
    const { files, file } = withFault({ operation: 'sync', path: '/a', error: 'EIO', blocks, times: 1 })
    file.write([filled(1024, 2)], 512)
    file.write([filled(512, 3)], 2048)
    expect(codeOf(() => { file.syncNow() })).toBe('MR_FILE_FAILED')
    return { files, file }
  }

  test('proves nothing when it is tried again: the blocks count as written, readers see them, and a power cut takes them', () => {
    const { files, file } = failed('keep')
    expect(codeOf(() => { file.syncNow() })).toBe('nothing thrown')
    expect(read(file, 0, 4096)).toBe('512x1 1024x2 512x1 512x3')
    expect(runsOf(bytesOf(files.afterCrash({ keepUnsynced: 'none' }), '/a'))).toBe('2048x1')
    expect(runsOf(bytesOf(files.afterCrash({ keepUnsynced: 'all' }), '/a'))).toBe('512x1 1024x2 512x1 512x3')
  })

  test('or readers see the old blocks at once', () => {
    const { files, file } = failed('drop')
    expect([read(file, 0, 4096), file.size(), files.stat('/a')!.bytes]).toEqual(['2048x1', 2048, 2048])
    file.write([filled(1, 4)], 0)
    file.syncNow()
    expect(runsOf(bytesOf(files.afterCrash({ keepUnsynced: 'none' }), '/a'))).toBe('1x4 2047x1')
  })

  test('or some of the blocks are on the disk', () => {
    const found = new Set<string>()
    for (let faultSeed = 0; faultSeed < 100; faultSeed++) {
      const files = new MemoryFileSystem({ blockBytes: 512, faultSeed })
      const file = putSynced(files, '/a', filled(1024, 1))
      file.write([filled(1024, 2)], 0)
      files.faults.add({ operation: 'sync', error: 'EIO', blocks: 'some' })
      expect(codeOf(() => { file.syncNow() })).toBe('MR_FILE_FAILED')
      expect(read(file)).toBe('1024x2')
      found.add(runsOf(bytesOf(files.afterCrash({ keepUnsynced: 'none' }), '/a')))
    }
    expect([...found].sort()).toEqual(['1024x1', '1024x2', '512x1 512x2', '512x2 512x1'])
  })

  test('one that lies reports success and makes nothing durable; the next honest one does', () => {
    const { files, file } = withFault({ operation: 'sync', damage: 'lie', times: 1 })
    file.write([filled(2048, 2)], 0)
    file.syncNow()
    expect(runsOf(bytesOf(files.afterCrash({ keepUnsynced: 'none' }), '/a'))).toBe('2048x1')
    file.syncNow()
    expect(runsOf(bytesOf(files.afterCrash({ keepUnsynced: 'none' }), '/a'))).toBe('2048x2')
    files.faults.add({ operation: 'sync directory', damage: 'lie', times: 1 })
    files.open('/new', 'create')
    files.syncDirectory('/')
    expect(files.afterCrash({ keepUnsynced: 'none' }).list('/')).toEqual(['a', 'other'])
    files.syncDirectory('/')
    expect(files.afterCrash({ keepUnsynced: 'none' }).list('/')).toEqual(['a', 'new', 'other'])
    expect(files.counts.all().filter(([kind]) => !kind.startsWith('crash'))).toEqual([['sync directory: lie', 1], ['sync: lie', 1]])
  })
})

describe('a read that succeeds', () => {
  const cases: readonly (readonly [FileFault, string])[] = [
    [{ operation: 'read', damage: 'bit flipped', place: { position: 600, bit: 1 }, times: 1 }, '600x1 1x3 1447x1'],
    [{ operation: 'read', damage: 'block zeroed', place: { position: 512 }, times: 1 }, '512x1 512x0 1024x1'],
    [{ operation: 'read', damage: 'block zeroed', place: { position: 1000, bytes: 10 }, times: 1 }, '1000x1 10x0 1038x1'],
    [{ operation: 'read', damage: 'block stale', place: { position: 1024 }, times: 1 }, '1024x1 512x9 512x1'],
    [{ operation: 'read', damage: 'block misdirected', place: { position: 0 }, from: { path: '/other', position: 512 }, times: 1 }, '512x5 1536x1'],
  ]
  test.each(cases)('gives other bytes, once, and what is stored stays right: %j', (fault, expected) => {
    const { files, file } = withFault({ ...fault, path: '/a' } as FileFault)
    expect([read(file), read(file)]).toEqual([expected, '2048x1'])
    expect(files.counts.all()).toEqual([[nameOfFault(fault), 1]])
  })

  test('or a place by chance, also off the loop, on a block of the disk', async () => {
    for (const damage of ['bit flipped', 'block zeroed', 'block stale', 'block misdirected'] as const) {
      const found = new Set<string>()
      const { files, file } = withFault({ operation: 'read', path: '/a', damage })
      for (let count = 0; count < 100; count++) {
        const target = new Uint8Array(2048)
        await new Promise<void>(resolve => file.readLater(target, 0, 2048, 0, () => resolve()))
        found.add(runsOf(target))
      }
      expect(found.size, damage).toBeGreaterThanOrEqual(4)
      if (damage !== 'bit flipped') for (const runs of found) expect(runs, damage).toMatch(/^((512|1024|1536|2048)x\d ?)+$/)
      expect(runsOf(bytesOf(files.afterCrash({ keepUnsynced: 'all' }), '/a'))).toBe('2048x1')
    }
  })

  test('and does not count where the place holds such bytes already, or there is no other', () => {
    const files = new MemoryFileSystem()
    const file = putSynced(files, '/only', filled(100, 0))
    for (const damage of ['block zeroed', 'block misdirected'] as const) files.faults.add({ operation: 'read', damage, times: 1 })
    expect(read(file, 0, 100)).toBe('100x0')
    expect(files.counts.all()).toEqual([])
  })
})

describe('a write that is reported as done', () => {
  test('may have gone to another place of the file, or to another file', () => {
    const { files, file } = withFault({ operation: 'write', damage: 'misdirected', to: { path: '/other', position: 512 }, times: 1 })
    file.write([filled(10, 2)], 0)
    file.write([filled(10, 3)], 0)
    expect([read(file), runsOf(bytesOf(files, '/other'))]).toEqual(['10x3 2038x1', '512x5 10x2 502x5'])
    const places = new Set<string>()
    for (let faultSeed = 0; faultSeed < 60; faultSeed++) {
      const some = new MemoryFileSystem({ blockBytes: 512, faultSeed })
      const target = putSynced(some, '/a', filled(1024, 1))
      putSynced(some, '/b', filled(512, 5))
      some.faults.add({ operation: 'write', damage: 'misdirected' })
      target.write([filled(512, 2)], 0)
      places.add(`${runsOf(bytesOf(some, '/a'))} ${runsOf(bytesOf(some, '/b'))}`)
    }
    expect([...places].sort()).toEqual(['1024x1 512x2', '512x1 512x2 512x5'])
  })

  test('or nowhere', () => {
    const { files, file } = withFault({ operation: 'write', damage: 'lost', times: 1 })
    file.write([filled(4096, 2)], 0)
    expect([read(file), files.counts.of('write: lost')]).toEqual(['2048x1', 1])
  })
})

describe('a slow disk', () => {
  test('a sync or a read off the loop takes longer where a fault says so', () => {
    const timers = new ManualTimers()
    const files = new MemoryFileSystem({ timers, syncMs: () => 5, readMs: () => 2 })
    const file = files.open('/a', 'create')
    files.faults.add({ operation: 'sync', delayMs: 60_000, times: 1 })
    files.faults.add({ operation: 'read', delayMs: () => 7 })
    const ended: string[] = []
    const end = (what: string) => () => { ended.push(`${what} ${timers.clock.monotonicMs()}`) }
    file.sync(end('first sync'))
    file.sync(end('second sync'))
    file.readLater(new Uint8Array(1), 0, 1, 0, end('read'))
    timers.advance(100_000)
    expect(ended).toEqual(['second sync 5', 'read 9', 'first sync 60005'])
    expect(files.counts.all()).toEqual([['read: delayed', 1], ['sync: delayed', 1]])
  })

  test('one that stands still ends nothing until it goes on, and then everything', () => {
    const timers = new ManualTimers()
    const files = new MemoryFileSystem({ timers, syncMs: () => 5 })
    const file = files.open('/a', 'create')
    file.write([filled(1, 1)], 0)
    const ended: unknown[] = []
    file.sync(error => ended.push(error))
    const goOn = files.stall()
    file.readLater(new Uint8Array(1), 0, 1, 0, (_error, bytes) => ended.push(bytes))
    timers.advance(600_000)
    expect([ended, files.unsyncedChanges()]).toEqual([[], 2])
    goOn()
    timers.advance(1)
    expect([ended, files.unsyncedChanges()]).toEqual([[1, undefined], 1])
  })
})

test('faults by chance: a seed draws the same kinds and hits the same calls, and over the seeds every kind is reached', () => {
  const run = (seed: number): MemoryFileSystem => {
    const prng = new Prng(seed)
    const timers = new ManualTimers()
    const files = new MemoryFileSystem({ faultSeed: seed, timers })
    for (const fault of faultSwarm(prng.fork('faults'), { chanceMax: 0.5 })) files.faults.add(fault)
    const attempt = (body: () => void): void => { codeOf(body) }
    for (let step = 0; step < 300; step++) {
      const path = `/d/${prng.below(4)}`
      attempt(() => { files.makeDirectory('/d') })
      attempt(() => { files.syncDirectory('/d') })
      attempt(() => {
        const file = files.open(path, 'ensure')
        attempt(() => { file.write([prng.bytes(3000)], prng.below(2) * 4096) })
        attempt(() => { file.syncNow() })
        attempt(() => { file.read(new Uint8Array(6000), 0, file.size() > 6000 ? 6000 : file.size(), 0) })
        attempt(() => { if (prng.chance(0.1)) file.truncate(100) })
        file.sync(() => {})
        file.readLater(new Uint8Array(10), 0, 10, 0, () => {})
      })
      attempt(() => { files.open(path, 'read') })
      attempt(() => { if (prng.chance(0.1)) files.rename(path, '/d/x') })
      attempt(() => { if (prng.chance(0.1)) files.remove(path) })
      attempt(() => { files.list('/d') })
      attempt(() => { files.stat(path) })
      timers.advance(10)
    }
    return files
  }
  expect(run(3).counts.all()).toEqual(run(3).counts.all())
  const reached = new Set<string>()
  for (let seed = 0; seed < 30; seed++) for (const [kind] of run(seed).counts.all()) reached.add(kind)
  expect([...reached].sort()).toEqual([...new Set(fileFaultKinds.map(nameOfFault))].sort())
})
