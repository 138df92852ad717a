import { describe, expect, test } from 'vitest'
import { type CrashImagesOptions } from '../../../../src/testkit/world/crash-moment.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { bytesOf, filled, putSynced, runsOf } from './disk-files.ts'

/** A checkpoint protocol: write aside, sync, put in place, sync the names. */
function replaceFile(files: MemoryFileSystem, path: string, bytes: Uint8Array): void {
  const file = files.open(`${path}.tmp`, 'create')
  file.write([bytes], 0)
  file.syncNow()
  file.close()
  files.rename(`${path}.tmp`, path)
  files.syncDirectory('/')
}

const contents = (files: MemoryFileSystem): string => files.list('/').map(name => `${name}: ${runsOf(bytesOf(files, `/${name}`))}`).join(', ')

function images(files: MemoryFileSystem, options: CrashImagesOptions = { random: 0 }): string[] {
  return [...files.crashMoment().images(options)].map(({ what, files: found }) => `${what} -> ${contents(found)}`)
}

describe('the images of a crash', () => {
  test('nothing, everything, each prefix, each change left out and each alone, equal ones once', () => {
    const files = new MemoryFileSystem({ blockBytes: 512, names: 'each' })
    const file = putSynced(files, '/a', filled(512, 1))
    file.write([filled(512, 2)], 512)
    files.open('/b', 'create')
    file.write([filled(512, 3)], 1024)
    expect(images(files)).toEqual([
      'nothing unsynced -> a: 512x1',
      'everything unsynced -> a: 512x1 512x2 512x3, b: ',
      '1 of 3 in order, up to: write of 512 bytes at 512 of /a -> a: 512x1 512x2',
      '2 of 3 in order, up to: /b made -> a: 512x1 512x2, b: ',
      'all but: write of 512 bytes at 512 of /a -> a: 512x1 512x0 512x3, b: ',
      'all but: /b made -> a: 512x1 512x2 512x3',
      'only: /b made -> a: 512x1, b: ',
      'only: write of 512 bytes at 1024 of /a -> a: 512x1 512x0 512x3',
    ])
  })

  test('a write that a later one in its block covers cannot be missing alone', () => {
    const files = new MemoryFileSystem({ blockBytes: 512 })
    const file = putSynced(files, '/a', filled(10, 1))
    file.write([filled(10, 2)], 10)
    file.write([filled(10, 3)], 20)
    expect(images(files)).toEqual([
      'nothing unsynced -> a: 10x1',
      'everything unsynced -> a: 10x1 10x2 10x3',
      '1 of 2 in order, up to: write of 10 bytes at 10 of /a -> a: 10x1 10x2',
    ])
  })

  test('the two names of a renamed file are two changes, of a renamed directory and in a journal they are one', () => {
    const renamed = (of: 'file' | 'directory', names: 'each' | 'ordered'): string[] => {
      const files = new MemoryFileSystem({ names })
      if (of === 'file') putSynced(files, '/a', filled(1, 1))
      else files.makeDirectory('/a')
      files.syncDirectory('/')
      files.rename('/a', '/b')
      return [...files.crashMoment().images({ random: 0 })].map(({ what, files: found }) => `${what} -> ${found.list('/').join()}`)
    }
    expect(renamed('file', 'each')).toEqual([
      'nothing unsynced -> a', 'everything unsynced -> b', '1 of 2 in order, up to: /b made -> a,b', 'all but: /b made -> ',
    ])
    const whole = ['nothing unsynced -> a', 'everything unsynced -> b']
    expect([renamed('file', 'ordered'), renamed('directory', 'each'), renamed('directory', 'ordered')]).toEqual([whole, whole, whole])
  })

  test('a moment without unsynced changes has one image', () => {
    const files = new MemoryFileSystem()
    putSynced(files, '/a', filled(10, 1))
    expect(images(files, {})).toEqual(['nothing unsynced -> a: 10x1'])
  })

  test('those by chance are torn and out of order, and a seed gives them again', () => {
    const files = new MemoryFileSystem()
    const file = putSynced(files, '/a', filled(5000, 1))
    for (let index = 2; index < 8; index++) file.write([filled(4000, index)], index * 900)
    const byChance = (seed: number): string[] => images(files, { random: 100, seed }).filter(image => image.startsWith('chance'))
    expect(byChance(5)).toHaveLength(100)
    expect(byChance(5)).toEqual(byChance(5))
    expect(byChance(6)).not.toEqual(byChance(5))
    expect(new Set(byChance(5).map(image => image.replace(/.*->/, ''))).size).toBeGreaterThan(50)
    expect(files.counts.of('crash: write torn')).toBeGreaterThan(0)
    expect(files.counts.of('crash: write kept after a lost one')).toBeGreaterThan(0)
  })

  test('there are no more than asked for, spread over all, nothing and everything always among them', () => {
    const files = new MemoryFileSystem()
    const file = putSynced(files, '/a', filled(1, 1))
    for (let index = 0; index < 200; index++) file.write([filled(4096, index)], index * 4096)
    const found = [...files.crashMoment().images({ most: 50, random: 10 })].map(({ what }) => what)
    expect(found).toHaveLength(50)
    expect(found.slice(0, 2)).toEqual(['nothing unsynced', 'everything unsynced'])
    for (const kind of [/in order/, /^all but/, /^only/]) expect(found.filter(what => kind.test(what)).length).toBeGreaterThan(5)
  })

  test('a moment stays what it was while the disk goes on, and its images are disks of their own', () => {
    const files = new MemoryFileSystem()
    const file = putSynced(files, '/a', filled(10, 1))
    file.write([filled(10, 2)], 0)
    const moment = files.crashMoment()
    const before = [...moment.images()].map(image => contents(image.files))
    file.write([filled(10, 3)], 0)
    file.syncNow()
    files.remove('/a')
    for (const image of moment.images()) {
      image.files.open('/a', 'update').truncate(0)
      image.files.open('/other', 'create')
      expect(image.files.unsyncedChanges()).toBe(2)
    }
    expect([...moment.images()].map(image => contents(image.files))).toEqual(before)
  })

  test('a file protocol is proven by the images of each of its moments, and one that leaves out a sync is caught', () => {
    const tryAll = (protocol: (files: MemoryFileSystem) => void): { readonly images: number, readonly bad: string[] } => {
      const files = new MemoryFileSystem({ names: 'each' })
      putSynced(files, '/state', filled(1000, 1))
      const moments = [files.crashMoment()]
      files.observe = () => { moments.push(files.crashMoment()) }
      protocol(files)
      moments.push(files.crashMoment())
      const bad: string[] = []
      let count = 0
      for (const [index, moment] of moments.entries()) {
        for (const image of moment.images({ random: 30 })) {
          count++
          const found = contents(image.files).replace(/, state\.tmp.*/, '')
          const last = index === moments.length - 1
          if (found !== 'state: 2000x2' && (last || found !== 'state: 1000x1')) bad.push(`moment ${index}, ${image.what}: ${found}`)
        }
      }
      return { images: count, bad }
    }
    const right = tryAll(files => replaceFile(files, '/state', filled(2000, 2)))
    expect(right.bad).toEqual([])
    expect(right.images).toBeGreaterThan(60)
    const withoutContents = tryAll(files => {
      const file = files.open('/state.tmp', 'create')
      file.write([filled(2000, 2)], 0)
      files.rename('/state.tmp', '/state')
      files.syncDirectory('/')
    })
    expect(withoutContents.bad.length).toBeGreaterThan(0)
    const withoutNames = tryAll(files => {
      const file = files.open('/state.tmp', 'create')
      file.write([filled(2000, 2)], 0)
      file.syncNow()
      files.rename('/state.tmp', '/state')
    })
    expect(withoutNames.bad.length).toBeGreaterThan(0)
    const inPlace = tryAll(files => {
      const file = files.open('/state', 'update')
      file.write([filled(2000, 2)], 0)
      file.syncNow()
    })
    expect(inPlace.bad.length).toBeGreaterThan(0)
  })

  test('the version of a disk moves when a crash would leave something else, and not by reading', () => {
    const files = new MemoryFileSystem()
    const versions: number[] = [files.version]
    const moved = (run: () => void): boolean => {
      run()
      versions.push(files.version)
      return versions.at(-1) !== versions.at(-2)
    }
    const file = files.open('/a', 'create')
    expect([
      moved(() => { file.write([filled(1, 1)], 0) }), moved(() => { file.syncNow() }), moved(() => { files.syncDirectory('/') }),
      moved(() => { files.rename('/a', '/b') }), moved(() => { file.truncate(0) }), moved(() => { files.remove('/b') }),
    ]).toEqual(new Array(6).fill(true))
    expect([moved(() => { files.list('/') }), moved(() => { file.read(new Uint8Array(1), 0, 1, 0) }), moved(() => { files.stat('/') })]).toEqual([false, false, false])
  })
})
