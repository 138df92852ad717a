import { describe, test } from 'vitest'
import { BrokerSettingsMap } from '../../src/kernel/config/broker-settings-map.ts'
import { NodeCompression } from '../../src/platform/codecs/node-compression.ts'
import { SingleReplicator } from '../../src/plugins/replication-single/single-replicator.ts'
import { MemoryLogStore } from '../../src/plugins/storage-memory/memory-log-store.ts'
import { replicatorConformance } from '../../src/testkit/conformance/replicator.ts'
import { ManualMetadata } from '../../src/testkit/conformance/replicator-metadata.ts'
import { ManualTimers } from '../../src/testkit/world/manual-clock.ts'
import { nullLogger } from '../../src/testkit/world/null-telemetry.ts'
import { SeededRandom } from '../../src/testkit/world/seeded-random.ts'

describe('replication-single over storage-memory', () => {
  replicatorConformance({
    test,
    create: async () => {
      const timers = new ManualTimers()
      const store = new MemoryLogStore(timers.clock, timers, new SeededRandom(1), new NodeCompression(), new BrokerSettingsMap())
      await store.start()
      const metadata = new ManualMetadata()
      const replicator = new SingleReplicator(1, metadata, store, nullLogger)
      await replicator.start()
      return {
        replicator, nodeId: 1, metadata, store,
        settle: async () => { for (let turn = 0; turn < 5; turn++) await Promise.resolve() },
        stop: async () => {
          await replicator.stop()
          await store.stop()
        },
      }
    },
  })
})
