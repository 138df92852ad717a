import { describe, expect, it } from 'vitest'
import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { type TopicSettings } from '../../../../src/kernel/model/topic-settings.ts'
import { VolatileKeyValueEngine } from '../../../../src/platform/volatile-key-value-engine.ts'
import { append, makeBatch, newLog, newTopicId, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { type FileFault } from '../../../../src/testkit/world/file-faults.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { codeOf, makeStore } from './store-subjects.ts'

const reserveBytes = 64 * 1024
const settings = topicSettings({ segmentBytes: 20_000, retentionMs: 60_000, fileDeleteDelayMs: 1000 })
const config = { reserveBytes, residentBytes: 0 }

async function world(capacityBytes?: number) {
  const timers = new ManualTimers()
  const files = new MemoryFileSystem({ clock: timers.clock, capacityBytes })
  const { store, logger, fatalErrors } = makeStore({ files, timers, config })
  await store.start()
  return { timers, files, store, logger, fatalErrors }
}

type World = Awaited<ReturnType<typeof world>>

const appendNow = ({ timers }: World, log: PartitionLog, bytes = 3000): string =>
  codeOf(() => append(log, makeBatch([{ timestamp: timers.clock.wallMs(), value: 'x'.repeat(bytes) }])))

/** Appends until the disk is full: the last bytes go too. */
function fillDisk(world: World, log: PartitionLog): void {
  for (let bytes = 3000; bytes > 0;) {
    const end = appendNow(world, log, bytes)
    if (end !== 'ok') {
      expect(end).toBe('MR_FILE_NO_SPACE')
      bytes = Math.floor(bytes / 2)
    }
  }
}

/** A full disk with a log of many segments and one that is small. */
async function fullDisk() {
  const made = await world(800_000)
  const other = made.files.open('/other', 'ensure')
  other.write([new Uint8Array(200_000)], 0)
  other.close()
  const log = newLog(made, settings)
  const small = newLog(made, settings)
  expect(appendNow(made, small)).toBe('ok')
  fillDisk(made, log)
  await made.store.flush()
  log.raiseHighWatermark(log.endOffset)
  small.raiseHighWatermark(small.endOffset)
  return { ...made, log, small }
}

/** How an operator, or time, frees a full disk. */
const cures: Record<string, (full: Awaited<ReturnType<typeof fullDisk>>) => void> = {
  'retention': ({ timers, store }) => { timers.clock.advance(120_000); expect(store.sweep().segmentsDeleted).toBeGreaterThan(5) },
  'the deletion of a topic': ({ store, log }) => store.remove(log.id.topicId, 0),
  'the deletion of records': ({ log }) => log.deleteTo(log.endOffset - 1),
  'a truncation': ({ log }) => log.truncateTo(5),
  'somebody who deletes other files': ({ files }) => { files.remove('/other') },
}

describe('a full disk', () => {
  it.each(Object.entries(cures))('is freed by %s, after which appends and new topics work again, and a restart finds the same', async (_name, cure) => {
    const full = await fullDisk()
    const { timers, files, store, small, fatalErrors } = full
    expect(appendNow(full, small)).toBe('MR_FILE_NO_SPACE')
    expect(codeOf(() => newLog({ store }, settings))).toBe('MR_FILE_NO_SPACE')
    expect(store.check()).toMatchObject({ state: 'degraded', detail: expect.stringContaining('full') })
    cure(full)
    timers.advance(5000)
    // What is freed goes in slices, and turns are microtasks here.
    await new Promise(resolve => { setImmediate(resolve) })
    expect(appendNow(full, small)).toBe('ok')
    expect(appendNow(full, newLog({ store }, settings))).toBe('ok')
    expect(store.check()).toEqual({ state: 'ok', detail: '' })
    expect(fatalErrors).toEqual([])
    const ends = [...store.logs()].map(log => [log.id.topic, log.startOffset, log.endOffset])
    await store.stop()
    const next = makeStore({ files, timers, config }).store
    await next.start()
    expect([...next.logs()].map(log => [log.id.topic, log.startOffset, log.endOffset]).sort()).toEqual(ends.sort())
    await next.stop()
  })

  it('takes nothing that was flushed, neither at a clean stop nor at a crash, and is recovered while it is full', async () => {
    for (const clean of [true, false]) {
      const full = await fullDisk()
      const { files, store, log, timers } = full
      const end = log.endOffset
      if (clean) await store.stop()
      const found = clean ? files : files.afterCrash({ keepUnsynced: 'none' })
      const next = makeStore({ files: found, timers, config })
      await next.store.start()
      const again = next.store.find(log.id.topicId, 0)!
      again.configure(settings)
      expect(again.endOffset).toBe(end)
      expect((await readRecords({ settle: promise => promise }, again)).length).toBe(end)
      again.raiseHighWatermark(end)
      again.deleteTo(end - 1)
      timers.advance(5000)
      expect(appendNow({ ...full, ...next }, again)).toBe('ok')
      await next.store.stop()
    }
  })
})

describe('an episode without space', () => {
  it.each([reserveBytes, 0])('has one line when it begins and one when it is over, whatever was refused, with a reserve of %d bytes', async bytes => {
    const timers = new ManualTimers()
    const files = new MemoryFileSystem({ clock: timers.clock, capacityBytes: 4_000_000 })
    const { store, logger } = makeStore({ files, timers, config: { reserveBytes: bytes, residentBytes: 0 } })
    await store.start()
    const made = { timers, files, store, logger, fatalErrors: [] }
    const log = newLog(made, settings)
    for (let episode = 0; episode < 2; episode++) {
      const before = logger.lines.length
      const other = files.open('/other', 'ensure')
      other.write([new Uint8Array(files.space('/data').freeBytes)], 0)
      other.close()
      for (let count = 0; count < 20; count++) {
        expect(appendNow(made, log)).toBe('MR_FILE_NO_SPACE')
        timers.advance(500)
      }
      files.remove('/other')
      timers.advance(2000)
      expect(appendNow(made, log)).toBe('ok')
      const lines = logger.lines.slice(before).filter(line => /disk/.test(line.message))
      expect(lines.map(line => [line.level, line.message, line.fields['path']])).toEqual([
        ['error', 'the disk is full: nothing is appended until there is space', '/data'], ['info', 'there is space on the disk again: appends go on', '/data'],
      ])
    }
    await store.stop()
  })

  it('at a start: the lock that finds no room gets the reserve; without one the start says which disk is full and what to do', async () => {
    for (const [reserve, outcome] of [[4096, 'ok'], [0, 'MR_LOG_DIRECTORY_FULL']] as const) {
      const { files, timers, store } = await world()
      await store.stop()
      files.remove('/data/.millrace-reserve')
      if (reserve > 0) {
        const file = files.open('/data/.millrace-reserve', 'create')
        file.write([new Uint8Array(reserve)], 0)
        file.close()
      }
      const engine = { takesSpace: false, open: (path: string) => files.stat('/data/.millrace-reserve') === undefined && reserve > 0
        ? new VolatileKeyValueEngine().open(path) : Promise.reject(new MillraceError('MR_FILE_NO_SPACE', { operation: 'open', path })) }
      const next = makeStore({ files, timers, engine, config: { reserveBytes: reserve } })
      const ended = next.store.start().then(() => ({ code: 'ok', message: '' }), (error: { code: string, message: string }) => error)
      expect((await ended).code).toBe(outcome)
      if (outcome !== 'ok') expect((await ended).message).toMatch(/\/data is full.*room to open \/data\/\.lock; free some MiB/)
      await next.store.stop()
    }
  })
})

const changed: Partial<TopicSettings> = { ...settings, segmentBytes: 8000 }

/** Where a full disk may be met, and what is done then. */
const places: Record<string, FileFault> = {
  'an append': { operation: 'write', path: /\.log$/, error: 'ENOSPC', keptBytes: 100 },
  'a new segment': { operation: 'create', path: /\.log$/, error: 'ENOSPC' },
  'an index': { operation: 'write', path: /index$/, error: 'ENOSPC', keptBytes: 3 },
  'a snapshot of producers': { operation: 'write', path: /\.snapshot$/, error: 'ENOSPC', keptBytes: 3 },
  'a checkpoint': { operation: 'write', path: /checkpoint\.tmp$/, error: 'ENOSPC', keptBytes: 3 },
  'the identity of a new log': { operation: 'write', path: /partition\.metadata$/, error: 'ENOSPC', keptBytes: 3 },
  'every write': { operation: 'write', error: 'ENOSPC' },
}

describe('no space for', () => {
  it.each(Object.entries(places))('%s: is told as such or lived with, loses nothing, and is over when there is space', async (_name, fault) => {
    const made = await world()
    const { files, store, timers, fatalErrors } = made
    const log = newLog(made, changed)
    for (let count = 0; count < 5; count++) expect(appendNow(made, log)).toBe('ok')
    files.faults.add(fault)
    const ends = new Set<string>()
    let acknowledged = 5
    for (let count = 0; count < 8; count++) {
      const end = appendNow(made, log)
      if (end === 'ok') acknowledged++
      ends.add(end)
      ends.add(codeOf(() => store.create({ topic: `new-${count}`, topicId: newTopicId(), partition: 0 }, settings)))
      log.raiseHighWatermark(log.endOffset)
      ends.add(codeOf(() => log.deleteTo(count > 4 ? 1 : 0)))
      store.sweep()
      timers.advance(60_000)
      expect((await readRecords({ settle: promise => promise }, log)).length).toBe(acknowledged - log.startOffset)
    }
    expect([...ends].filter(end => end !== 'ok' && end !== 'MR_FILE_NO_SPACE')).toEqual([])
    expect(files.faults.failures).toBeGreaterThan(0)
    files.faults.clear()
    timers.advance(2000)
    expect(appendNow(made, log)).toBe('ok')
    expect(codeOf(() => newLog({ store }, settings))).toBe('ok')
    await store.flush()
    expect(fatalErrors).toEqual([])
    expect(files.list('/data').filter(name => /-(delete|stray)$/.test(name))).toEqual([])
    const next = makeStore({ files: files.afterCrash({ keepUnsynced: 'none' }), timers, config }).store
    await next.start()
    expect(next.find(log.id.topicId, 0)!.endOffset).toBe(acknowledged + 1)
    await next.stop()
    await store.stop()
  })

  it.each(Object.entries(places))('%s, at a recovery: the start says so or succeeds, and the next one has everything', async (_name, fault) => {
    const made = await world()
    const log = newLog(made, changed)
    for (let count = 0; count < 9; count++) expect(appendNow(made, log)).toBe('ok')
    await made.store.flush()
    for (const times of [1, undefined]) {
      const files = made.files.afterCrash({ keepUnsynced: 'none' })
      files.faults.add({ ...fault, ...(times === undefined ? {} : { times }) })
      const first = makeStore({ files, timers: made.timers, config }).store
      const started = await first.start().then(() => 'ok', (error: { code: string }) => error.code)
      expect(times === 1 ? ['ok'] : ['ok', 'MR_LOG_DIRECTORY_FULL']).toContain(started)
      await first.stop()
      files.faults.clear()
      const second = makeStore({ files, timers: made.timers, config }).store
      await second.start()
      expect(second.find(log.id.topicId, 0)!.endOffset).toBe(9)
      await second.stop()
    }
  })
})
