import { describe, expect, it } from 'vitest'
import { findPartitions } from '../../../../../src/plugins/storage-local/io/found-partitions.ts'
import { append, makeBatch, newTopicId } from '../../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../../src/testkit/world/memory-file-system.ts'
import { makeStore } from '../store-subjects.ts'

const ends = ['a stop', 'a kill', 'a power cut'] as const

/** Batches of three producers in two epochs, over several segments; then the store ends. Gives the disk that is left. */
async function written(end: typeof ends[number], redoBytesMax: number): Promise<MemoryFileSystem> {
  const files = new MemoryFileSystem()
  const { store } = makeStore({ files, timers: new ManualTimers(), config: { redoBytesMax } })
  await store.start()
  const log = store.create({ topic: 't', topicId: newTopicId(), partition: 0 }, topicSettings({ retentionMs: -1, segmentBytes: 700, indexIntervalBytes: 150 }))
  for (let sequence = 0; sequence < 12; sequence++) {
    for (const producerId of [40, 7_000, 12]) append(log, makeBatch(1, { producerId, producerEpoch: 0, baseSequence: sequence }), sequence < 6 ? 3 : 5)
    await store.flush()
  }
  append(log, makeBatch(1, { producerId: 7_001, producerEpoch: 0, baseSequence: 0 }), 6)
  append(log, makeBatch(1, { producerId: -1 }), 6)
  await store.flush()
  if (end === 'a stop') {
    await store.stop()
    return files
  }
  return files.afterCrash({ keepUnsynced: end === 'a kill' ? 'all' : 'none', systemDown: end === 'a power cut' })
}

describe('the newest ids that the files of a log know', () => {
  for (const end of ends) {
    for (const redoBytesMax of [0, 1 << 20]) {
      it(`after ${end} ${redoBytesMax === 0 ? 'without' : 'with'} a redo log are those of all that was flushed, before a start has looked at it, and whichever snapshot or index is gone`, async () => {
        const image = await written(end, redoBytesMax)
        const sides = image.list('/data/t-0').filter((name) => /\.(snapshot|index)$|^leader/.test(name))
        expect(sides.length).toBeGreaterThan(2)
        for (const gone of [undefined, ...sides]) {
          const files = image.afterCrash({ keepUnsynced: 'all', systemDown: false })
          if (gone !== undefined) files.remove(`/data/t-0/${gone}`)
          const { producerId, leaderEpoch } = findPartitions(files, '/data')[0]!
          expect([producerId, leaderEpoch], `without ${gone}`).toEqual([7_001, 6])
        }
      })
    }
  }
})
