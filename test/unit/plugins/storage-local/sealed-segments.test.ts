import { describe, expect, it } from 'vitest'
import { reportSums } from '../../../../src/plugins/storage-local/io/sums-report.ts'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeStore } from './store-subjects.ts'

const id = { topic: 't', topicId: newTopicId(), partition: 0 }
const settings = topicSettings({ segmentBytes: 700, indexIntervalBytes: 100 })

async function lived(files: MemoryFileSystem, config: Record<string, unknown> = {}) {
  const timers = new ManualTimers()
  const made = makeStore({ files, timers, config: { reserveBytes: 0, residentBytes: 1 << 30, scrubBytesPerSecond: 0, ...config } })
  await made.store.start()
  const log = made.store.find(id.topicId, 0) ?? made.store.create(id, settings)
  log.configure(settings)
  const put = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index++) append(log, makeBatch([{ timestamp: 1000 + index, value: 'x'.repeat(30) }]), 0)
    await settled()
  }
  const checkpoint = async (): Promise<void> => {
    timers.advance(61_000)
    await settled()
    files.syncDirectory('/data')
  }
  return { ...made, log, put, checkpoint }
}

/** What each closed segment has beside it. */
const sealsOf = (files: MemoryFileSystem): string[] => files.list('/data/t-0').filter(name => name.endsWith('.log')).slice(0, -1).map(name => {
  const sums = name.replace('.log', '.sum')
  const report = files.stat(`/data/t-0/${sums}`) === undefined ? 'there is none' : reportSums(files, `/data/t-0/${sums}`)
  return typeof report === 'string' ? report : [report.summary.seal?.kind ?? 'not sealed', ...report.summary.problems].join(': ')
})

describe('a segment that is closed is sealed, without the scrubber,', () => {
  describe.each(['stopped', 'killed', 'cut off'] as const)('by a broker that was %s since it began it', ended => {
    it.each([[true, 0], [true, 1 << 20], [false, 0], [false, 1 << 20]])('after a checkpoint: %s, with a redo log of %i bytes', async (checkpoints, redoBytesMax) => {
      let files = new MemoryFileSystem()
      for (let life = 1; life <= 4; life++) {
        const { store, put, checkpoint } = await lived(files, { redoBytesMax })
        await put(6)
        if (checkpoints) await checkpoint()
        await put(5)
        await store.flush()
        expect(sealsOf(files), `life ${life}`).toEqual(Array.from({ length: Math.ceil(11 * life / 7) - 1 }, () => 'closed'))
        if (ended === 'stopped') await store.stop()
        else files = files.afterCrash({ keepUnsynced: ended === 'killed' ? 'all' : 'none' })
      }
    })
  })

  it.each([/\.sum$/, /\.index$/, /\.timeindex$/])('when there is room again for %s, also where its indexes have left memory meanwhile', async path => {
    const files = new MemoryFileSystem()
    const { put, checkpoint, logger, log } = await lived(files)
    await put(7)
    files.faults.add({ operation: 'write', path, error: 'ENOSPC' })
    await put(1)
    expect(logger.lines.some(({ message }) => message.includes('the disk is full'))).toBe(true)
    files.faults.clear()
    const { world, segments } = log.state
    world.indexCache.delete(segments[0]!)
    await checkpoint()
    expect(sealsOf(files)).toEqual(['closed'])
  })
})
