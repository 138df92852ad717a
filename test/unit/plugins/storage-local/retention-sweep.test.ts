import { describe, expect, it } from 'vitest'
import { type SegmentedLog } from '../../../../src/plugins/storage-local/segmented-log.ts'
import { append, makeBatch } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { makeStore, type TestStore } from './store-subjects.ts'

const count = 200
const turns = async (): Promise<void> => { for (let turn = 0; turn < 60; turn++) await Promise.resolve() }
const topicId = (index: number): string => Buffer.from(String(index).padStart(16, 'x')).toString('base64url')

interface Life extends TestStore {
  readonly files: MemoryFileSystem
  readonly timers: ManualTimers
  readonly logs: readonly SegmentedLog[]
}

/** Two hundred logs, in one directory or two, of which retention takes everything at the next look. */
async function expiring(directories = ['/data']): Promise<Life> {
  const timers = new ManualTimers()
  const files = new MemoryFileSystem({ clock: timers.clock })
  const made = makeStore({ files, timers, directories })
  await made.store.start()
  const logs = Array.from({ length: count }, (_, index) => {
    const log = made.store.create({ topic: `t${index}`, topicId: topicId(index), partition: 0 }, topicSettings({ retentionMs: 1000, segmentMs: 100_000 }))
    for (let batch = 0; batch < 3; batch++) append(log, makeBatch([{ timestamp: timers.clock.wallMs(), value: 'v' }]), 0)
    return log
  })
  await made.store.flush()
  for (const log of logs) log.raiseHighWatermark(3)
  timers.advance(5000)
  return { ...made, files, timers, logs }
}

/** Slices until nothing is left; `between` runs after each. Gives the segments deleted, and the slices. */
function sweepAll({ store }: TestStore, between: (slice: number) => void = () => {}): { deleted: number, slices: number } {
  let deleted = 0
  for (let slices = 1; slices < 1000; slices++) {
    const { segmentsDeleted, left } = store.sweep()
    deleted += segmentsDeleted
    if (left === 0) return { deleted, slices }
    between(slices)
  }
  throw new Error('it does not end')
}

describe('a sweep in slices', () => {
  it('touches the files of at most 64 logs in one, however many there are', async () => {
    const life = await expiring()
    const { deleted, slices } = sweepAll(life)
    expect([deleted, slices]).toEqual([count, Math.ceil((2 * count + 1) / 64)])
  })

  it('writes the log starts of a directory once', async () => {
    const life = await expiring(['/one', '/two'])
    const written: string[] = []
    life.files.observe = ({ kind, path }) => { if (kind === 'rename' && path.includes('log-start-offset')) written.push(path.split('/')[1]!) }
    sweepAll(life)
    expect(written.sort()).toEqual(['one', 'two'])
  })

  it('loses no record that is appended, and frees none that is young, between two slices', async () => {
    const life = await expiring()
    sweepAll(life, () => { for (const log of life.logs) append(log, makeBatch([{ timestamp: life.timers.clock.wallMs(), value: 'young' }]), 0) })
    // Those that the round had not come to have a young record in the segment of the old ones, and keep all.
    const starts = life.logs.map(log => log.startOffset)
    expect(new Set(starts)).toEqual(new Set([0, 3]))
    await life.store.flush()
    const again = makeStore({ files: life.files.afterCrash({ keepUnsynced: 'none' }), timers: new ManualTimers() })
    await again.store.start()
    expect(life.logs.map(({ id }) => again.store.find(id.topicId, 0)).map(log => [log?.startOffset, log?.endOffset])).toEqual(life.logs.map((log, index) => [starts[index], log.endOffset]))
  })

  it('passes over logs that are removed, cut at both ends, or whose directory fails, between two slices', async () => {
    for (const at of [1, 2, 3, 4, 5, 6]) {
      const life = await expiring(['/one', '/two'])
      sweepAll(life, slice => {
        if (slice !== at) return
        for (const [index, log] of life.logs.entries()) {
          if (index % 5 === 0) life.store.remove(log.id.topicId, 0)
          else if (index % 5 === 1) log.deleteTo(Math.max(log.startOffset, 2))
          else if (index % 5 === 2 && log.startOffset < 3) log.truncateTo(2)
        }
        life.files.faults.add({ operation: 'sync', path: /^\/two\//, error: 'EIO' })
        life.files.faults.add({ operation: 'sync directory', path: /^\/two\//, error: 'EIO' })
      })
      await turns()
      for (const log of life.store.logs()) {
        const offline = life.store.directories().filter(directory => directory.offline !== undefined).map(({ path }) => path)
        if (offline.length === 0) expect([log.startOffset, log.endOffset], `${log.id.topic}, after slice ${at}`).toEqual([log.endOffset, log.endOffset])
      }
      life.files.faults.clear()
      const again = makeStore({ files: life.files.afterCrash({ keepUnsynced: 'none' }), timers: new ManualTimers(), directories: ['/one', '/two'] })
      await again.store.start()
      expect(again.logger.lines.filter(({ level }) => level === 'error'), `after slice ${at}`).toEqual([])
    }
  })

  it('is gone through again at the next look where log starts could not be written', async () => {
    const life = await expiring()
    life.files.faults.add({ operation: 'write', path: /log-start-offset-checkpoint/, error: 'ENOSPC' })
    expect(sweepAll(life).deleted).toBe(0)
    life.files.faults.clear()
    expect(sweepAll(life).deleted).toBe(count)
  })

  it('a power cut between any two slices leaves logs that are served, with their ends', async () => {
    for (let at = 1; at < 8; at++) {
      const life = await expiring()
      let wreck: MemoryFileSystem | undefined
      sweepAll(life, slice => { if (slice === at) wreck = life.files.afterCrash({ keepUnsynced: 'none' }) })
      if (wreck === undefined) break
      const again = makeStore({ files: wreck, timers: new ManualTimers() })
      await again.store.start()
      expect([...again.store.logs()].filter(log => log.endOffset !== 3).length).toBe(0)
      expect([...again.store.logs()].length).toBe(count)
      expect(again.logger.lines.filter(({ level }) => level === 'error')).toEqual([])
    }
  })
})

/** Logs of three epochs in segments of two batches each, of which retention takes all but the last three records; whoever looks at the clock finds that time has passed, so that a slice is one step. */
async function slowly(): Promise<Life> {
  const timers = new ManualTimers()
  const files = new MemoryFileSystem({ clock: timers.clock })
  const made = makeStore({ files, timers })
  await made.store.start()
  const now = timers.clock.wallMs()
  const logs = [0, 1, 2].map(index => {
    const log = made.store.create({ topic: `t${index}`, topicId: topicId(index), partition: 0 }, topicSettings({ retentionMs: 10_000, segmentBytes: 200 }))
    for (let record = 0; record < 12; record++) append(log, makeBatch([{ timestamp: now + (record < 9 ? 0 : 90_000), value: 'x' }]), record >> 2)
    return log
  })
  await made.store.flush()
  for (const log of logs) log.raiseHighWatermark(12)
  timers.advance(60_000)
  await turns()
  const monotonicMs = timers.clock.monotonicMs.bind(timers.clock)
  Object.assign(timers.clock, { monotonicMs: () => {
    timers.clock.advance(4)
    return monotonicMs()
  } })
  return { ...made, files, timers, logs }
}

async function slicesOf(make: () => Promise<Life>): Promise<number> {
  return sweepAll(await make()).slices
}

describe('between any two slices of a sweep', () => {
  const cut = async (life: Life): Promise<TestStore> => {
    const again = makeStore({ files: life.files.afterCrash({ keepUnsynced: 'none' }), timers: new ManualTimers() })
    await again.store.start()
    return again
  }

  it('a deletion of records that was answered is durable', async () => {
    const slices = await slicesOf(slowly)
    expect(slices).toBe(7)
    for (let at = 1; at < slices; at++) for (const to of [1, 6, 8, 10]) {
      const life = await slowly()
      for (let slice = 0; slice < at; slice++) life.store.sweep()
      for (const log of life.logs) log.deleteTo(to)
      const again = await cut(life)
      for (const { id } of life.logs) expect(again.store.find(id.topicId, 0)!.startOffset, `after slice ${at}, to ${to}`).toBeGreaterThanOrEqual(to)
    }
  })

  it('a power cut takes no epoch of a record that is there', async () => {
    const slices = await slicesOf(slowly)
    for (let at = 1; at < slices; at++) {
      const life = await slowly()
      for (let slice = 0; slice < at; slice++) life.store.sweep()
      // Closes a segment, so that what is beside it, the epochs too, goes to the disk.
      for (const log of life.logs) for (let record = 0; record < 4; record++) append(log, makeBatch([{ timestamp: life.timers.clock.wallMs(), value: 'x' }]), 3)
      await turns()
      const again = await cut(life)
      for (const { id } of life.logs) {
        const log = again.store.find(id.topicId, 0)!
        const ends = [0, 1, 2].map(epoch => Math.min(log.epochEnd(epoch).endOffset, log.endOffset))
        expect(ends, `after slice ${at}, from ${log.startOffset}`).toEqual([4, 8, 12].map(end => Math.max(end, log.startOffset)))
      }
    }
  })

  it('what was cut and appended anew is not taken for what was looked at', async () => {
    const slices = await slicesOf(slowly)
    for (let at = 1; at < slices; at++) {
      const life = await slowly()
      for (let slice = 0; slice < at; slice++) life.store.sweep()
      const cutTo = life.logs.map(log => Math.max(log.startOffset, 3))
      for (const [index, log] of life.logs.entries()) {
        log.truncateTo(cutTo[index]!)
        while (log.endOffset < 12) append(log, makeBatch([{ timestamp: life.timers.clock.wallMs(), value: 'young' }]), 3)
      }
      await life.store.flush()
      for (const log of life.logs) log.raiseHighWatermark(12)
      sweepAll(life)
      expect(life.logs.filter((log, index) => log.startOffset > cutTo[index]!).length, `after slice ${at}`).toBe(0)
    }
  })

  it.each(['read', 'write', 'rename', 'sync'] as const)('a %s that fails takes the directory out of service, and is not tried again', async operation => {
    const { slices } = sweepAll(await slowly())
    for (let at = 0; at < slices; at++) {
      const life = await slowly()
      for (let slice = 0; slice < at; slice++) life.store.sweep()
      life.files.faults.add({ operation, path: /t-|t[012]-|checkpoint/, error: 'EIO' })
      for (let slice = at; slice < slices + 5; slice++) life.store.sweep()
      if (life.files.faults.failures > 0) expect([life.files.faults.failures, life.store.directories()[0]!.offline === undefined], `after slice ${at}`).toEqual([1, false])
    }
  })
})
