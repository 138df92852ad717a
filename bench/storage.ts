/**
 * What storage-local costs beside the system calls that it cannot do without: appends of one batch at a time (durability `os`) beside a
 * write of the same bytes, reads of the log beside reads of the same file into one buffer. Run with `npx tsx bench/storage.ts [--rounds N]`.
 * Both take turns on files of the same size, whose pages have been touched before; each figure is the median of the rounds, in nanoseconds
 * a call. Then group commit: 64 batches in a turn beside one write and fdatasync; and a recovery that checks everything.
 */
import { closeSync, fdatasync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { crc32c } from '../src/base/crc32c.ts'
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

const usage = `Usage: npx tsx bench/storage.ts [OPTIONS]

What storage-local costs beside the system calls that it cannot do without.

  --rounds N   measured rounds (default: 7)`
const { numbers: { rounds } } = scriptOptionsOrExit(usage, { numbers: { rounds: 7 }, positive: ['rounds'] })
const roundBytes = 64 * 1024 * 1024
const directory = mkdtempSync(join(tmpdir(), 'millrace-storage-'))
const topicId = 'mKYwH6x0QDuRL3bZ1OyCmA'
let topics = 0

const recoveredBytes = 256 * 1024 * 1024

function openStore(path: string): SegmentedLogStore {
  const settings = new BrokerSettingsMap({ commandLine: new Map([['log.dirs', path]]) })
  return new SegmentedLogStore({
    clock: new SystemClock(), timers: new SystemTimers(), random: new SystemRandom(), files: new NodeFileSystem(), pageCache: new NodeFileSystem(), engine: new VolatileKeyValueEngine(),
    compression: new NodeCompression(), settings, logger: nullLogger, identity: { clusterId: topicId, nodeId: 1, incarnationId: topicId },
    fatal: { fatal: error => { throw error as Error } },
  }, storageLocalConfig.parse({}))
}

const store = openStore(join(directory, 'data'))

function batchOf(records: number, valueBytes: number): Uint8Array {
  const builder = new BatchBuilder()
  for (let index = 0; index < records; index++) builder.append(Date.now(), null, new Uint8Array(valueBytes).fill(index))
  return builder.finish()
}

function emptyLog(durability: 'os' | 'fsync'): PartitionLog {
  store.remove(topicId, topics)
  return store.create({ topic: 'bench', topicId, partition: ++topics }, { ...topicSettings(), durability, fileDeleteDelayMs: 0 })
}

function withRawFile<T>(use: (file: number) => T): T {
  const path = join(directory, 'raw')
  const file = openSync(path, 'w+')
  try {
    return use(file)
  } finally {
    closeSync(file)
    rmSync(path)
  }
}

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!
const perCall = (calls: number, work: () => void): number => {
  const began = performance.now()
  work()
  return (performance.now() - began) * 1e6 / calls
}

function say(name: string, ours: number[], raw: number[], unit = 'ns', factor = 1): void {
  const figure = (values: number[]): string => `${(median(values) / factor).toFixed(0).padStart(8)} ${unit}`
  console.log(`${name.padEnd(34)} ${figure(ours)}   raw ${figure(raw)}   ${(median(ours) / median(raw)).toFixed(2)}x`)
}

const origin = { role: 'leader', leaderEpoch: 0 } as const

function appends(name: string, batch: Uint8Array): void {
  const calls = Math.min(100_000, Math.ceil(roundBytes / batch.length))
  const [ours, raw]: number[][] = [[], []]
  for (let round = 0; round <= rounds; round++) {
    const log = emptyLog('os')
    const ourNs = perCall(calls, () => { for (let call = 0; call < calls; call++) log.append(batch, 0, batch.length, origin) })
    const rawNs = withRawFile(file => perCall(calls, () => {
      for (let call = 0; call < calls; call++) writeSync(file, batch, 0, batch.length, call * batch.length)
    }))
    if (round > 0) { ours!.push(ourNs); raw!.push(rawNs) }
  }
  say(`append ${name}`, ours!, raw!)
}

/** Reads near the log end answer within the call, others from the thread pool: waits for either. */
function readOf(log: PartitionLog, offset: number, maxBytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    log.read({ offset, endOffset: log.endOffset, maxBytes, atLeastOneBatch: true }, {
      read: (_bytes, release) => { release(); resolve() },
      failed: reject,
    })
  })
}

async function reads(name: string, maxBytes: number): Promise<void> {
  const batch = batchOf(100, 100)
  const log = emptyLog('os')
  const batches = Math.ceil(roundBytes / batch.length)
  for (let index = 0; index < batches; index++) log.append(batch, 0, batch.length, origin)
  const perRead = Math.floor(maxBytes / batch.length) * batch.length
  const calls = Math.floor(batches * batch.length / perRead)
  const [ours, raw]: number[][] = [[], []]
  const target = Buffer.alloc(perRead)
  for (let round = 0; round <= rounds; round++) {
    const began = performance.now()
    for (let call = 0; call < calls; call++) await readOf(log, call * perRead / batch.length * 100, maxBytes)
    const ourNs = (performance.now() - began) * 1e6 / calls
    const rawNs = withRawFile(file => {
      for (let index = 0; index < batches; index++) writeSync(file, batch, 0, batch.length, index * batch.length)
      return perCall(calls, () => { for (let call = 0; call < calls; call++) readSync(file, target, 0, perRead, call * perRead) })
    })
    if (round > 0) { ours!.push(ourNs); raw!.push(rawNs) }
  }
  say(`read ${name}`, ours!, raw!)
}

/** Ends when 64 batches that were appended in one turn are flushed. */
async function groupCommits(): Promise<void> {
  const batch = batchOf(1, 100)
  const group = Buffer.concat(Array.from({ length: 64 }, () => batch))
  const groups = 100
  const [ours, raw]: number[][] = [[], []]
  for (let round = 0; round <= rounds; round++) {
    const log = emptyLog('fsync')
    let began = performance.now()
    for (let count = 0; count < groups; count++) {
      await new Promise<void>((resolve, reject) => {
        log.watcher = { flushed: () => { if (log.flushedOffset === log.endOffset) resolve() }, failed: reject }
        for (let index = 0; index < 64; index++) log.append(batch, 0, batch.length, origin)
      })
    }
    const ourNs = (performance.now() - began) * 1e6 / groups
    const file = openSync(join(directory, 'raw'), 'w+')
    began = performance.now()
    for (let count = 0; count < groups; count++) {
      writeSync(file, group, 0, group.length, count * group.length)
      await new Promise<void>((resolve, reject) => { fdatasync(file, error => { if (error === null) resolve(); else reject(error) }) })
    }
    const rawNs = (performance.now() - began) * 1e6 / groups
    closeSync(file)
    if (round > 0) { ours!.push(ourNs); raw!.push(rawNs) }
  }
  say('append and sync, 64 batches a turn', ours!, raw!, 'µs', 1000)
}

/**
 * A start over a log without a recovery point, of which every batch is checked, beside reading the file and the CRC of its bytes, and beside reading
 * it alone.
 */
async function recoveries(): Promise<void> {
  const batch = batchOf(100, 100)
  const [ours, raw, reads]: number[][] = [[], [], []]
  for (let round = 0; round <= rounds; round++) {
    const place = join(directory, `recovery-${round}`)
    const dying = openStore(place)
    await dying.start()
    const log = dying.create({ topic: 'bench', topicId, partition: 0 }, { ...topicSettings(), durability: 'os', segmentBytes: 1 << 30 })
    for (let bytes = 0; bytes < recoveredBytes; bytes += batch.length) log.append(batch, 0, batch.length, origin)
    // Left as a kill leaves it; what is measured is the check, not the disk.
    await dying.flush()
    const heir = openStore(place)
    const began = performance.now()
    await heir.start()
    const ourMs = performance.now() - began
    const rawMs = rawRecovery(join(place, 'bench-0', '0'.repeat(20) + '.log'), true)
    const readMs = rawRecovery(join(place, 'bench-0', '0'.repeat(20) + '.log'), false)
    await heir.stop()
    await dying.stop()
    rmSync(place, { recursive: true, force: true })
    if (round > 0) { ours!.push(ourMs); raw!.push(rawMs); reads!.push(readMs) }
  }
  say(`recovery of ${recoveredBytes >> 20} MiB, read and CRC`, ours!, raw!, 'ms')
  say(`recovery of ${recoveredBytes >> 20} MiB, read alone`, ours!, reads!, 'ms')
}

/** Reads the same bytes, and makes their CRC. */
function rawRecovery(path: string, withCrc: boolean): number {
  const file = openSync(path, 'r+')
  const target = new Uint8Array(262_144)
  const began = performance.now()
  for (let position = 0; ;) {
    const read = readSync(file, target, 0, target.length, position)
    if (read === 0) break
    if (withCrc) crc32c(target, 0, read)
    position += read
  }
  closeSync(file)
  return performance.now() - began
}

installNativeCrc32c()
await store.start()
try {
  console.log(`node ${process.version}, median of ${rounds} rounds`)
  appends('1 record of 100 B', batchOf(1, 100))
  appends('100 records of 100 B (11 KB)', batchOf(100, 100))
  appends('900 records of 1 KiB (930 KB)', batchOf(900, 1024))
  await reads('64 KiB', 64 * 1024)
  await reads('1 MiB', 1024 * 1024)
  await groupCommits()
  await recoveries()
} finally {
  await store.stop()
  rmSync(directory, { recursive: true, force: true })
}
