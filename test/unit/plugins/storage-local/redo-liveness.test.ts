import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { type Timer, type Timers } from '../../../../src/kernel/ports/clock.ts'
import { type SegmentedLog } from '../../../../src/plugins/storage-local/segmented-log.ts'
import { keyedBatch } from '../../../../src/testkit/conformance/log-store-compaction.ts'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeStore } from './store-subjects.ts'

const config = { residentBytes: 1 << 30, reserveBytes: 4096 }
const [idleId, busyId] = [newTopicId(), newTopicId()]
const settings = topicSettings({ retentionMs: 1000, segmentBytes: 400, indexIntervalBytes: 100, minCleanableDirtyRatio: 0 })

/** Ends what waits for it when the test says so, once it is held. */
class HeldDisk implements Timers {
  private readonly waiting: (() => void)[] = []
  private isHeld = false
  readonly soon = queueMicrotask

  after(_delayMs: number, end: () => void): Timer {
    if (this.isHeld) this.waiting.push(end)
    else queueMicrotask(end)
    return { cancel: () => {} }
  }

  hold(): void { this.isHeld = true }
  endOne(): void { this.waiting.shift()?.() }

  release(): void {
    this.isHeld = false
    for (const end of this.waiting.splice(0)) end()
  }
}

/** Two logs on one redo log, which has a file already: one that will not be appended to any more, and one that will. */
async function begun(disk?: HeldDisk) {
  const timers = new ManualTimers()
  const files = new MemoryFileSystem({ clock: timers.clock, ...(disk === undefined ? {} : { timers: disk }) })
  const { store, fatalErrors } = makeStore({ files, timers, config, settings: { 'log.cleaner.enable': 'false' } })
  await store.start()
  const idle = store.create({ topic: 'idle', topicId: idleId, partition: 0 }, settings)
  const busy = store.create({ topic: 'busy', topicId: busyId, partition: 0 }, topicSettings({}))
  append(busy, makeBatch(1), 0)
  await settled()
  await store.flush()
  const write = async (bytes: number): Promise<void> => {
    append(busy, makeBatch([{ timestamp: timers.clock.wallMs(), value: 'x'.repeat(bytes) }]), 0)
    await settled()
  }
  /** Appends to the idle log, in one turn, so that the redo log alone has them. */
  const fill = (count: number): void => {
    for (let index = 0; index < count; index++) append(idle, keyedBatch([{ key: `key ${index % 2}`, value: `${index}`.padEnd(80, '.'), timestamp: timers.clock.wallMs() }]), 0)
    idle.raiseHighWatermark(idle.endOffset)
  }
  return { timers, files, store, fatalErrors, idle, busy, write, fill }
}

type Life = Awaited<ReturnType<typeof begun>>

async function expire({ timers, store }: Life): Promise<void> {
  timers.advance(5000)
  await settled()
  store.sweep()
}

const operations: Readonly<Record<string, (life: Life) => unknown>> = {
  'nothing': () => {},
  'retention of all, when it is on the disk': async life => { await settled(); await expire(life) },
  'retention of all, at once': expire,
  'retention of what is too much': ({ idle, store }) => { idle.configure({ ...settings, retentionBytes: 400 }); store.sweep() },
  'deletion of all records': ({ idle }) => { idle.deleteTo(idle.endOffset) },
  'deletion of all records, and retention': async life => { life.idle.deleteTo(life.idle.endOffset); await expire(life) },
  'deletion of records up to where a segment begins': ({ idle }) => { idle.deleteTo(idle.state.segments.at(-1)!.baseOffset) },
  'deletion of records up to within a segment': ({ idle }) => { idle.deleteTo(idle.state.segments.at(-1)!.baseOffset - 1) },
  'deletion of some records, then of all': ({ idle }) => { for (let offset = 1; offset <= idle.endOffset; offset++) idle.deleteTo(offset) },
  'truncation within it': ({ idle }) => { idle.truncateTo(Math.floor(idle.endOffset / 2)) },
  'truncation to its start': ({ idle }) => { idle.truncateTo(0) },
  'deletion of records, and truncation': ({ idle }) => { idle.deleteTo(idle.state.segments.at(-1)!.baseOffset); idle.truncateTo(idle.startOffset) },
  'deletion of its topic': ({ store }) => { store.remove(idleId, 0) },
  'retention of all, and deletion of its topic': async life => { await expire(life); life.store.remove(idleId, 0) },
  'setting aside': ({ store }) => { store.setAside(idleId, 0) },
  'compaction': async ({ idle, store }) => { idle.configure({ ...settings, compact: true, delete: false }); await settled(); await store.compact() },
  'compaction of what is on the disk, and deletion of records': async ({ idle, store, timers }) => {
    idle.configure({ ...settings, compact: true, delete: false })
    await store.flush()
    timers.advance(61_000)
    await settled()
    await store.compact()
    idle.deleteTo(idle.endOffset)
  },
  'a change to durability os': ({ idle }) => { idle.configure({ ...settings, durability: 'os' }) },
  'retention of all after a change to durability os': async life => { life.idle.configure({ ...settings, durability: 'os' }); await expire(life) },
}

/** Files of the redo log are used again, as fast as a log fills them; and after a power cut everything is as it was. */
async function expectFlow({ store, idle, busy, files, timers, write }: Life): Promise<void> {
  const before = store.redoFigures()[0]!
  for (let count = 0; count < 60; count++) {
    await write(60_000)
    timers.advance(2000)
    await settled()
  }
  const { reclaimed, refused } = store.redoFigures()[0]!
  expect(reclaimed - before.reclaimed).toBeGreaterThan(8)
  // Without room each one is refused.
  expect(refused - before.refused).toBeLessThan(30)
  const there = (log: SegmentedLog | undefined): unknown => log === undefined ? undefined : [log.startOffset, log.endOffset]
  expect([idle.state.failure === undefined ? idle.flushedOffset : idle.endOffset, busy.flushedOffset]).toEqual([idle.endOffset, busy.endOffset])
  const left = [idleId, busyId].map(topicId => there(store.find(topicId, 0)))
  const again = makeStore({ files: files.afterCrash({ keepUnsynced: 'none' }), timers: new ManualTimers(timers.clock), config })
  await again.store.start()
  expect([idleId, busyId].map(topicId => there(again.store.find(topicId, 0)))).toEqual(left)
  expect(again.logger.lines.filter(({ level }) => level === 'error')).toEqual([])
}

describe('an idle log does not keep the redo log from using its files again', () => {
  it.each(Object.keys(operations))('after %s', async name => {
    const life = await begun()
    const { batches } = life.store.redoFigures()[0]!
    life.fill(9)
    await settled()
    expect(life.store.redoFigures()[0]!.batches - batches).toBe(9)
    await operations[name]!(life)
    await expectFlow(life)
  })

  it.each(Object.keys(operations))('after %s, begun while what it appended was on its way', async name => {
    const life = await begun()
    life.fill(9)
    await operations[name]!(life)
    await expectFlow(life)
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('after several of these, by seed %i', async seed => {
    const prng = new Prng(seed)
    const life = await begun()
    const done: string[] = []
    for (let count = 0; count < 4 && life.idle.state.failure === undefined; count++) {
      life.fill(prng.between(1, 9))
      if (prng.between(0, 1) === 1) await settled()
      const name = prng.pick(Object.keys(operations))
      done.push(name)
      await operations[name]!(life)
    }
    await expectFlow(life).catch((error: unknown) => { throw new Error(`seed ${seed}: ${done.join('; ')}`, { cause: error }) })
  })
})

const goings: readonly (readonly [string, (life: Life) => unknown])[] = [
  ['is deleted', ({ store }) => { store.remove(idleId, 0) }],
  ['is set aside', ({ store }) => { store.setAside(idleId, 0) }],
]

describe('a topic that goes while what the redo log has of it is brought to its segments', () => {
  it.each(goings)('takes nothing else with it, whichever sync is under way when it %s', async (_how, go) => {
    for (let moment = 0; moment < 40; moment++) {
      const disk = new HeldDisk()
      const life = await begun(disk)
      life.fill(9)
      await settled()
      disk.hold()
      for (let ended = 0; ended < moment; ended++) {
        await life.write(30_000)
        disk.endOne()
        await settled()
      }
      go(life)
      await settled()
      disk.release()
      await settled()
      expect(life.store.directories().map(({ offline }) => offline), `after ${moment} syncs`).toEqual([undefined])
      expect(life.fatalErrors).toEqual([])
      await expectFlow(life)
    }
  })
})

describe('a flush', () => {
  it.each(goings)('of all logs ends when one %s meanwhile, and so does a stop, in order', async (_how, go) => {
    for (const ends of ['a flush', 'a stop']) {
      const life = await begun()
      life.fill(9)
      const resume = life.files.stall()
      await settled()
      const ended = (ends === 'a flush' ? life.store.flush() : life.store.stop()).then(() => 'ended', String)
      await settled()
      go(life)
      resume()
      expect(await ended).toBe('ended')
      await life.store.stop()
      expect(life.files.stat('/data/.kafka_cleanshutdown'), ends).toBeDefined()
    }
  })

  it.each<[string, (life: Life) => unknown]>([['retention takes', expire], ['a deletion takes', ({ idle }) => { idle.deleteTo(idle.state.segments.at(-1)!.baseOffset) }]])('ends when %s what it waits for', async (_what, take) => {
    const life = await begun()
    // The sync of the first segment is under way, and does not end.
    const resume = life.files.stall()
    life.idle.configure({ ...settings, durability: 'os' })
    life.fill(9)
    await settled()
    const flushed = new Promise<unknown>(resolve => life.idle.sync.flush(resolve))
    await take(life)
    resume()
    expect(await flushed).toBeUndefined()
    expect(life.idle.state.synced).toBe(life.idle.endOffset)
  })
})
