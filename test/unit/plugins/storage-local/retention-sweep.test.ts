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
