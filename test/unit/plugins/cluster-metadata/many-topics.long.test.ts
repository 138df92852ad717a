import { describe, expect, it } from 'vitest'
import { CrashDisk } from '../coordination-single/crash-key-value.ts'
import { startController } from './controller-bench.ts'
import { newTopic, registration } from './core/metadata-fixtures.ts'

describe('ten thousand topics', () => {
  it('are created in requests of a hundred, changed in one, survive a restart, and are found by name and id', async () => {
    const disk = new CrashDisk()
    const first = await startController(disk.boot().engine, { snapshotEntries: 60 })
    await first.controller.registerBroker(registration(1))
    for (let round = 0; round < 100; round++) {
      await first.controller.createTopics(Array.from({ length: 100 }, (_, index) => newTopic(`topic-${round}-${index}`, { partitions: 1 })), false)
    }
    const early = first.metadata.image()
    await first.controller.createTopics([newTopic('one-more')], false)
    expect([early.topics.size, first.metadata.image().topics.size]).toEqual([10_000, 10_001])
    let told = 0
    first.metadata.subscribe((_image, change) => { told += change.changed.length })
    const altered = await first.controller.alterConfigs([...early.topics.keys()].map((topic) => ({ topic, replaces: false, changes: [{ name: 'retention.ms', operation: 'set', value: '7' }] })), false)
    expect([altered.filter(({ error }) => error === undefined).length, told]).toEqual([10_000, 10_000])
    expect(first.metadata.image().topics.get('one-more')!.overrides.size).toBe(0)
    await first.stop()
    const second = await startController(disk.boot().engine)
    const image = second.metadata.image()
    expect(image.topics.size).toBe(10_001)
    expect([...image.topics.values()].filter(({ settings }) => settings.retentionMs === 7)).toHaveLength(10_000)
    expect(image.topicsById.get(image.topics.get('topic-42-7')!.id)!.partitions).toHaveLength(1)
    await second.stop()
  })
})
