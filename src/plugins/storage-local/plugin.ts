import { contractVersion } from '../../kernel/plugin/contract-version.ts'
import { definePlugin } from '../../kernel/plugin/define-plugin.ts'
import { maybe } from '../../kernel/plugin/token.ts'
import { BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { Clock, Random, Timers } from '../../kernel/ports/clock.ts'
import { Compression } from '../../kernel/ports/compression.ts'
import { FileSystem } from '../../kernel/ports/file-system.ts'
import { KeyValueEngine } from '../../kernel/ports/key-value-store.ts'
import { FatalErrors, HealthCheck, Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { LogCompaction } from '../../kernel/ports/log-compaction.ts'
import { LogStore } from '../../kernel/ports/log-store.ts'
import { PageCache } from '../../kernel/ports/page-cache.ts'
import { Logger, Metrics } from '../../kernel/ports/telemetry.ts'
import { Threads } from '../../kernel/ports/threads.ts'
import { observeCleaner } from './cleaner-metrics.ts'
import { storageLocalConfig } from './config.ts'
import { observeDirectories, observeDisks, observeIntegrity, observeRedo, redoCounter, type CountRedo } from './metrics.ts'
import { SegmentedLogStore } from './segmented-log-store.ts'

const needs = [
  Clock, Timers, Random, FileSystem, PageCache, KeyValueEngine, Compression, BrokerSettings, BrokerIdentity, Logger, FatalErrors, Metrics, maybe(Threads),
] as const

export const storageLocal = definePlugin({
  name: 'storage-local',
  contract: contractVersion,
  summary: 'Keeps partition logs in segment files on local disks, laid out as Apache Kafka does.',
  provides: [LogStore, LogCompaction],
  contributes: [Lifecycle, HealthCheck],
  requires: needs,
  capabilities: { durable: true, compaction: true, transactionIndex: false, identity: true },
  config: storageLocalConfig,
  register({ provide }, config) {
    provide([LogStore, LogCompaction, Lifecycle, HealthCheck], needs,
      (clock, timers, random, files, pageCache, engine, compression, settings, identity, logger, fatal, metrics, threads) => {
        const redoOf = (path: string): CountRedo => redoCounter(metrics, path)
        const store = new SegmentedLogStore({ clock, timers, random, files, pageCache, engine, compression, settings, identity, logger, fatal, redoCounter: redoOf, threads }, config)
        observeDirectories(metrics, () => store.directories())
        observeDisks(metrics, () => store.directories())
        observeRedo(metrics, () => store.redoFigures())
        observeIntegrity(metrics, store.integrity, () => clock.monotonicMs())
        observeCleaner(metrics, store.cleaner, () => clock.monotonicMs())
        return store
      })
  },
})
