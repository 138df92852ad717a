/**
 * What an acknowledgement costs with durability `fsync` when many partitions are written at once: one sync for all in the redo log, beside one
 * sync a partition (`redoBytesMax: 0`). Run with `npx tsx bench/redo.ts [--rounds N]`. In each turn every partition gets one batch, and the
 * next turn begins when all are flushed; a figure is the median time of a turn, in ms, the two taking turns by rounds.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { BrokerSettingsMap } from '../src/kernel/config/broker-settings-map.ts'
import { type PartitionLog } from '../src/kernel/ports/partition-log.ts'
import { BatchBuilder } from '../src/kernel/record/batch-builder.ts'
import { installNativeCrc32c } from '../src/platform/codecs/native-crc32c.ts'
import { NodeCompression } from '../src/platform/codecs/node-compression.ts'
import { NodeFileSystem } from '../src/platform/node-file-system.ts'
import { SystemClock } from '../src/platform/system-clock.ts'
import { SystemRandom } from '../src/platform/system-random.ts'
import { SystemTimers } from '../src/platform/system-timers.ts'
import { VolatileKeyValueEngine } from '../src/platform/volatile-key-value-engine.ts'
import { storageLocalConfig } from '../src/plugins/storage-local/config.ts'
import { SegmentedLogStore } from '../src/plugins/storage-local/segmented-log-store.ts'
import { topicSettings } from '../src/testkit/topic-settings.ts'
import { nullLogger } from '../src/testkit/world/null-telemetry.ts'

const usage = `Usage: npx tsx bench/redo.ts [OPTIONS]

What an acknowledgement costs with durability fsync when many partitions are written at once: one redo log beside a sync a partition.

  --rounds N   measured rounds (default: 3)`
const { numbers: { rounds } } = scriptOptionsOrExit(usage, { numbers: { rounds: 3 }, positive: ['rounds'] })
const topicId = 'mKYwH6x0QDuRL3bZ1OyCmA'
const origin = { role: 'leader', leaderEpoch: 0 } as const
const base = mkdtempSync(join(tmpdir(), 'millrace-redo-'))
installNativeCrc32c()

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

function openStore(path: string, config: Record<string, unknown>): SegmentedLogStore {
  return new SegmentedLogStore({
    clock: new SystemClock(), timers: new SystemTimers(), random: new SystemRandom(), files: new NodeFileSystem(), pageCache: new NodeFileSystem(), engine: new VolatileKeyValueEngine(),
    compression: new NodeCompression(), settings: new BrokerSettingsMap({ commandLine: new Map([['log.dirs', path]]) }), logger: nullLogger,
    identity: { clusterId: topicId, nodeId: 1, incarnationId: topicId }, fatal: { fatal: error => { throw error as Error } },
  }, storageLocalConfig.parse(config))
}

function batchOf(valueBytes: number): Uint8Array {
  const builder = new BatchBuilder()
  builder.append(Date.now(), null, new Uint8Array(valueBytes).fill(7))
  return builder.finish()
}

/** One batch to each log; resolves when all of them are flushed. */
function turn(logs: readonly PartitionLog[], batch: Uint8Array): Promise<void> {
  return new Promise(resolve => {
    let left = logs.length
    for (const log of logs) {
      const copy = Uint8Array.from(batch)
      const { lastOffset } = log.append(copy, 0, copy.length, origin)
      const check = (): void => {
        if (log.flushedOffset <= lastOffset) return
        log.watcher = undefined
        if (--left === 0) resolve()
      }
      log.watcher = { flushed: check, failed: error => { throw error } }
    }
  })
}

const ways = { 'one by one': { redoBytesMax: 0 }, 'redo log': {} } as const
let made = 0
for (const valueBytes of [100, 1024, 16_384]) {
  for (const partitions of [1, 16, 64, 512]) {
    const medians = new Map<string, number[]>()
    for (let round = 0; round < rounds; round++) {
      for (const [way, config] of Object.entries(ways)) {
        const store = openStore(join(base, String(made++)), config)
        await store.start()
        const logs = Array.from({ length: partitions }, (_, partition) => store.create({ topic: 'bench', topicId, partition }, { ...topicSettings(), durability: 'fsync' }))
        const batch = batchOf(valueBytes)
        const times: number[] = []
        const turns = Math.max(20, Math.min(300, Math.round(6400 / partitions)))
        for (let count = 0; count < turns; count++) {
          const began = performance.now()
          await turn(logs, batch)
          if (count >= turns / 4) times.push(performance.now() - began)
        }
        medians.set(way, [...medians.get(way) ?? [], median(times)])
        await store.stop()
        rmSync(base, { recursive: true, force: true })
      }
    }
    const [one, redo] = [median(medians.get('one by one')!), median(medians.get('redo log')!)]
    console.log(`${String(valueBytes).padStart(6)} B x ${String(partitions).padStart(4)} partitions   one by one ${one.toFixed(2).padStart(8)} ms   redo log ${redo.toFixed(2).padStart(8)} ms   ${(one / redo).toFixed(1)}x`)
  }
}
