import { describe, expect, it } from 'vitest'
import { CrashDisk } from '../coordination-single/crash-key-value.ts'
import { startController } from './controller-bench.ts'
import { newTopic, registration } from './core/metadata-fixtures.ts'

describe('ten thousand topics', () => {
  it('are created in requests of a hundred, survive a restart, and are found by name and id', async () => {
    const disk = new CrashDisk()
    const first = await startController(disk.boot().engine, { snapshotEntries: 60 })
    await first.controller.registerBroker(registration(1))
    for (let round = 0; round < 100; round++) {
      await first.controller.createTopics(Array.from({ length: 100 }, (_, index) => newTopic(`topic-${round}-${index}`, { partitions: 1 })), false)
    }
    const early = first.metadata.image()
    await first.controller.createTopics([newTopic('one-more')], false)
    expect([early.topics.size, first.metadata.image().topics.size]).toEqual([10_000, 10_001])
    await first.stop()
    const second = await startController(disk.boot().engine)
    const image = second.metadata.image()
    expect(image.topics.size).toBe(10_001)
    expect(image.topicsById.get(image.topics.get('topic-42-7')!.id)!.partitions).toHaveLength(1)
    await second.stop()
  })
})
