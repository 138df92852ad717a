import { describe, expect, it } from 'vitest'
import { append, makeBatch, newTopicId, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { codeOf, makeStore } from './store-subjects.ts'

const id = { topic: 'orders', partition: 0, topicId: newTopicId() }
const settings = topicSettings({ segmentBytes: 500, indexIntervalBytes: 100 })
const records = 8

/** A log whose recovery point is at its end, its records below `start` deleted; then the power cut that takes the renames of the deleted segments. */
async function cutAfterDeletion(start: number, redoBytesMax: number) {
  const [files, timers] = [new MemoryFileSystem(), new ManualTimers()]
  const { store } = makeStore({ files, timers, config: { redoBytesMax, reserveBytes: 4096 }, settings: { 'log.cleaner.enable': 'false' } })
  await store.start()
  const log = store.create(id, settings)
  for (let count = 0; count < records; count++) append(log, makeBatch([{ timestamp: 1000, value: 'x'.repeat(100) }]), 0)
  await store.flush()
  log.raiseHighWatermark(records)
  for (let round = 0; round < 2; round++) {
    timers.advance(61_000)
    await settled()
  }
  log.state.home.writeCheckpoint('recovery points')
  expect(log.state.recoveryPoint()).toBe(records)
  log.deleteTo(start)
  const left = files.afterCrash({ keepUnsynced: 'none' })
  const bases = left.list('/data/orders-0').filter(name => name.endsWith('.log')).map(name => Number(name.slice(0, 20)))
  expect(bases[0]).toBe(0)
  const startOn = async (found: MemoryFileSystem) => {
    const made = makeStore({ files: found, timers: new ManualTimers(timers.clock), config: { redoBytesMax, reserveBytes: 4096 } })
    await made.store.start()
    return { ...made, log: made.store.find(id.topicId, 0)! }
  }
  return { left, bases, startOn }
}

/** The same disk, on which somebody has removed the segments that begin at `from` and behind. */
function without(disk: MemoryFileSystem, from: number): MemoryFileSystem {
  const found = disk.afterCrash({ keepUnsynced: 'all', systemDown: true })
  for (const name of found.list('/data/orders-0')) if (/^\d+\./.test(name) && Number(name.slice(0, 20)) >= from) found.damage.remove(`/data/orders-0/${name}`)
  return found
}

describe.each([0, 1 << 20])('deleted segments that a power cut has brought back, redo log of %i bytes', redoBytesMax => {
  it('do not hide that those above the log start are gone, whichever are left', async () => {
    for (let start = 1; start < records; start++) {
      const { left, bases, startOn } = await cutAfterDeletion(start, redoBytesMax)
      for (const gone of bases.slice(1)) {
        const { log, logger } = await startOn(without(left, gone))
        expect(codeOf(() => { log.configure(settings) }), `deleted below ${start}, gone from ${gone}`).toBe('MR_LOG_CORRUPT')
        expect(logger.lines.some(({ level, message }) => level === 'error' && message.includes('damaged and not served')), `deleted below ${start}, gone from ${gone}`).toBe(true)
      }
    }
  })

  it('are gone again where nothing is missing, and the log is served from its start', async () => {
    for (let start = 1; start <= records; start++) {
      const { left, startOn } = await cutAfterDeletion(start, redoBytesMax)
      const { log, logger } = await startOn(left)
      log.configure(settings)
      log.raiseHighWatermark(log.endOffset)
      expect([log.startOffset, log.endOffset, (await readRecords({ settle: promise => promise }, log)).length]).toEqual([start, records, records - start])
      expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
    }
  })

  it('are all that is left of a log whose records were all deleted: it goes on at its start', async () => {
    const { left, bases, startOn } = await cutAfterDeletion(records, redoBytesMax)
    for (const gone of bases.slice(1)) {
      const { log, logger } = await startOn(without(left, gone))
      log.configure(settings)
      expect([log.startOffset, log.endOffset]).toEqual([records, records])
      expect(append(log, makeBatch(1), 0).baseOffset).toBe(records)
      expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
    }
  })
})
