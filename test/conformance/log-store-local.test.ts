import { describe, test } from 'vitest'
import { storageLocal } from '../../src/plugins/storage-local/plugin.ts'
import { logStoreConformance } from '../../src/testkit/conformance/log-store.ts'
import { simulatedStore } from '../unit/plugins/storage-local/store-subjects.ts'

const seed = Number(process.env['SEED'] ?? 3)
const capabilities = { durable: storageLocal.capabilities!.durable!, compaction: storageLocal.capabilities!.compaction!, kafkaLayout: true }

describe('storage-local on the file system in memory', () => {
  logStoreConformance({ test, capabilities, create: () => simulatedStore(seed), seed, randomRuns: 200 })
})
