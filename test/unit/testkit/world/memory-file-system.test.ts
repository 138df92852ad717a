import { describe, expect, test } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { type FileSystem } from '../../../../src/kernel/ports/file-system.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { seedOf } from '../../../integration/seeds.ts'

const seed = seedOf(1)

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

function contentOf(files: FileSystem, path: string): string {
  const file = files.open(path, 'read')
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0, bytes.length, 0)
  file.close()
  return new TextDecoder().decode(bytes)
}

const codeOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    return isMillraceError(error) ? error.code : String(error)
  }
  return 'nothing thrown'
}

describe('MemoryFileSystem after a crash', () => {
  test('a killed process leaves everything it wrote, a power cut what was synced', () => {
    const files = new MemoryFileSystem()
    files.makeDirectory('/d')
    files.syncDirectory('/')
    const file = files.open('/d/a', 'create')
    file.write([text('one')], 0)
    file.syncNow()
    files.syncDirectory('/d')
    file.write([text('two')], 3)
    files.open('/d/b', 'create')
    expect(files.unsyncedChanges()).toBe(2)

    const killed = files.afterCrash({ keepUnsynced: 'all' })
    expect(contentOf(killed, '/d/a')).toBe('onetwo')
    expect(killed.list('/d')).toEqual(['a', 'b'])
    const cut = files.afterCrash({ keepUnsynced: 'none' })
    expect(contentOf(cut, '/d/a')).toBe('one')
    expect(cut.list('/d')).toEqual(['a'])
    expect(contentOf(files, '/d/a')).toBe('onetwo')
    expect(cut.unsyncedChanges()).toBe(0)
  })

  test('a sync of one directory does not make the names of another durable', () => {
    const files = new MemoryFileSystem()
    files.makeDirectory('/x')
    files.open('/x/f', 'create').close()
    files.syncDirectory('/x')
    expect(files.afterCrash({ keepUnsynced: 'none' }).list('/')).toEqual([])
    files.syncDirectory('/')
    expect(files.afterCrash({ keepUnsynced: 'none' }).list('/x')).toEqual(['f'])
  })

  test('an image can be taken before every call, so that one run enumerates its crashes', () => {
    const found: string[] = []
    const files = new MemoryFileSystem()
    files.observe = operation => {
      const image = files.afterCrash({ keepUnsynced: 'none' })
      found.push(`${operation.kind}: ${image.list('/').join()}`)
    }
    const file = files.open('/new', 'create')
    file.write([text('x')], 0)
    file.syncNow()
    files.rename('/new', '/current')
    files.syncDirectory('/')
    files.list('/')
    expect(found).toEqual(['create: ', 'write: ', 'sync: ', 'rename: ', 'sync directory: ', 'list: current'])
  })
})

describe('MemoryFileSystem faults', () => {
  test('a failed sync loses what it should have covered, although the next one succeeds', () => {
    const files = new MemoryFileSystem()
    const file = files.open('/a', 'create')
    files.syncDirectory('/')
    file.write([text('lost')], 0)
    files.faults.add({ operation: 'sync', path: '/a', error: 'EIO', times: 1 })
    expect(codeOf(() => file.syncNow())).toBe('MR_FILE_FAILED')
    file.write([text('kept')], 4)
    file.syncNow()
    expect(contentOf(files, '/a')).toBe('lostkept')
    expect(contentOf(files.afterCrash({ keepUnsynced: 'none' }), '/a')).toBe('\0\0\0\0kept')
    expect(files.faults.failures).toBe(1)
  })

  test('a full disk takes what fits of a write, says so, and has room again after a removal', () => {
    const files = new MemoryFileSystem({ capacityBytes: 10 })
    const file = files.open('/a', 'create')
    file.write([text('12345678')], 0)
    expect(files.space('/').freeBytes).toBe(2)
    expect(codeOf(() => file.write([text('9'), text('abc')], 8))).toBe('MR_FILE_NO_SPACE')
    expect(contentOf(files, '/a')).toBe('123456789a')
    file.write([text('x')], 0)
    files.remove('/a')
    expect(files.space('/').freeBytes).toBe(10)
  })

  test('faults hit the calls that they name, after those that they skip, as often as they say', () => {
    const files = new MemoryFileSystem()
    const file = files.open('/a', 'create')
    const remove = files.faults.add({ operation: 'write', path: /^\/a/, error: 'EIO', skip: 1, times: 2, keptBytes: 2 })
    const write = (): string => codeOf(() => file.write([text('abc')], 0))
    expect([write(), write(), write(), write()]).toEqual(['nothing thrown', 'MR_FILE_FAILED', 'MR_FILE_FAILED', 'nothing thrown'])
    remove()
    files.faults.add({ operation: 'open', error: 'EACCES' })
    expect(codeOf(() => files.open('/a', 'read'))).toBe('MR_FILE_DENIED')
    files.faults.clear()
    files.open('/a', 'read').close()
  })

  test('a flipped bit is seen by readers and survives a crash', () => {
    const files = new MemoryFileSystem()
    const file = files.open('/a', 'create')
    file.write([text('A')], 0)
    file.syncNow()
    files.syncDirectory('/')
    files.flipBit('/a', 0, 1)
    expect(contentOf(files, '/a')).toBe('C')
    expect(contentOf(files.afterCrash({ keepUnsynced: 'none' }), '/a')).toBe('C')
  })
})

describe('MemoryFileSystem in time', () => {
  test('a sync is done when its time has passed, and covers what was written before the call only', () => {
    const timers = new ManualTimers()
    const files = new MemoryFileSystem({ timers, clock: timers.clock, syncMs: () => 5 })
    const file = files.open('/a', 'create')
    files.syncDirectory('/')
    file.write([text('before')], 0)
    let synced = false
    file.sync(() => {
      synced = true
    })
    file.write([text('after')], 6)
    timers.advance(4)
    expect(synced).toBe(false)
    expect(contentOf(files.afterCrash({ keepUnsynced: 'none' }), '/a')).toBe('')
    timers.advance(1)
    expect(synced).toBe(true)
    expect(contentOf(files.afterCrash({ keepUnsynced: 'none' }), '/a')).toBe('before')
  })

  test('the target of a read on its way holds rubbish', () => {
    const timers = new ManualTimers()
    const files = new MemoryFileSystem({ timers, readMs: () => 1 })
    const file = files.open('/a', 'create')
    file.write([text('abc')], 0)
    const target = text('...')
    file.readLater(target, 0, 3, 0, () => {})
    expect(new TextDecoder().decode(target)).not.toBe('...')
    timers.advance(1)
    expect(new TextDecoder().decode(target)).toBe('abc')
  })
})

test(`a random history of calls gives the same names and contents as a plain map (seed ${seed})`, () => {
  const random = new Prng(seed)
  const files = new MemoryFileSystem()
  const model = new Map<string, Uint8Array>()
  for (let step = 0; step < 3000; step++) {
    const path = `/f${random.below(6)}`
    const draw = random.below(6)
    if (draw < 3) {
      const file = files.open(path, 'ensure')
      const bytes = random.bytes(random.below(2000))
      const position = random.below(3000)
      const before = model.get(path) ?? new Uint8Array(0)
      const after = new Uint8Array(Math.max(before.length, bytes.length === 0 ? 0 : position + bytes.length))
      after.set(before)
      after.set(bytes, Math.min(position, after.length - bytes.length))
      model.set(path, after)
      file.write([bytes], position)
      if (random.chance(0.3)) file.syncNow()
    } else if (draw === 3 && model.has(path)) {
      const size = random.below(3000)
      const after = new Uint8Array(size)
      after.set(model.get(path)!.subarray(0, size))
      model.set(path, after)
      files.open(path, 'update').truncate(size)
    } else if (draw === 4) {
      files.remove(path)
      model.delete(path)
    } else if (model.has(path)) {
      const to = `/f${random.below(6)}`
      files.rename(path, to)
      const moved = model.get(path)!
      model.delete(path)
      model.set(to, moved)
    }
    if (random.chance(0.1)) files.syncDirectory('/')
    if (step % 50 !== 0) continue
    for (const view of [files, files.afterCrash({ keepUnsynced: 'all' })]) {
      expect(view.list('/'), `seed ${seed} step ${step}`).toEqual([...model.keys()].map(name => name.slice(1)).sort())
      for (const [name, expected] of model) {
        const found = new Uint8Array(view.stat(name)!.bytes)
        view.open(name, 'read').read(found, 0, found.length, 0)
        expect(Buffer.compare(found, expected), `seed ${seed} step ${step} ${name}`).toBe(0)
      }
    }
  }
})
