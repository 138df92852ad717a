import { describe, expect, it } from 'vitest'
import { type FileSystem } from '../../../../../src/kernel/ports/file-system.ts'
import { DelayedRemovals } from '../../../../../src/plugins/storage-local/io/delayed-removals.ts'
import { ManualTimers } from '../../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../../src/testkit/world/memory-file-system.ts'

const filesEach = 7

/** So many logs, and a world in which each removal takes a millisecond and says so. */
function world(logs: number) {
  const timers = new ManualTimers()
  const files = new MemoryFileSystem({ clock: timers.clock })
  const removed: string[] = []
  const slow: FileSystem = Object.assign(Object.create(files) as FileSystem, {
    remove: (path: string) => {
      files.remove(path)
      timers.clock.advance(1)
      removed.push(path)
    },
  })
  const turns: number[] = []
  const soon = timers.soon.bind(timers)
  timers.soon = (callback) => {
    soon(() => {
      const beganMs = timers.clock.monotonicMs()
      callback()
      turns.push(timers.clock.monotonicMs() - beganMs)
    })
  }
  const paths = Array.from({ length: logs }, (_, index) => `/data/t-${index}.0-delete`)
  for (const path of paths) {
    files.makeDirectory(path)
    for (let file = 0; file < filesEach; file++) files.open(`${path}/${file}.log`, 'create').close()
  }
  return { timers, files, removed, turns, paths, removals: new DelayedRemovals(slow, timers.clock, timers) }
}

describe('what is to be freed', () => {
  it('goes file by file, a few milliseconds in each turn, also where hundreds of logs are deleted at once', () => {
    const { timers, files, turns, paths, removals } = world(600)
    const done: unknown[] = []
    for (const path of paths) removals.remove([path], 1000, (error) => { done.push(error) })
    timers.advance(999)
    expect([done.length, files.list('/data').length]).toEqual([0, 600])
    timers.advance(100_000)
    expect(files.list('/data')).toEqual([])
    expect(done).toEqual(paths.map(() => undefined))
    expect(turns.length).toBeGreaterThan(600)
    expect(Math.max(...turns)).toBeLessThanOrEqual(3)
  })

  it('goes in order: the contents of a directory before it, a removal that came first before the next, one that is gone like the others', () => {
    const { timers, removed, paths: [first, second], removals } = world(2)
    const done: number[] = []
    removals.remove([`${first!}/3.log`, `${first!}/none.log`], 10, () => { done.push(removed.length) })
    removals.remove([first!, second!], 10, () => { done.push(removed.length) })
    timers.advance(1000)
    expect(removed.slice(0, 2)).toEqual([`${first!}/3.log`, `${first!}/none.log`])
    expect([removed.indexOf(first!), removed.indexOf(second!)]).toEqual([2 + filesEach - 1, 2 + filesEach + filesEach])
    expect(done).toEqual([2, removed.length])
  })

  it('stays where the removal before it in the list fails, which is told once, and others are freed', () => {
    const { timers, files, paths: [first, second, third], removals } = world(3)
    const told: unknown[] = []
    const failing = Object.assign(Object.create(files) as FileSystem, { list: (path: string) => { if (path === first) throw new Error('EIO'); return files.list(path) } })
    const others = new DelayedRemovals(failing, timers.clock, timers)
    others.remove([first!, second!], 10, (error) => { told.push(String(error)) })
    others.remove([third!], 10, (error) => { told.push(error) })
    timers.advance(1000)
    expect(told).toEqual(['Error: EIO', undefined])
    expect(files.list('/data')).toEqual([first, second].map((path) => path!.slice('/data/'.length)))
    removals.end()
  })

  it('stays when the store stops, also what has been begun', () => {
    const { timers, files, removed, paths, removals } = world(20)
    for (const path of paths) removals.remove([path], 10, () => undefined)
    removals.remove(['/data/later'], 5000, () => undefined)
    const soon = timers.soon.bind(timers)
    let turnsLeft = 3
    timers.soon = (callback) => { soon(() => { if (turnsLeft-- === 0) removals.end(); callback() }) }
    timers.advance(10_000)
    expect(removed.length).toBeGreaterThan(0)
    expect(files.list('/data').length).toBeGreaterThan(10)
    expect(timers.pending).toBe(0)
  })
})
