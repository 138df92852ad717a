import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { BrokerSettingsMap } from '../../src/kernel/config/broker-settings-map.ts'
import { BatchBuilder } from '../../src/kernel/record/batch-builder.ts'
import { LevelKeyValueEngine } from '../../src/platform/level-key-value-engine.ts'
import { NodeCompression } from '../../src/platform/codecs/node-compression.ts'
import { NodeFileSystem } from '../../src/platform/node-file-system.ts'
import { SystemClock } from '../../src/platform/system-clock.ts'
import { SystemRandom } from '../../src/platform/system-random.ts'
import { SystemTimers } from '../../src/platform/system-timers.ts'
import { groupPartition } from '../../src/plugins/coordinator-group/core/group-partition.ts'
import { offsetRecord } from '../../src/plugins/coordinator-group/core/group-writer.ts'
import { storageLocalConfig } from '../../src/plugins/storage-local/config.ts'
import { SegmentedLogStore } from '../../src/plugins/storage-local/segmented-log-store.ts'
import { topicSettings } from '../../src/testkit/topic-settings.ts'
import { nullLogger } from '../../src/testkit/world/null-telemetry.ts'
import { findCoordinatorApi, offsetFetchApi } from '../../src/wire/index.ts'
import { startMillrace } from '../../test/compat/millrace-broker.ts'
import { temporaryDir } from '../../test/compat/peers.ts'
import { startCpuMeter } from '../kafka/cpu.ts'
import { WireChannel } from '../kafka/wire-channel.ts'

interface Found {
  /** Of the segments of the topic. */
  readonly diskBytes: number
  /** From the ready line of a start until every group answers. */
  readonly loadMs: number
  /** The broker's processor time meanwhile: what a busy machine falsifies less. */
  readonly loadCpuMs: number
}

export interface OffsetsTopic {
  readonly groups: number
  readonly commits: number
  readonly before: Found
  readonly after: Found
  /** From a start until its size has fallen and stays. */
  readonly compactedMs: number
}

const topicName = '__consumer_offsets'
const nameOf = (group: number): string => `service-${String(group).padStart(5, '0')}`
const partitionsOf = (dataDir: string): string[] => readdirSync(dataDir).filter(name => name.startsWith(`${topicName}-`)).map(name => join(dataDir, name))

function diskBytes (dataDir: string): number {
  return partitionsOf(dataDir).flatMap(dir => readdirSync(dir).filter(name => name.endsWith('.log')).map(name => statSync(join(dir, name)).size)).reduce((sum, size) => sum + size, 0)
}

/** What the coordinator writes when each group commits one offset after another, all groups in turn: a batch of one record for each. */
async function writeCommits (dataDir: string, groups: number, commits: number): Promise<void> {
  const clusterId = /^cluster\.id=(.*)$/m.exec(readFileSync(join(dataDir, 'meta.properties'), 'utf8'))![1]!
  const store = new SegmentedLogStore({
    clock: new SystemClock(), timers: new SystemTimers(), random: new SystemRandom(), files: new NodeFileSystem(), pageCache: new NodeFileSystem(), engine: new LevelKeyValueEngine(), compression: new NodeCompression(),
    settings: new BrokerSettingsMap({ commandLine: new Map([['log.dirs', dataDir], ['log.cleaner.enable', 'false']]) }), logger: nullLogger,
    identity: { clusterId, nodeId: 1, incarnationId: clusterId }, fatal: { fatal: error => { throw error as Error } },
  }, storageLocalConfig.parse({}))
  await store.start()
  const logs = [...store.logs()].filter(log => log.id.topic === topicName).sort((left, right) => left.id.partition - right.id.partition)
  for (const log of logs) log.configure(topicSettings({ compact: true, delete: false, durability: 'os', segmentBytes: 100 << 20 }))
  const builder = new BatchBuilder()
  const beganMs = Date.now() - commits * 1000
  for (let commit = 0; commit < commits; commit++) {
    for (let group = 0; group < groups; group++) {
      const committedAtMs = beganMs + commit * 1000
      const { key, value } = offsetRecord(nameOf(group), { topic: 'orders', topicId: 'mKYwH6x0QDuRL3bZ1OyCmA', partition: 0, offset: commit, leaderEpoch: 0, metadata: '' }, committedAtMs, -1)
      builder.reset()
      builder.append(committedAtMs, key, value)
      const batch = builder.finishInPlace()
      logs[groupPartition(nameOf(group), logs.length)]!.append(batch, 0, batch.length, { role: 'leader', leaderEpoch: 0 })
    }
    // Others have their turn: syncs that have ended are told.
    if (commit % 10 === 0) await after(0)
  }
  await store.stop()
}

/** A broker on the directory, until every partition of the topic has told what is committed. */
async function start (dataDir: string, groups: number, offset: number, settings: readonly string[]): Promise<{ loadMs: number, loadCpuMs: number, stop (): Promise<void> }> {
  const broker = await startMillrace({ dataDir, args: settings.flatMap(setting => ['--set', setting]), readyTimeoutMs: 120_000 })
  const began = performance.now()
  const cpuNs = startCpuMeter(broker.pid)
  const channel = await WireChannel.connect(broker.bootstrap)
  try {
    for (let group = 0; group < groups; group += Math.ceil(groups / 100)) {
      for (;;) {
        const { errorCode, topics } = await channel.call(offsetFetchApi, 5, { groupId: nameOf(group), topics: [{ name: 'orders', partitionIndexes: [0] }], groups: [] })
        const found = topics[0]?.partitions[0]?.committedOffset
        if (errorCode === 0 && found === offset) break
        if (errorCode === 0) throw new Error(`${nameOf(group)} has committed ${found}, and is to have ${offset}`)
        await after(5)
      }
    }
    return { loadMs: performance.now() - began, loadCpuMs: cpuNs() / 1e6, stop: () => broker.stop() }
  } finally {
    channel.close()
  }
}

export async function offsetsTopic ({ groups, commits, say }: { readonly groups: number, readonly commits: number, readonly say: (text: string) => void }): Promise<OffsetsTopic> {
  const dataDir = temporaryDir('offsets')
  try {
    const making = await startMillrace({ dataDir })
    const channel = await WireChannel.connect(making.bootstrap)
    while ((await channel.call(findCoordinatorApi, 3, { key: 'g', keyType: 0 })).errorCode !== 0) await after(50)
    channel.close()
    await making.stop()
    say(`writing ${groups * commits} commits`)
    await writeCommits(dataDir, groups, commits)
    const written = { diskBytes: diskBytes(dataDir) }
    const loading = await start(dataDir, groups, commits - 1, ['log.cleaner.enable=false'])
    const before = { ...written, loadMs: loading.loadMs, loadCpuMs: loading.loadCpuMs }
    say(`${before.diskBytes} bytes, loaded in ${before.loadMs.toFixed(0)} ms`)
    await loading.stop()
    // Nobody commits: it is the sweep of retention that closes what has become too large.
    const compacting = await start(dataDir, groups, commits - 1, ['log.cleaner.backoff.ms=1000', 'log.retention.check.interval.ms=2000'])
    const began = performance.now()
    let compactedMs = 0
    for (let size = diskBytes(dataDir), unchanged = 0; unchanged < 15; unchanged++) {
      await after(1000)
      const now = diskBytes(dataDir)
      if (now === size) continue
      compactedMs = performance.now() - began
      size = now
      unchanged = 0
    }
    await compacting.stop()
    const compacted = { diskBytes: diskBytes(dataDir) }
    const again = await start(dataDir, groups, commits - 1, [])
    await again.stop()
    return { groups, commits, before, after: { ...compacted, loadMs: again.loadMs, loadCpuMs: again.loadCpuMs }, compactedMs }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
