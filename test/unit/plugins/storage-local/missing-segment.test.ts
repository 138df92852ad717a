import { describe, expect, it } from 'vitest'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
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
