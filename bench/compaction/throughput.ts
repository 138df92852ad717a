import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Prng } from '../../src/base/prng.ts'
import { BrokerSettingsMap } from '../../src/kernel/config/broker-settings-map.ts'
import { type PartitionLog } from '../../src/kernel/ports/partition-log.ts'
import { BatchBuilder } from '../../src/kernel/record/batch-builder.ts'
import { type CompressionCodec } from '../../src/kernel/record/compression-codec.ts'
import { NodeThreads } from '../../src/platform/node-threads.ts'
import { NodeCompression } from '../../src/platform/codecs/node-compression.ts'
import { NodeFileSystem } from '../../src/platform/node-file-system.ts'
import { SystemClock } from '../../src/platform/system-clock.ts'
import { SystemRandom } from '../../src/platform/system-random.ts'
import { SystemTimers } from '../../src/platform/system-timers.ts'
import { VolatileKeyValueEngine } from '../../src/platform/volatile-key-value-engine.ts'
import { storageLocalConfig } from '../../src/plugins/storage-local/config.ts'
import type * as BuiltKernel from '../../src/kernel/index.ts'
import type * as BuiltStore from '../../src/plugins/storage-local/index.ts'
import { type SegmentedLogStore } from '../../src/plugins/storage-local/segmented-log-store.ts'
import { topicSettings } from '../../src/testkit/topic-settings.ts'
import { nullLogger } from '../../src/testkit/world/null-telemetry.ts'
import { repositoryDir } from '../../test/compat/peers.ts'

/** What is compacted: random keys, twice as many records as keys, so that a bit less than half of all stay, some of each batch. */
export interface Load {
  readonly name: string
  readonly valueBytes: number
  readonly codec: CompressionCodec
  readonly bytes: number
}

export interface Throughput {
  /** Of the log before, which is what `cp` copies. */
  readonly bytes: number
  readonly keptBytes: number
  readonly compactMs: number
  /** `cp` of the closed segments. */
  readonly copyMs: number
  /** The same, and a sync of what it wrote, as compaction does. */
  readonly syncedCopyMs: number
  /** CPU of this process while it compacted, and of its event loop alone. */
  readonly cpuMs: number
  readonly loopMs: number
}

const topicId = 'mKYwH6x0QDuRL3bZ1OyCmA'
const batchBytes = 16_384
const segmentBytes = 16 << 20

const built = (path: string): string => pathToFileURL(join(repositoryDir, 'dist', path)).href

/** What `npm run build` made, so that neither this thread nor that of compaction begins by compiling sources. */
const { SegmentedLogStore: Store } = await import(built('plugins/storage-local/index.js')) as typeof BuiltStore
const { installCrc32c } = await import(built('kernel/index.js')) as typeof BuiltKernel
const native = createRequire(import.meta.url)('@node-rs/crc32') as { crc32c (input: Uint8Array, initialState: number): number }
installCrc32c((bytes, seed) => native.crc32c(bytes, seed))

/** CPU of this thread so far, in milliseconds. */
const loopMs = (): number => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6

function openStore (path: string, inThread = true): SegmentedLogStore {
  const settings = new BrokerSettingsMap({ commandLine: new Map([['log.dirs', path], ['log.cleaner.enable', 'false']]) })
  return new Store({
    clock: new SystemClock(), timers: new SystemTimers(), random: new SystemRandom(), files: new NodeFileSystem(), pageCache: new NodeFileSystem(), engine: new VolatileKeyValueEngine(),
    compression: new NodeCompression(), settings, logger: nullLogger, identity: { clusterId: topicId, nodeId: 1, incarnationId: topicId },
    fatal: { fatal: error => { throw error as Error } }, threads: inThread ? new NodeThreads() : undefined,
  }, storageLocalConfig.parse({}))
}

/** As producers with batches of 16 KiB write it. Values do not compress beyond a half. */
function fill (log: PartitionLog, { valueBytes, codec, bytes }: Load): void {
  const random = new Prng(7)
  const builder = new BatchBuilder(new NodeCompression())
  const keys = Math.ceil(bytes / (valueBytes + 30) / 2)
  const value = new Uint8Array(valueBytes)
  const key = Buffer.alloc(16)
  for (let written = 0; written < bytes;) {
    builder.reset()
    while (builder.sizeBytes < batchBytes) {
      key.write(`key-${String(random.below(keys)).padStart(12, '0')}`, 'latin1')
      for (let at = 0; at < valueBytes; at += 8) value[at] = random.below(256)
      builder.append(1_700_000_000_000, key, value)
    }
    written += builder.sizeBytes
    const batch = builder.finish({ codec })
    log.append(batch, 0, batch.length, { role: 'leader', leaderEpoch: 0 })
  }
}

const logFiles = (directory: string): string[] => readdirSync(directory).filter(name => name.endsWith('.log')).sort().map(name => join(directory, name))
const sizeOf = (files: readonly string[]): number => files.reduce((sum, file) => sum + statSync(file).size, 0)

function timed (run: () => void): number {
  const began = performance.now()
  run()
  return performance.now() - began
}

/** A log is written and closed; then its segments are copied, and compacted. `copyFirst`: which of the two comes first. Without `inThread` all is done on the event loop, in slices. */
export async function throughput (directory: string, load: Load, copyFirst: boolean, inThread = true): Promise<Throughput> {
  const place = join(directory, 'log')
  const copies = join(directory, 'copies')
  const originals = join(directory, 'originals')
  const settings = topicSettings({ compact: true, delete: false, durability: 'os', segmentBytes, minCleanableDirtyRatio: 0 })
  for (const made of [place, originals]) mkdirSync(made, { recursive: true })
  const writing = openStore(place)
  await writing.start()
  fill(writing.create({ topic: 'table', topicId, partition: 0 }, settings), load)
  // A stop has put all of it on the disk.
  await writing.stop()
  const store = openStore(place, inThread)
  await store.start()
  const [log] = [...store.logs()]
  log!.configure(settings)
  log!.raiseHighWatermark(log!.endOffset)
  const closed = logFiles(join(place, 'table-0')).slice(0, -1)
  // The bytes are there for `cp` when others have taken their place.
  execFileSync('cp', ['-l', ...closed, originals])
  const copy = (withSync: boolean): number => {
    rmSync(copies, { recursive: true, force: true })
    mkdirSync(copies)
    return timed(() => {
      execFileSync('cp', [...logFiles(originals), copies])
      if (withSync) execFileSync('sync', logFiles(copies))
    })
  }
  // The first touch of memory costs several times a write.
  copy(true)
  const result = { bytes: sizeOf(closed), keptBytes: 0, compactMs: 0, copyMs: 0, syncedCopyMs: 0, cpuMs: 0, loopMs: 0 }
  const copyBoth = (): void => {
    result.copyMs = copy(false)
    result.syncedCopyMs = copy(true)
  }
  if (copyFirst) copyBoth()
  const cpu = process.cpuUsage()
  const loopBefore = loopMs()
  const began = performance.now()
  const report = await store.compact()
  result.compactMs = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  result.cpuMs = (user + system) / 1000
  result.loopMs = loopMs() - loopBefore
  if (report.logsCompacted !== 1) throw new Error(`${report.logsCompacted} logs were compacted, ${report.logsFailed} failed`)
  if (report.bytesRead < 2 * result.bytes) throw new Error(`${report.bytesRead} bytes were read of twice ${result.bytes}`)
  result.keptBytes = report.bytesWritten
  if (!copyFirst) copyBoth()
  await store.stop()
  rmSync(directory, { recursive: true, force: true })
  return result
}
