import { expect, it } from 'vitest'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { offsetRecord } from '../../../../src/plugins/coordinator-group/core/group-writer.ts'
import { MemoryLogStore } from '../../../../src/plugins/storage-memory/memory-log-store.ts'
import { newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { BrokerSettingsMap } from '../../../../src/kernel/config/broker-settings-map.ts'
import { valuesOfTable } from './table-log.ts'
import { makeStore } from './store-subjects.ts'

const mib = 1 << 20
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
/** What a reader is to find after so many commits. */
const lastOf = (commits: number): unknown => Object.fromEntries(Array.from({ length: groups }, (_, group) => record(commits - groups + group)).map(({ key, value }) => [text(key), text(value!)]))

/** As the topic is made. */
const settings = topicSettings({ compact: true, delete: false, segmentBytes: 100 * mib, fileDeleteDelayMs: 500 })
const groups = 100
const builder = new BatchBuilder()

const record = (index: number): { readonly key: Uint8Array, readonly value: Uint8Array | null } =>
  offsetRecord(`group ${index % groups}`, { topic: 'orders', topicId: 'mKYwH6x0QDuRL3bZ1OyCmA', partition: 0, offset: index, leaderEpoch: 0, metadata: '' }, index, -1)

/** A batch for each, as the coordinator writes them. */
function commit(log: PartitionLog, count: number, from: number): void {
  for (let index = from; index < from + count; index++) {
    const { key, value } = record(index)
    builder.reset()
    builder.append(index, key, value)
    const batch = builder.finish()
    log.append(batch, 0, batch.length, { role: 'leader', leaderEpoch: 0 })
  }
}

interface Store {
  readonly timers: ManualTimers
  readonly log: PartitionLog
  /** What the sweep of retention does, every five minutes. */
  sweep(): unknown
}

const stores: readonly (readonly [string, () => Promise<Store>])[] = [
  ['on disk', async () => {
    const timers = new ManualTimers()
    const { store } = makeStore({ files: new MemoryFileSystem(), timers, config: { reserveBytes: 0 } })
    await store.start()
    return { timers, log: store.create({ topic: '__consumer_offsets', topicId: newTopicId(), partition: 0 }, settings), sweep: () => store.sweep() }
  }],
  ['in memory', async () => {
    const timers = new ManualTimers()
    const store = new MemoryLogStore(timers.clock, timers, new SeededRandom(1), new NodeCompression(), new BrokerSettingsMap({ commandLine: new Map([['listeners', 'PLAINTEXT://127.0.0.1:9092']]) }))
    await store.start()
    return { timers, log: store.create({ topic: '__consumer_offsets', topicId: newTopicId(), partition: 0 }, settings), sweep: () => store.sweep() }
  }],
]

async function pass({ timers, log }: Store, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    timers.advance(1000)
    await settled()
    log.raiseHighWatermark(log.flushedOffset)
  }
}

it.each(stores)('%s, offsets that are committed again and again stay below 3 MiB a partition, with the default settings of broker and topic, and lose nothing', async (_where, make) => {
  const store = await make()
  let committed = 0
  let most = 0
  for (; committed < 60_000; committed += 1000) {
    commit(store.log, 1000, committed)
    await pass(store, 5)
    most = Math.max(most, store.log.sizeBytes)
  }
  expect(store.log.compaction!.failure).toBeUndefined()
  expect(committed * 130 / mib).toBeGreaterThan(7)
  expect(most / mib).toBeLessThan(3)
  expect(await valuesOfTable(store.log)).toEqual(lastOf(committed))
})

it.each(stores)('%s, what was committed long ago in one segment is compacted too, though nobody commits any more', async (_where, make) => {
  const store = await make()
  // As an older release left it: all in the active segment.
  store.log.configure({ ...settings, compact: false })
  commit(store.log, 40_000, 0)
  store.log.configure(settings)
  const before = store.log.sizeBytes
  await pass(store, 60)
  expect(store.log.sizeBytes).toBe(before)
  store.sweep()
  await pass(store, 60)
  expect(store.log.sizeBytes).toBeLessThan(before / 50)
  expect(await valuesOfTable(store.log)).toEqual(lastOf(40_000))
})
