import { describe, expect, it } from 'vitest'
import { parsePartitionOffsets } from '../../../../src/kernel/log/checkpoint-text.ts'
import { append, makeBatch, newTopicId, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { bytesOf, codeOf, makeStore } from './store-subjects.ts'

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }
const id = { topic: 'orders', partition: 0, topicId: newTopicId() }
const directory = '/data/orders-0'
const startsPath = '/data/log-start-offset-checkpoint'
const segmentName = (base: number, suffix = '.log') => `${directory}/${String(base).padStart(20, '0')}${suffix}`

async function started(files: MemoryFileSystem, redoBytesMax = 1 << 20, timers = new ManualTimers()) {
  const made = makeStore({ files, timers, config: { reserveBytes: 0, residentBytes: 1 << 30, redoBytesMax } })
  await made.store.start()
  return { ...made, timers }
}

interface Life {
  readonly ended: 'stopped' | 'killed'
  readonly deletedTo?: number
  readonly durability?: 'fsync' | 'os'
  readonly redoBytesMax?: number
}

/** A log of thirty records in several segments: its recovery point is somewhere within, its high watermark at the end. */
async function life({ ended, deletedTo = 0, durability = 'fsync', redoBytesMax }: Life) {
  const files = new MemoryFileSystem()
  const { store, timers } = await started(files, redoBytesMax)
  const log = store.create(id, topicSettings({ segmentBytes: 400, durability, fileDeleteDelayMs: 0 }))
  for (let count = 0; count < 30; count++) {
    append(log, makeBatch([{ timestamp: 1000 + count, value: `value ${count}` }]), 0)
    await settled()
    if (count === 20) timers.advance(61_000)
    await settled()
  }
  await store.flush()
  log.raiseHighWatermark(log.endOffset)
  log.deleteTo(deletedTo)
  timers.advance(6000)
  await settled()
  if (ended === 'stopped') await store.stop()
  const left = files.afterCrash({ keepUnsynced: 'all', systemDown: false })
  const bases = left.list(directory).filter(name => name.endsWith('.log')).map(name => Number(name.slice(0, 20)))
  return { left, bases }
}

function removeSegment(files: MemoryFileSystem, base: number): void {
  for (const suffix of ['.log', '.index', '.timeindex', '.sum', '.snapshot']) if (files.stat(segmentName(base, suffix)) !== undefined) files.damage.remove(segmentName(base, suffix))
}

/** How the log fares at the next start. */
async function outcome(files: MemoryFileSystem, redoBytesMax?: number) {
  const { store, logger } = await started(files, redoBytesMax)
  const log = store.find(id.topicId, 0)
  const code = log === undefined ? 'none' : codeOf(() => { log.configure(topicSettings({})) })
  const values = code === 'ok' ? (await readRecords(subject, log!, log!.startOffset)).length : 0
  return { code, values, start: code === 'ok' ? log!.startOffset : -1, store, lines: logger.lines, errors: logger.lines.filter(({ level }) => level === 'error') }
}

describe.each(['stopped', 'killed'] as const)('of a log that was %s', ended => {
  it('the loss of any number of its first segments takes it out of service, with all files as they are, again and again', async () => {
    const { bases } = await life({ ended })
    expect(bases.length).toBeGreaterThan(4)
    for (let count = 1; count <= bases.length; count++) {
      const { left } = await life({ ended })
      for (const base of bases.slice(0, count)) removeSegment(left, base)
      const before = left.list(directory)
      for (const attempt of [1, 2]) {
        expect((await outcome(left)).code, `without the first ${count}, start ${attempt}`).toBe('MR_LOG_CORRUPT')
        expect(left.list(directory)).toEqual(before)
      }
    }
  })

  it('the loss of the `.log` alone in which the log start lies takes it out of service, and no file with it', async () => {
    const whole = await life({ ended })
    const deletedTo = whole.bases[2]! + 1
    const { left, bases } = await life({ ended, deletedTo })
    expect(bases[0]).toBeLessThan(deletedTo)
    expect(bases[1]).toBeGreaterThan(deletedTo)
    left.damage.remove(segmentName(bases[0]!))
    const before = left.list(directory)
    expect((await outcome(left)).code).toBe('MR_LOG_CORRUPT')
    expect(left.list(directory)).toEqual(before)
  })

  it('the log start may be anywhere: with all files that were left it is served', async () => {
    for (let deletedTo = 0; deletedTo <= 30; deletedTo++) {
      const { left } = await life({ ended, deletedTo })
      expect(await outcome(left), `deleted up to ${deletedTo}`).toMatchObject({ code: 'ok', start: deletedTo, values: 30 - deletedTo, errors: [] })
    }
  })

  it('all of the checkpoint of log starts says where it begins, and Kafka reads it', async () => {
    const { left } = await life({ ended: 'stopped' })
    const text = new TextDecoder().decode(bytesOf(left, startsPath))
    expect([...parsePartitionOffsets(text)]).toEqual([['orders-0', 0]])
  })

  it('what others have written of log starts, who remove files first, says nothing of where its files begin', async () => {
    const { left, bases } = await life({ ended })
    removeSegment(left, bases[0]!)
    for (const text of ['0\n0\n', `0\n1\norders 0 1\n`]) {
      const files = left.afterCrash({ keepUnsynced: 'all', systemDown: false })
      const file = files.open(startsPath, 'ensure')
      file.truncate(0)
      file.write([new TextEncoder().encode(text)], 0)
      file.close()
      expect(await outcome(files)).toMatchObject({ code: 'ok', start: bases[1] })
    }
  })
})

it('a first segment that is gone is not made anew by the redo log, whatever else it has', async () => {
  const { left, bases } = await life({ ended: 'killed' })
  for (const base of bases) removeSegment(left, base)
  expect(left.list('/data/__millrace_redo').length).toBeGreaterThan(0)
  const { code, lines } = await outcome(left)
  expect(code).toBe('MR_LOG_CORRUPT')
  expect(left.list(directory).filter(name => name.endsWith('.log'))).toEqual([])
  expect(lines.some(({ fields }) => Number(fields.batches) > 0)).toBe(true)
})

it('a log that begins with offsets that are skipped begins there after a kill and after a stop', async () => {
  for (const ended of ['killed', 'stopped']) {
    const files = new MemoryFileSystem()
    const { store, timers } = await started(files)
    const log = store.create(id, topicSettings({}))
    timers.advance(61_000)
    await settled()
    const far = 5_000_000_000
    const batch = makeBatch(1, { baseOffset: far })
    log.append(batch, 0, batch.length, { role: 'follower', leaderEpoch: 0 })
    await store.flush()
    if (ended === 'stopped') await store.stop()
    expect(await outcome(files.afterCrash({ keepUnsynced: 'all', systemDown: false }))).toMatchObject({ code: 'ok', start: far, values: 1, errors: [] })
  }
})

describe('a log that is shorter than its high watermark', () => {
  it.each(['fsync', 'os'] as const)('was shortened where the system has not gone down, and is out of service, with durability %s', async durability => {
    for (const redoBytesMax of [0, 1 << 20]) {
      const { left, bases } = await life({ ended: 'killed', durability, redoBytesMax })
      left.damage.truncate(segmentName(bases.at(-1)!), 0)
      const { code, values } = await outcome(left, redoBytesMax)
      // What the redo log has of it is put back.
      expect(code === 'ok' && redoBytesMax > 0 ? values : code).toBe(code === 'ok' ? 30 : 'MR_LOG_CORRUPT')
    }
  })
})
