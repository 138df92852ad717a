import { z } from 'zod'
import { contractVersion } from '../../kernel/plugin/contract-version.ts'
import { definePlugin } from '../../kernel/plugin/define-plugin.ts'
import { BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { Clock, Random, Timers } from '../../kernel/ports/clock.ts'
import { Compression } from '../../kernel/ports/compression.ts'
import { Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { LogCompaction } from '../../kernel/ports/log-compaction.ts'
import { LogStore } from '../../kernel/ports/log-store.ts'
import { MemoryLogStore } from './memory-log-store.ts'

export const storageMemory = definePlugin({
  name: 'storage-memory',
  contract: contractVersion,
  summary: 'Keeps partition logs in memory: for tests and topics that may be lost.',
  provides: [LogStore, LogCompaction],
  contributes: [Lifecycle],
  requires: [Clock, Timers, Random, Compression, BrokerSettings],
  capabilities: { durable: false, compaction: true, transactionIndex: false },
  config: z.object({}),
  register({ provide }) {
    provide([LogStore, LogCompaction, Lifecycle], [Clock, Timers, Random, Compression, BrokerSettings],
      (clock, timers, random, compression, settings) => new MemoryLogStore(clock, timers, random, compression, settings))
  },
})
