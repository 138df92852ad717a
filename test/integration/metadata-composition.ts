import { BrokerSettingsMap } from '../../src/kernel/config/broker-settings-map.ts'
import { createHost, type PluginHost } from '../../src/kernel/plugin/plugin-host.ts'
import { definePlugin } from '../../src/kernel/plugin/define-plugin.ts'
import { BrokerIdentity } from '../../src/kernel/ports/broker-identity.ts'
import { BrokerSettings } from '../../src/kernel/ports/broker-settings.ts'
import { Clock, Random, Timers } from '../../src/kernel/ports/clock.ts'
import { Compression } from '../../src/kernel/ports/compression.ts'
import { FileSystem } from '../../src/kernel/ports/file-system.ts'
import { KeyValueEngine } from '../../src/kernel/ports/key-value-store.ts'
import { FatalErrors } from '../../src/kernel/ports/lifecycle.ts'
import { Logger, Metrics } from '../../src/kernel/ports/telemetry.ts'
import { NodeCompression } from '../../src/platform/codecs/node-compression.ts'
import { LevelKeyValueEngine } from '../../src/platform/level-key-value-engine.ts'
import { NodeFileSystem } from '../../src/platform/node-file-system.ts'
import { SystemClock } from '../../src/platform/system-clock.ts'
import { SystemRandom } from '../../src/platform/system-random.ts'
import { SystemTimers } from '../../src/platform/system-timers.ts'
import { plugin as clusterMetadata } from '../../src/plugins/cluster-metadata/index.ts'
import { plugin as coordinationSingle } from '../../src/plugins/coordination-single/index.ts'
import { plugin as replicationSingle } from '../../src/plugins/replication-single/index.ts'
import { plugin as storageMemory } from '../../src/plugins/storage-memory/index.ts'
import { nullLogger, nullMetrics } from '../../src/testkit/world/null-telemetry.ts'
import { z } from 'zod'

const clusterId = 'AAECAwQFRgeICQoLDA0ODw'

/** Metadata on a real disk, partition logs in memory, wired by the plugin host as a broker is. */
export function metadataHost(directory: string, incarnationId: string): PluginHost {
  const world = definePlugin({
    name: 'world', contract: 1, summary: 'What a composition root offers.',
    provides: [BrokerIdentity, BrokerSettings, Clock, Timers, Random, Compression, FileSystem, KeyValueEngine, FatalErrors, Metrics, Logger],
    config: z.object({}),
    register({ provide }) {
      provide([BrokerIdentity], [], () => ({ clusterId, nodeId: 1, incarnationId }))
      provide([BrokerSettings], [], () => new BrokerSettingsMap({ file: new Map([['log.dirs', directory]]) }))
      provide([Clock], [], () => new SystemClock())
      provide([Timers], [], () => new SystemTimers())
      provide([Random], [], () => new SystemRandom())
      provide([Compression], [], () => new NodeCompression())
      provide([FileSystem], [], () => new NodeFileSystem())
      provide([KeyValueEngine], [], () => new LevelKeyValueEngine())
      provide([FatalErrors], [], () => ({ fatal: (error: unknown) => { throw error } }))
      provide([Metrics], [], () => nullMetrics)
      provide([Logger], [], () => nullLogger)
    },
  })
  return createHost({
    plugins: [world, storageMemory, coordinationSingle, clusterMetadata, replicationSingle],
    settings: { 'coordination-single': { snapshotEntries: 20 } },
  })
}
