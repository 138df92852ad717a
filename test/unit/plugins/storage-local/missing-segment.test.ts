import { describe, expect, it } from 'vitest'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { codeOf, makeStore } from './store-subjects.ts'

const id = { topic: 'orders', partition: 0, topicId: newTopicId() }
const settings = topicSettings({ segmentBytes: 300, indexIntervalBytes: 1 })
const config = { redoBytesMax: 0, reserveBytes: 0 }

/** Several segments above the recovery point, which is at 0; the second one's `.log` is gone, its indexes are not. */
async function storeWithout(systemDown: boolean) {
  const files = new MemoryFileSystem()
  const first = makeStore({ files, timers: new ManualTimers(), config })
  await first.store.start()
  const log = first.store.create(id, settings)
  for (let count = 0; count < 20; count++) append(log, makeBatch(1), 0)
  const left = files.afterCrash({ keepUnsynced: 'all', systemDown })
  const [, second] = left.list('/data/orders-0').filter(name => name.endsWith('.log'))
  left.damage.remove(`/data/orders-0/${second!}`)
  const made = makeStore({ files: left, timers: new ManualTimers(), config })
  await made.store.start()
  return { ...made, base: Number(second!.slice(0, 20)), log: made.store.find(id.topicId, 0)! }
}

describe('a segment that is missing, above the recovery point, with its indexes there', () => {
  it('was taken away where the system has not gone down: the log is not served', async () => {
    const { log, logger } = await storeWithout(false)
    expect(codeOf(() => { log.configure(settings) })).toBe('MR_LOG_CORRUPT')
    expect(logger.lines.some(({ level, message }) => level === 'error' && message.includes('damaged and not served'))).toBe(true)
  })

  it('is one whose name a power cut took: the log ends there, and the batches behind are set aside', async () => {
    const { log, logger, base } = await storeWithout(true)
    log.configure(settings)
    expect(log.endOffset).toBe(base)
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(logger.lines.some(({ level, message }) => level === 'warn' && message.includes('set aside'))).toBe(true)
  })
})

describe('an empty segment that a roll left which failed', () => {
  it.each(['in the middle of the log', 'at its end'])('takes no record away, %s', async where => {
    const files = new MemoryFileSystem()
    const first = makeStore({ files, timers: new ManualTimers(), config })
    await first.store.start()
    const log = first.store.create(id, settings)
    for (let count = 0; count < 20; count++) append(log, makeBatch(1), 0)
    const left = files.afterCrash({ keepUnsynced: 'all', systemDown: true })
    const bases = left.list('/data/orders-0').filter(name => name.endsWith('.log')).map(name => Number(name.slice(0, 20)))
    const base = where === 'at its end' ? 19 : bases[1]! + 1
    expect(bases).not.toContain(base)
    left.open(`/data/orders-0/${String(base).padStart(20, '0')}.log`, 'create').close()
    const { store, logger } = makeStore({ files: left, timers: new ManualTimers(), config })
    await store.start()
    const found = store.find(id.topicId, 0)!
    found.configure(settings)
    expect(found.endOffset).toBe(20)
    expect(logger.lines.filter(({ level, message }) => level === 'error' || message.includes('set aside'))).toEqual([])
  })

  it('is gone when the append fails', async () => {
    const files = new MemoryFileSystem()
    const { store } = makeStore({ files, timers: new ManualTimers(), config })
    await store.start()
    const log = store.create(id, settings)
    append(log, makeBatch(1), 0)
    const before = files.list('/data/orders-0')
    files.faults.add({ operation: 'open', error: 'EMFILE', path: /\.log$/, times: 1 })
    expect(codeOf(() => { for (let count = 0; count < 20; count++) append(log, makeBatch(1), 0) })).not.toBe('ok')
    expect(files.faults.failures).toBe(1)
    expect(files.list('/data/orders-0').filter(name => name.endsWith('.log'))).toEqual(before.filter(name => name.endsWith('.log')))
  })
})

describe('the last segment of a log of which retention has left nothing, taken away after a clean stop', () => {
  it.each([0, 1 << 20])('is begun anew, and what is acknowledged in it survives a power cut; redo log of %d bytes', async redoBytesMax => {
    const open = async (files: MemoryFileSystem) => {
      const timers = new ManualTimers()
      const made = makeStore({ files, timers, config: { ...config, redoBytesMax } })
      await made.store.start()
      for (const log of made.store.logs()) log.configure(topicSettings({ retentionMs: -1 }))
      return { ...made, timers }
    }
    const files = new MemoryFileSystem()
    const first = await open(files)
    const emptied = first.store.create(id, topicSettings({ retentionMs: 1 }))
    for (let count = 0; count < 5; count++) append(emptied, makeBatch(1), 0)
    await first.store.flush()
    emptied.raiseHighWatermark(5)
    first.timers.advance(20_000)
    while (first.store.sweep().left > 0);
    await settled()
    first.timers.advance(120_000)
    await settled()
    await first.store.stop()
    files.damage.remove('/data/orders-0/00000000000000000005.log')
    const second = await open(files)
    const log = second.store.find(id.topicId, 0)!
    append(log, makeBatch(1), 0)
    for (let turn = 0; turn < 5; turn++) await settled()
    expect([log.startOffset, log.flushedOffset]).toEqual([5, 6])
    const again = await open(files.afterCrash({ keepUnsynced: 'none' }))
    expect(again.store.find(id.topicId, 0)!.endOffset).toBe(6)
  })
})
