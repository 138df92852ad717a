import { describe, expect, it } from 'vitest'
import { VolatileKeyValueEngine } from '../../../../src/platform/volatile-key-value-engine.ts'
import { append, fill, makeBatch, newLog } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { makeStore } from './store-subjects.ts'

function world() {
  const timers = new ManualTimers()
  const files = new MemoryFileSystem({ clock: timers.clock })
  const engine = new VolatileKeyValueEngine()
  const make = (directories = ['/data']) => makeStore({ files, timers, engine, directories }).store
  return { timers, files, make }
}

const deletedNames = (files: MemoryFileSystem, path = '/data'): string[] =>
  files.list(path).flatMap(name => files.stat(`${path}/${name}`)?.kind === 'directory' ? deletedNames(files, `${path}/${name}`).concat(name) : [name])
    .filter(name => name.endsWith('.deleted') || name.endsWith('-delete'))

describe('a stop while a store starts', () => {
  it('waits, whenever it comes, and leaves every directory free, with all logs, for the next start', async () => {
    const { timers, files, make } = world()
    const first = make(['/data', '/data2'])
    await first.start()
    for (let count = 0; count < 6; count++) fill(newLog({ store: first }), 3)
    await first.stop()
    // Each look at a directory takes so long that the loader makes a pause between two logs.
    files.observe = ({ kind }) => { if (kind === 'list') timers.clock.advance(60) }
    const ends = new Set<string>()
    for (let turns = 0; turns < 40; turns++) {
      const store = make(['/data', '/data2'])
      const started = store.start().then(() => 'started', (error: { code: string }) => error.code)
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      await store.stop()
      ends.add(await started)
      const next = make(['/data', '/data2'])
      await next.start()
      expect([...next.logs()].map(log => log.endOffset)).toEqual([3, 3, 3, 3, 3, 3])
      await next.stop()
    }
    expect([...ends].sort()).toEqual(['MR_LOG_STORE_STOPPED', 'started'])
    expect(timers.pending).toBe(0)
  })
})

describe('what is freed later', () => {
  it('is left alone once the store has stopped, leaves no timer, and is freed by the next start', async () => {
    const { timers, files, make } = world()
    const store = make()
    await store.start()
    newLog({ store }, {}, 'dropped')
    const log = newLog({ store }, { segmentBytes: 200 }, 'trimmed')
    for (let count = 0; count < 10; count++) append(log, makeBatch(1))
    log.raiseHighWatermark(8)
    log.deleteTo(8)
    store.remove([...store.logs()].find(({ id }) => id.topic === 'dropped')!.id.topicId, 0)
    const hidden = deletedNames(files)
    expect(hidden.length).toBeGreaterThan(3)
    await store.stop()
    expect(timers.pending).toBe(0)
    timers.advance(120_000)
    expect(deletedNames(files)).toEqual(hidden)
    const next = make()
    await next.start()
    expect(deletedNames(files)).toEqual([])
    await next.stop()
  })
})
