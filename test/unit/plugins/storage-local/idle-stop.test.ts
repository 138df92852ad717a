import { describe, expect, it } from 'vitest'
import { type SegmentedLog } from '../../../../src/plugins/storage-local/segmented-log.ts'
import { keyedBatch } from '../../../../src/testkit/conformance/log-store-compaction.ts'
import { append } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { makeStore, type TestStore } from './store-subjects.ts'

const count = 40
const topicId = (index: number): string => Buffer.from(String(index).padStart(16, 'x')).toString('base64url')
const batch = (producerId: number, baseSequence: number): Uint8Array =>
  keyedBatch([{ key: `k${baseSequence % 2}`, value: `${producerId} ${baseSequence}` }], { producerId, producerEpoch: 0, baseSequence })
const settings = topicSettings({ retentionMs: -1, segmentBytes: 400 })

interface Life extends TestStore {
  readonly files: MemoryFileSystem
  readonly timers: ManualTimers
}

async function started(files = new MemoryFileSystem(), timers = new ManualTimers()): Promise<Life> {
  const made = makeStore({ files, timers })
  await made.store.start()
  return { ...made, files, timers }
}

/** Logs of a few segments each, stopped in order. */
async function stopped(): Promise<MemoryFileSystem> {
  const { store, files } = await started()
  for (let index = 0; index < count; index++) {
    const log = store.create({ topic: `t${index}`, topicId: topicId(index), partition: 0 }, settings)
    for (let sequence = 0; sequence < 9; sequence++) append(log, batch(7, sequence), 0)
  }
  await store.flush()
  for (const log of store.logs()) log.raiseHighWatermark(9)
  await store.stop()
  return files
}

/** Calls by which something becomes durable, of a stop. */
async function syncsOfStop({ store, files }: Life): Promise<number> {
  let syncs = 0
  files.observe = ({ kind }) => { if (kind === 'sync' || kind === 'sync directory') syncs++ }
  await store.stop()
  files.observe = undefined
  return syncs
}

describe('the stop of logs that nobody has touched', () => {
  it('syncs nothing of each', async () => {
    const life = await started(await stopped())
    for (const log of life.store.logs()) log.configure(settings)
    expect(await syncsOfStop(life)).toBeLessThan(count)
  })

  it('syncs what was touched alone', async () => {
    const life = await started(await stopped())
    const idle = await syncsOfStop(life)
    const again = await started(life.files)
    append(again.store.find(topicId(3), 0)!, batch(7, 9), 0)
    await again.store.flush()
    const syncs = await syncsOfStop(again)
    expect(syncs).toBeGreaterThan(idle)
    expect(syncs - idle).toBeLessThan(12)
  })

  const touches: Readonly<Record<string, (log: SegmentedLog, life: Life) => void | Promise<unknown>>> = {
    'nothing': () => {},
    'a minute': async (_log, { timers }) => {
      for (let second = 0; second < 61; second++) {
        timers.advance(1000)
        await new Promise(resolve => { setImmediate(resolve) })
      }
    },
    'an append': log => { append(log, batch(7, 9), 0) },
    'a truncation and as many other records': log => {
      log.truncateTo(7)
      for (let sequence = 0; sequence < 2; sequence++) append(log, batch(8, sequence), 0)
    },
    'a truncation to a whole segment': log => { log.truncateTo(log.state.active.baseOffset) },
    'a deletion of records': log => { log.deleteTo(5) },
    'a deletion of all records': log => { log.deleteTo(9) },
    'a roll by retention': (log, { store, timers }) => {
      log.configure({ ...settings, retentionMs: 1 })
      timers.advance(10_000)
      store.sweep()
    },
    'a compaction': (log, { store }) => {
      log.configure({ ...settings, compact: true, retentionMs: -1, minCleanableDirtyRatio: 0 })
      return store.compact().then(({ logsCompacted }) => { expect(logsCompacted).toBeGreaterThan(0) })
    },
  }

  it.each(Object.entries(touches))('%s and a stop leave the seal of the last segment: a start after which a bit of its last batch is wrong keeps what it knows of the end of the log', async (_, touch) => {
    const life = await started(await stopped())
    const logs = ([...life.store.logs()] as SegmentedLog[]).slice(0, 5)
    for (const log of logs) {
      log.configure(settings)
      log.raiseHighWatermark(9)
    }
    for (const log of logs) await touch(log, life)
    await life.store.flush()
    await life.store.stop()
    const lasts = logs.map(({ state: { active } }) => ({ path: active.path('.log'), last: active.sizeBytes === 0 ? -1 : active.sums.lastPosition() }))
    for (const { path, last } of lasts) if (last >= 0) life.files.damage.flipBit(path, last + 16, 0)
    const again = await started(life.files)
    expect(logs.map(({ id }) => again.store.find(id.topicId, 0)!.endOffset)).toEqual(logs.map(({ endOffset }) => endOffset))
    for (const { id } of logs) expect(() => append(again.store.find(id.topicId, 0)!, batch(9, 0), 0)).not.toThrow()
  })

  it.each(Object.entries(touches))('%s, a stop and a power cut: a start finds all as it was, makes nothing anew, and a producer that goes on is known', async (_, touch) => {
    const life = await started(await stopped())
    const logs = [...life.store.logs()] as SegmentedLog[]
    for (const log of logs) {
      log.configure(settings)
      log.raiseHighWatermark(9)
    }
    for (const log of logs.slice(0, 5)) await touch(log, life)
    await life.store.flush()
    const before = logs.map(log => ({ start: log.startOffset, end: log.endOffset, sizeBytes: log.sizeBytes, producers: log.state.producers.size }))
    await life.store.stop()
    const again = await started(life.files.afterCrash({ keepUnsynced: 'none' }))
    const found = logs.map(({ id }) => again.store.find(id.topicId, 0)!)
    expect(again.logger.lines.filter(({ level }) => level !== 'info')).toEqual([])
    expect(found.map(log => ({ start: log.startOffset, end: log.endOffset, sizeBytes: log.sizeBytes, producers: log.state.producers.size }))).toEqual(before)
    append(found[20]!, batch(7, 9), 0)
    expect(() => append(found[21]!, batch(7, 12), 0)).toThrow(/sequence/)
  })
})
