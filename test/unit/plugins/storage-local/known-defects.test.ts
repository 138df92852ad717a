import { describe, expect, it } from 'vitest'
import { type SegmentedLog } from '../../../../src/plugins/storage-local/segmented-log.ts'
import { append, makeBatch } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { makeStore, type TestStore } from './store-subjects.ts'

const turns = async (count: number): Promise<void> => { for (let turn = 0; turn < count; turn++) await Promise.resolve() }
const id = { topic: 't', topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partition: 0 }

interface Life extends TestStore { readonly files: MemoryFileSystem }

async function started(files: MemoryFileSystem, timers = new ManualTimers(), config: Parameters<typeof makeStore>[0]['config'] = {}): Promise<Life> {
  const made = makeStore({ files, timers, config })
  await made.store.start()
  return { ...made, files }
}

async function one(log: SegmentedLog, batch = makeBatch(1)): Promise<void> {
  append(log, batch, 0)
  await turns(40)
}

/**
 * Each claims what should hold and does not: it is expected to fail, and to be turned into a test like others by whoever mends it. Nothing under src truncates a log yet but the
 * conformance kit; replication will.
 */
describe('known defects', () => {
  it.fails('a producer snapshot that a truncation removed does not come back with a power cut', async () => {
    const batch = (producerId: number, baseSequence: number): Uint8Array => makeBatch([{ timestamp: 1000, value: `${producerId} ${baseSequence}` }], { producerId, producerEpoch: 0, baseSequence })
    const noRedo = { redoBytesMax: 0 }
    const first = await started(new MemoryFileSystem(), undefined, noRedo)
    const before = first.store.create(id, topicSettings({}))
    for (let sequence = 0; sequence < 10; sequence++) append(before, batch(1, sequence), 0)
    await first.store.flush()
    await first.store.stop()
    const files = first.files.afterCrash({ keepUnsynced: 'all' })
    const { store } = await started(files, undefined, noRedo)
    const log = store.find(id.topicId, 0)!
    log.configure(topicSettings({}))
    log.truncateTo(5)
    for (let sequence = 0; sequence < 10; sequence++) append(log, batch(2, sequence), 0)
    await turns(50)
    await store.flush()
    const again = await started(files.afterCrash({ keepUnsynced: 'none' }), undefined, noRedo)
    const found = again.store.find(id.topicId, 0)!
    found.configure(topicSettings({}))
    // Its last batch that is left has sequence 4: what was cut off is refused, and not taken for one that is there.
    expect(() => append(found, batch(1, 9), 0)).toThrow(/sequence/)
  })

  it.fails('a truncation that a full disk refuses takes nothing at the next power cut', async () => {
    const { files, store } = await started(new MemoryFileSystem(), undefined, { reserveBytes: 0 })
    const log = store.create(id, topicSettings({}))
    await one(log)
    await store.flush()
    for (let count = 0; count < 9; count++) await one(log)
    log.raiseHighWatermark(10)
    files.faults.add({ operation: 'write', path: /checkpoint\.tmp$/, error: 'ENOSPC' })
    expect(() => { log.truncateTo(5) }).toThrow(/space/)
    expect(log.flushedOffset).toBe(10)
    const again = await started(files.afterCrash({ keepUnsynced: 'none' }))
    expect(again.store.find(id.topicId, 0)!.endOffset).toBe(10)
  })

  it.fails('a log that is truncated to its start, in the middle of a segment, is served after a power cut', async () => {
    const { files, store } = await started(new MemoryFileSystem())
    const log = store.create(id, topicSettings({}))
    await one(log)
    await store.flush()
    await one(log, makeBatch(2))
    await one(log)
    log.raiseHighWatermark(4)
    log.deleteTo(3)
    log.truncateTo(3)
    const again = await started(files.afterCrash({ keepUnsynced: 'none' }))
    expect(again.logger.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  it.fails('a flush that a truncation overtakes ends', async () => {
    const { store } = await started(new MemoryFileSystem(), undefined, { redoBytesMax: 0 })
    const log = store.create(id, topicSettings({}))
    for (let count = 0; count < 10; count++) append(log, makeBatch(1), 0)
    let ended = false
    void store.flush().then(() => { ended = true })
    log.truncateTo(5)
    await turns(500)
    await one(log)
    expect([log.flushedOffset, ended]).toEqual([log.endOffset, true])
  })
})
