import { describe, expect, it } from 'vitest'
import { append, makeBatch, newTopicId, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeStore } from './store-subjects.ts'

const id = { topic: 'orders', topicId: newTopicId(), partition: 0 }
const settings = topicSettings({ segmentBytes: 4000, retentionMs: -1, indexIntervalBytes: 1 })
const directory = '/data/orders-0'

/** Segments of a log that was stopped cleanly; `change` is what happens to the files then. */
async function stopped(change: (files: MemoryFileSystem) => void): Promise<MemoryFileSystem> {
  const files = new MemoryFileSystem()
  const { store } = makeStore({ files, timers: new ManualTimers() })
  await store.start()
  const log = store.create(id, settings)
  for (let count = 0; count < 20; count++) append(log, makeBatch([{ timestamp: 1000 + count, value: 'x'.repeat(1000) }]))
  await store.stop()
  change(files)
  return files
}

async function scrubbing(files: MemoryFileSystem, scrubBytesPerSecond: number) {
  const timers = new ManualTimers()
  const life = makeStore({ files, timers, config: { scrubBytesPerSecond, scrubIntervalMs: 60_000 } })
  await life.store.start()
  return { ...life, timers, log: life.store.find(id.topicId, 0)! }
}

/** Lets time pass, with whatever each step of it brings. */
async function pass(timers: ManualTimers, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    timers.advance(1000)
    await settled()
  }
}

describe('the scrubber', () => {
  it('finds what nobody has read, tells it once, in the log and in the health, and leaves the rest in service', async () => {
    const files = await stopped(disk => { disk.flipBit(`${directory}/00000000000000000003.log`, 1500, 3) })
    const { store, logger, timers, log } = await scrubbing(files, 1 << 20)
    expect(store.check().state).toBe('ok')
    await pass(timers, 300)
    expect(store.integrity.passes).toBeGreaterThan(1)
    expect(logger.lines.filter(line => line.level === 'error').map(line => line.fields)).toEqual([
      expect.objectContaining({ topic: 'orders', partition: 0, path: `${directory}/00000000000000000003.log`, first: 4, last: 4 }),
    ])
    expect(store.check()).toMatchObject({ state: 'degraded', detail: expect.stringContaining('offset 4 of orders-0') })
    const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }
    expect((await readRecords(subject, log, 5)).map(record => record.offset)).toEqual(Array.from({ length: 15 }, (_, index) => 5 + index))
    await expect(readRecords(subject, log, 4)).rejects.toMatchObject({ code: 'MR_LOG_ROTTEN', details: { next: 5 } })
    await store.stop()
  })

  it('damage whose records were deleted is told of no more, also where its segment is still there and looked at again', async () => {
    const files = await stopped(disk => { disk.flipBit(`${directory}/00000000000000000003.log`, 100, 3) })
    const { store, logger, timers, log } = await scrubbing(files, 1 << 20)
    await pass(timers, 100)
    expect(log.damage).toEqual([expect.objectContaining({ first: 3, last: 3 })])
    log.raiseHighWatermark(20)
    log.deleteTo(5)
    expect([log.damage, store.check().state]).toEqual([[], 'ok'])
    expect(logger.lines.filter(({ message }) => message.startsWith('damaged records are deleted')).map(({ fields }) => fields)).toEqual([expect.objectContaining({ topic: 'orders', offsets: ['3 to 3'] })])
    const { passes } = store.integrity
    await pass(timers, 200)
    expect(store.integrity.passes).toBeGreaterThan(passes)
    expect([log.damage, store.check().state]).toEqual([[], 'ok'])
    await store.stop()
  })

  it('reads no faster than it is told', async () => {
    const files = await stopped(() => {})
    const { store, timers } = await scrubbing(files, 1000)
    await pass(timers, 61)
    for (let second = 1; second <= 10; second++) {
      await pass(timers, 1)
      expect(store.integrity.scrubbedBytes).toBeLessThanOrEqual(1000 * (second + 1) + 4000)
    }
    expect(store.integrity.scrubbedBytes).toBeGreaterThan(0)
    await store.stop()
  })

  it('reads nothing at a pace of 0', async () => {
    const { store, timers } = await scrubbing(await stopped(() => {}), 0)
    await pass(timers, 1000)
    expect(store.integrity).toMatchObject({ passes: 0, scrubbedBytes: 0 })
    await store.stop()
  })

  it.each(['missing', 'wrong'] as const)('makes checksums anew that are %s, so that the next start sees what no CRC covers', async kind => {
    const path = `${directory}/00000000000000000003`
    const before: number[] = []
    const files = await stopped(disk => {
      before.push(disk.stat(`${path}.sum`)!.bytes)
      if (kind === 'missing') disk.remove(`${path}.sum`)
      else disk.flipBit(`${path}.sum`, 60, 2)
    })
    const { store, logger, timers } = await scrubbing(files, 1 << 20)
    await pass(timers, 300)
    expect(store.integrity.sumsMade).toBe(1)
    expect(logger.lines.filter(line => line.level === 'error')).toEqual([])
    await store.stop()
    expect(files.stat(`${path}.sum`)!.bytes).toBe(before[0])
    // The leader epoch of the batch at offset 3.
    files.flipBit(`${path}.log`, 13, 0)
    const again = await scrubbing(files, 0)
    const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }
    await expect(readRecords(subject, again.log, 3)).rejects.toMatchObject({ code: 'MR_LOG_ROTTEN' })
    await again.store.stop()
  })
})

describe('a truncation beside a scrub that is under way', () => {
  it.each([true, false])('leaves indexes and checksums of what is there, though the segment is closed again, at whichever second it comes; with checksums: %s', async withSums => {
    for (let second = 58; second < 100; second += 2) {
      const files = await stopped(disk => {
        for (const name of disk.list(directory)) if (name.endsWith('.sum') && !withSums) disk.remove(`${directory}/${name}`)
      })
      const { store, logger, timers, log } = await scrubbing(files, 1000)
      log.configure(settings)
      await pass(timers, second)
      log.truncateTo(4)
      for (let count = 0; count < 8; count++) append(log, makeBatch([{ timestamp: 500 + count * 100, value: 'y'.repeat(700 + count * 90) }]))
      await pass(timers, 300)
      const records = await readRecords({ settle: promise => promise }, log)
      expect(records.map(({ offset }) => offset)).toEqual(Array.from({ length: 12 }, (_, index) => index))
      for (let timestamp = 450; timestamp < 1300; timestamp += 50) expect(log.locate(timestamp, 12)?.offset, `cut after ${second} s, time ${timestamp}`).toBe(records.find(record => record.timestamp >= timestamp)?.offset)
      expect([logger.lines.filter(({ level }) => level === 'error'), store.check().state]).toEqual([[], 'ok'])
      await store.stop()
      const again = await scrubbing(files, 1 << 20)
      await pass(again.timers, 100)
      expect([again.logger.lines.filter(({ level }) => level !== 'info'), again.store.check().state]).toEqual([[], 'ok'])
    }
  })
})
