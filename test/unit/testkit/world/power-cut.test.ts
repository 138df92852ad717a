import { describe, expect, test } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { MemoryFileSystem, type MemoryFileSystemOptions } from '../../../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'
import { bytesOf, filled, firstSeed, putSynced, runsOf } from './disk-files.ts'

/** What power cuts by chance leave, each outcome once, sorted. */
function outcomes(files: MemoryFileSystem, describeOne: (found: MemoryFileSystem) => string, tries = 2000): string[] {
  const seen = new Set<string>()
  for (let seed = 0; seed < tries; seed++) seen.add(describeOne(files.afterCrash({ keepUnsynced: new SeededRandom(seed) })))
  return [...seen].sort()
}

const names = (files: MemoryFileSystem, ...directories: string[]): string =>
  directories.map(directory => files.list(directory).join()).join(' | ')

describe('contents after a power cut', () => {
  test('each block is as synced or as after any of its writes, on its own, whatever the order of the writes', () => {
    const files = new MemoryFileSystem({ blockBytes: 512 })
    const file = putSynced(files, '/a', filled(1024, 0))
    file.write([filled(1024, 1)], 0)
    file.write([filled(512, 2)], 0)
    file.write([filled(100, 3)], 512)
    const first = ['512x0', '512x1', '512x2']
    const second = ['512x0', '512x1', '100x3 412x1']
    const expected = first.flatMap(left => second.map(right => left === right ? left.replace('512', '1024') : `${left} ${right}`))
    expect(outcomes(files, found => runsOf(bytesOf(found, '/a')))).toEqual(expected.sort())
  })

  test('blocks of 4096 bytes are never torn inside, blocks of 512 are; without a word chance takes either', () => {
    const torn = (options: MemoryFileSystemOptions): boolean => {
      const files = new MemoryFileSystem(options)
      putSynced(files, '/a', filled(4096, 0)).write([filled(4096, 1)], 0)
      const found = outcomes(files, each => runsOf(bytesOf(each, '/a')), 300)
      expect(found).toEqual(expect.arrayContaining(['4096x0', '4096x1']))
      return found.length > 2
    }
    expect([torn({ blockBytes: 4096 }), torn({ blockBytes: 512 }), torn({})]).toEqual([false, true, true])
  })

  test('a file that grew has any of its sizes; what was not reached is zero', () => {
    const files = new MemoryFileSystem({ blockBytes: 512 })
    const file = putSynced(files, '/a', filled(100, 1))
    file.write([filled(500, 2)], 100)
    file.write([filled(100, 3)], 600)
    expect(outcomes(files, found => runsOf(bytesOf(found, '/a')))).toEqual([
      '100x1',
      '100x1 500x0', '100x1 412x0 88x2', '100x1 412x2 88x0', '100x1 500x2',
      '100x1 600x0', '100x1 412x0 88x2 100x0', '100x1 412x0 88x2 100x3', '100x1 412x2 188x0', '100x1 500x2 100x0', '100x1 500x2 100x3',
    ].sort())
  })

  test('a block that was given to a file and not reached may hold bytes of files that are gone, where the disk is such', () => {
    const found = (garbage: boolean): string[] => {
      const files = new MemoryFileSystem({ blockBytes: 512, garbage })
      putSynced(files, '/gone', filled(512, 9))
      files.remove('/gone')
      const file = putSynced(files, '/a', filled(512, 1))
      file.write([filled(512, 2)], 512)
      return outcomes(files, each => runsOf(bytesOf(each, '/a')), 500)
    }
    expect(found(false)).toEqual(['512x1', '512x1 512x0', '512x1 512x2'])
    expect(found(true)).toEqual(['512x1', '512x1 512x0', '512x1 512x2', '512x1 512x9'])
  })

  test('a truncation may not have happened; where it has, what it took does not come back', () => {
    const files = new MemoryFileSystem({ blockBytes: 512 })
    const file = putSynced(files, '/a', filled(1024, 1))
    file.truncate(700)
    file.truncate(1200)
    expect(outcomes(files, found => runsOf(bytesOf(found, '/a')))).toEqual(['1024x1', '700x1', '700x1 500x0'])
  })

  test('any history: every block is one of those that the file has had since the sync, and so is its size', () => {
    const seed = firstSeed()
    for (let round = 0; round < 60; round++) {
      const prng = new Prng(seed + round)
      const files = new MemoryFileSystem({ blockBytes: 512 })
      const file = putSynced(files, '/a', prng.bytes(1 + prng.below(2000)))
      let states = [bytesOf(files, '/a')]
      for (let step = prng.between(1, 12); step > 0; step--) {
        const draw = prng.below(10)
        if (draw < 7) file.write([prng.bytes(1 + prng.below(900)), prng.bytes(prng.below(900))], prng.below(2500))
        else if (draw < 9) file.truncate(prng.below(2500))
        else {
          file.syncNow()
          states = []
        }
        states.push(bytesOf(files, '/a'))
      }
      for (let cut = 0; cut < 25; cut++) {
        const found = bytesOf(files.afterCrash({ keepUnsynced: new SeededRandom(cut) }), '/a')
        const context = `seed ${seed + round}, cut ${cut}`
        expect(states.map(state => state.length), context).toContain(found.length)
        for (let position = 0; position < found.length; position += 512) {
          const block = Buffer.from(found.subarray(position, position + 512))
          const versions = states.map(state => {
            const version = Buffer.alloc(block.length)
            version.set(state.subarray(position, position + block.length))
            return version
          })
          expect(versions.some(version => version.equals(block)), `${context}, block at ${position}`).toBe(true)
        }
      }
    }
  })

  test('what a killed process wrote is there for the next one, and a power cut that comes later still takes it', () => {
    const files = new MemoryFileSystem({ blockBytes: 512 })
    putSynced(files, '/a', filled(1, 1)).write([filled(1, 2)], 1)
    files.open('/new', 'create')
    const killed = files.afterCrash({ keepUnsynced: 'all' })
    expect([names(killed, '/'), runsOf(bytesOf(killed, '/a'))]).toEqual(['a,new', '1x1 1x2'])
    const cut = killed.afterCrash({ keepUnsynced: 'none' })
    expect([names(cut, '/'), runsOf(bytesOf(cut, '/a'))]).toEqual(['a', '1x1'])
    const heir = killed.open('/a', 'update')
    heir.syncNow()
    killed.syncDirectory('/')
    expect(names(killed.afterCrash({ keepUnsynced: 'none' }), '/')).toBe('a,new')
    expect([names(files.afterCrash({ keepUnsynced: 'none' }), '/'), runsOf(bytesOf(killed, '/a'))]).toEqual(['a', '1x1 1x2'])
  })

  test('equal draws leave equal disks, and a cut changes nothing of the disk that it is of', () => {
    const files = new MemoryFileSystem()
    const file = putSynced(files, '/a', filled(5000, 1))
    for (let index = 0; index < 30; index++) file.write([filled(700, index)], index * 300)
    const before = runsOf(bytesOf(files, '/a'))
    for (let seed = 0; seed < 50; seed++) {
      const found = [1, 2].map(() => runsOf(bytesOf(files.afterCrash({ keepUnsynced: new SeededRandom(seed) }), '/a')))
      expect(found[0]).toBe(found[1])
    }
    expect([runsOf(bytesOf(files, '/a')), files.unsyncedChanges()]).toEqual([before, 30])
  })
})

describe('names after a power cut', () => {
  test('each is there or not on its own, on a disk that has no order; one that was replaced has the old or the new file, never none', () => {
    const files = new MemoryFileSystem({ names: 'each' })
    putSynced(files, '/a', filled(1, 1))
    putSynced(files, '/kept', filled(1, 7))
    files.open('/new', 'create').write([filled(1, 2)], 0)
    files.open('/new', 'update').syncNow()
    files.rename('/new', '/a')
    const found = outcomes(files, each => `${names(each, '/')} ${runsOf(bytesOf(each, '/a'))}`)
    expect(found).toEqual(['a,kept 1x1', 'a,kept 1x2', 'a,kept,new 1x1', 'a,kept,new 1x2'])
  })

  test('no name has a state that no order of its own operations gives', () => {
    const files = new MemoryFileSystem({ names: 'each' })
    putSynced(files, '/a', filled(1, 1))
    files.remove('/a')
    files.open('/a', 'create').close()
    files.rename('/a', '/b')
    const found = outcomes(files, each => each.list('/').map(name => `${name}:${each.stat(`/${name}`)!.bytes}`).join())
    // `a` as it was, gone, new and empty, gone again; `b` or not.
    expect(found).toEqual(['', 'a:0', 'a:0,b:0', 'a:1', 'a:1,b:0', 'b:0'])
  })

  test('a renamed file that is found under both names is one file, whose room is free when both are gone', () => {
    const files = new MemoryFileSystem({ capacityBytes: 100, names: 'each' })
    putSynced(files, '/a', filled(10, 1))
    files.rename('/a', '/b')
    let both: MemoryFileSystem | undefined
    for (let seed = 0; both === undefined; seed++) {
      const found = files.afterCrash({ keepUnsynced: new SeededRandom(seed) })
      if (found.list('/').length === 2) both = found
    }
    expect(both.space('/').freeBytes).toBe(90)
    both.open('/a', 'update').write([filled(5, 2)], 10)
    expect([runsOf(bytesOf(both, '/b')), both.space('/').freeBytes]).toEqual(['10x1 5x2', 85])
    both.remove('/a')
    expect(both.space('/').freeBytes).toBe(85)
    both.remove('/b')
    expect(both.space('/').freeBytes).toBe(100)
  })

  test('a directory is moved wholly or not at all, with what is in it', () => {
    const files = new MemoryFileSystem({ names: 'each' })
    files.makeDirectory('/x/d')
    files.makeDirectory('/y')
    for (const path of ['/', '/x', '/y']) files.syncDirectory(path)
    putSynced(files, '/x/d/f', filled(1, 1))
    files.rename('/x/d', '/y/e')
    expect(outcomes(files, each => names(each, '/x', '/y'), 300)).toEqual([' | e', 'd | '])
    files.syncDirectory('/y')
    expect(outcomes(files, each => `${names(each, '/x', '/y')} ${runsOf(bytesOf(each, '/y/e/f'))}`, 100)).toEqual([' | e 1x1'])
  })

  test('without a word they come as in a journal, in their order, and a rename between directories is never half done', () => {
    const files = new MemoryFileSystem()
    files.makeDirectory('/x')
    files.makeDirectory('/y')
    files.open('/x/f', 'create').close()
    files.syncDirectory('/')
    files.syncDirectory('/x')
    files.open('/y/first', 'create').close()
    files.rename('/x/f', '/y/f')
    files.open('/y/last', 'create').close()
    expect(outcomes(files, found => names(found, '/x', '/y'), 300)).toEqual([' | f,first', ' | f,first,last', 'f | ', 'f | first'])
  })

  test('syncing a file makes its contents durable and not its name, syncing its directory the name and not the contents', () => {
    const files = new MemoryFileSystem({ names: 'each' })
    const one = files.open('/one', 'create')
    one.write([filled(3, 1)], 0)
    files.syncDirectory('/')
    expect(runsOf(bytesOf(files.afterCrash({ keepUnsynced: 'none' }), '/one'))).toBe('')
    one.syncNow()
    expect(runsOf(bytesOf(files.afterCrash({ keepUnsynced: 'none' }), '/one'))).toBe('3x1')
    files.open('/two', 'create').syncNow()
    expect(names(files.afterCrash({ keepUnsynced: 'none' }), '/')).toBe('one')
  })

  test('the sync of one directory leaves the names of another as they were', () => {
    const files = new MemoryFileSystem({ names: 'each' })
    files.makeDirectory('/x')
    files.makeDirectory('/y')
    files.syncDirectory('/')
    putSynced(files, '/x/f', filled(1, 1))
    files.rename('/x/f', '/y/f')
    files.syncDirectory('/y')
    expect(outcomes(files, each => names(each, '/x', '/y'), 100)).toEqual([' | f', 'f | f'])
  })
})

test('what crashes took is counted by its kind', () => {
  const files = new MemoryFileSystem({ blockBytes: 512, garbage: true, names: 'each' })
  const file = putSynced(files, '/a', filled(3000, 1))
  file.write([filled(2000, 2)], 0)
  file.write([filled(2000, 3)], 2000)
  file.write([filled(2000, 4)], 4000)
  files.open('/b', 'create').close()
  files.rename('/b', '/c')
  for (let seed = 0; seed < 300; seed++) files.afterCrash({ keepUnsynced: new SeededRandom(seed) })
  expect(files.counts.all().map(([kind]) => kind)).toEqual([
    'crash: block of garbage', 'crash: name at an earlier version', 'crash: name kept', 'crash: name lost', 'crash: size at an earlier version',
    'crash: size kept', 'crash: size lost', 'crash: write kept', 'crash: write kept after a lost one', 'crash: write lost', 'crash: write torn',
  ])
})
