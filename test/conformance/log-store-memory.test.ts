import { describe, test } from 'vitest'
import { BrokerSettingsMap } from '../../src/kernel/config/broker-settings-map.ts'
import { MemoryLogStore } from '../../src/plugins/storage-memory/memory-log-store.ts'
import { storageMemory } from '../../src/plugins/storage-memory/plugin.ts'
import { NodeCompression } from '../../src/platform/codecs/node-compression.ts'
import { logStoreConformance, type LogStoreSubject } from '../../src/testkit/conformance/log-store.ts'
import { ManualTimers } from '../../src/testkit/world/manual-clock.ts'
import { SeededRandom } from '../../src/testkit/world/seeded-random.ts'
import { seedOf } from '../integration/seeds.ts'

const seed = seedOf(3)

async function create(): Promise<LogStoreSubject> {
  const timers = new ManualTimers()
  const store = new MemoryLogStore(timers.clock, { after: (delayMs, callback) => timers.after(delayMs, callback), soon: queueMicrotask }, new SeededRandom(seed), new NodeCompression(), new BrokerSettingsMap())
  await store.start()
  return {
    store,
    compaction: store,
    nowMs: () => timers.clock.wallMs(),
    advance: ms => timers.advance(ms),
    settle: promise => promise,
    stop: () => store.stop(),
  }
}

describe('storage-memory', () => {
  logStoreConformance({ test, capabilities: { durable: storageMemory.capabilities!.durable!, compaction: storageMemory.capabilities!.compaction! }, create, seed, randomRuns: 200 })
})
