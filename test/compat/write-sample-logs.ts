/**
 * Writes a data directory with logs of many kinds, for Kafka's own tools to read:
 * `npx tsx test/compat/write-sample-logs.ts DIR && npx tsx test/compat/dump-log-segments.ts DIR compacted`.
 */
import { fileURLToPath } from 'node:url'
import { Prng } from '../../src/base/prng.ts'
import { randomUuid } from '../../src/base/uuid.ts'
import { BrokerSettingsMap } from '../../src/kernel/config/broker-settings-map.ts'
import { type TopicSettings } from '../../src/kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../src/kernel/ports/partition-log.ts'
import { type Logger } from '../../src/kernel/ports/telemetry.ts'
import { BatchBuilder, type BatchFields } from '../../src/kernel/record/batch-builder.ts'
import { type CompressionCodec } from '../../src/kernel/record/compression-codec.ts'
import { hasDeleteHorizon } from '../../src/kernel/record/batch-header.ts'
import { endTransactionBatch } from '../../src/kernel/record/control-record.ts'
import { batchesIn } from '../../src/kernel/record/record-batch.ts'
import { NodeCompression } from '../../src/platform/codecs/node-compression.ts'
import { LevelKeyValueEngine } from '../../src/platform/level-key-value-engine.ts'
import { NodeFileSystem } from '../../src/platform/node-file-system.ts'
import { SystemClock } from '../../src/platform/system-clock.ts'
import { SystemRandom } from '../../src/platform/system-random.ts'
import { SystemTimers } from '../../src/platform/system-timers.ts'
import { storageLocalConfig } from '../../src/plugins/storage-local/config.ts'
import { SegmentedLogStore } from '../../src/plugins/storage-local/segmented-log-store.ts'
import { topicSettings } from '../../src/testkit/topic-settings.ts'

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, child: () => silent }

/** The clock of this machine, set forward. */
class AheadClock extends SystemClock {
  aheadMs = 0

  override wallMs(): number {
    return super.wallMs() + this.aheadMs
  }
}

class SampleWriter {
  readonly store: SegmentedLogStore
  readonly clock = new AheadClock()
  private readonly random: Prng
  private readonly compression = new NodeCompression()
  private readonly builder = new BatchBuilder(this.compression)

  constructor(directory: string, seed: number) {
    this.random = new Prng(seed)
    this.store = new SegmentedLogStore({
      clock: this.clock, timers: new SystemTimers(), random: new SystemRandom(), files: new NodeFileSystem(), pageCache: new NodeFileSystem(), engine: new LevelKeyValueEngine(),
      compression: this.compression, settings: new BrokerSettingsMap({ commandLine: new Map([['log.dirs', directory], ['log.cleaner.enable', 'false']]) }), logger: silent,
      identity: { clusterId: 'c2FtcGxlLWNsdXN0ZXItMQ', nodeId: 1, incarnationId: 'c2FtcGxlLWNsdXN0ZXItMQ' },
      fatal: { fatal: error => { throw error as Error } },
    }, storageLocalConfig.parse({}))
  }

  log(topic: string, changed: Partial<TopicSettings> = {}): PartitionLog {
    return this.store.create({ topic, topicId: randomUuid(() => this.random.uint32()), partition: 0 }, topicSettings({ retentionMs: -1, ...changed }))
  }

  /** A batch of so many records with keys, values and headers of all sizes. */
  batch(records: number, timestamp: () => number, fields: BatchFields = {}): Uint8Array {
    const { builder, random } = this
    builder.reset()
    for (let index = 0; index < records; index++) {
      const headers = random.chance(0.3) ? [{ key: `header-${index}`, value: random.chance(0.2) ? null : random.bytes(random.below(20)) }] : []
      builder.append(timestamp(), random.chance(0.2) ? null : random.bytes(random.below(20)), random.chance(0.1) ? null : random.bytes(random.below(300)), headers)
    }
    return builder.finish(fields)
  }

  /** A batch of these keys; those in `dead` have no value. */
  keyed(keys: readonly string[], timestamp: number, fields: BatchFields, dead: readonly string[] = []): Uint8Array {
    const { builder, random } = this
    builder.reset()
    for (const key of keys) builder.append(timestamp, Buffer.from(key), dead.includes(key) ? null : random.bytes(20 + random.below(60)), [])
    return builder.finish(fields)
  }

  append(log: PartitionLog, batch: Uint8Array, leaderEpoch = Math.max(0, log.lastEpoch)): void {
    log.append(batch, 0, batch.length, { role: 'leader', leaderEpoch })
  }
}

const start = 1_700_000_000_000

/** Of the topics that are compacted. */
const deleteRetentionMs = 3_600_000
const compacted = { compact: true, delete: false, segmentBytes: 6_000, indexIntervalBytes: 300, minCleanableDirtyRatio: 0, deleteRetentionMs }
/** In the paths of their files. */
export const compactedName = /compacted/

/** Keys that stay, one that is overtaken through many segments, tombstones, and producers that stop early: what is left of their batches is empty. */
function writeCompacted(writer: SampleWriter, log: PartitionLog, from: number, codec: CompressionCodec): void {
  for (let index = 0; index < 300; index++) {
    const at = from + index
    const keys = index % 40 < 5 ? [`stays-${at}`, 'hot', `dies-${index}`] : ['hot', 'hot', `shared-${index % 7}`]
    const producerId = 2000 + from + (index < 50 ? index : 50)
    writer.append(log, writer.keyed(keys, start + at * 1000, { codec, producerId, producerEpoch: 0, baseSequence: index < 50 ? 0 : (index - 50) * 3 }))
  }
  const dead = Array.from({ length: 5 }, (_, index) => `dies-${index}`)
  writer.append(log, writer.keyed(dead, start + (from + 300) * 1000, { codec, producerId: 50_000 + from, producerEpoch: 0, baseSequence: 0 }, dead))
  // What is closed behind them is compacted; the active segment is not.
  for (let index = 0; index < 40; index++) writer.append(log, writer.keyed(['hot', `late-${index}`], start + (from + 301 + index) * 1000, { codec, producerId: 60_000 + from, producerEpoch: 0, baseSequence: index * 2 }))
  log.raiseHighWatermark(log.endOffset)
}

/** What a compacted log has that others have not: it is what the samples are for. */
async function checkCompacted(log: PartitionLog): Promise<void> {
  const found = { empty: 0, gaps: 0, waiting: 0 }
  for (let next = log.startOffset; next < log.endOffset;) {
    const bytes = await new Promise<Uint8Array>((resolve, reject) => {
      log.read({ offset: next, endOffset: log.endOffset, maxBytes: 1 << 20, atLeastOneBatch: true }, {
        failed: reject,
        read: (batches, release) => {
          resolve(batches.slice())
          release()
        },
      })
    })
    if (bytes.length === 0) break
    for (const batch of batchesIn(bytes)) {
      if (batch.baseOffset > next) found.gaps++
      if (batch.recordsCount === 0) found.empty++
      if (hasDeleteHorizon(batch.bytes, batch.at)) found.waiting++
      next = batch.lastOffset + 1
    }
  }
  if (found.empty === 0 || found.gaps === 0 || found.waiting === 0) throw new Error(`${log.id.topic} is not what it is to be: ${JSON.stringify(found)}`)
}

function compactedLogs(writer: SampleWriter): PartitionLog[] {
  const logs = [...writer.store.logs()].filter(log => compactedName.test(log.id.topic))
  for (const log of logs) {
    log.configure(topicSettings({ ...compacted, retentionMs: -1 }))
    log.raiseHighWatermark(log.endOffset)
  }
  return logs
}

async function compactAll(writer: SampleWriter, logs: readonly PartitionLog[]): Promise<void> {
  const { logsCompacted, logsFailed } = await writer.store.compact()
  if (logsCompacted < logs.length || logsFailed > 0) throw new Error(`compacted ${logsCompacted} of ${logs.length} logs, ${logsFailed} failed`)
}

/** A first round, which gives tombstones their horizon, and more of the same keys. */
async function compactAndWrite(writer: SampleWriter): Promise<void> {
  const logs = compactedLogs(writer)
  await compactAll(writer, logs)
  for (const [index, log] of logs.entries()) writeCompacted(writer, log, 1000, (index * 4) as CompressionCodec)
}

/** Removes the tombstones of the first round, whose horizon has passed, and gives the younger ones theirs. */
async function compactAgain(writer: SampleWriter): Promise<void> {
  const logs = compactedLogs(writer)
  await compactAll(writer, logs)
  for (const log of logs) await checkCompacted(log)
}

function write(writer: SampleWriter): void {
  const small = { segmentBytes: 20_000, indexIntervalBytes: 500 }
  const growing = writer.log('growing-times', small)
  for (let index = 0; index < 300; index++) writer.append(growing, writer.batch(1 + index % 7, () => start + index * 100), index >> 6)

  const jumping = writer.log('jumping-times', small)
  for (let index = 0; index < 300; index++) writer.append(jumping, writer.batch(3, () => start + (index * 7919) % 10_007))

  const untimed = writer.log('no-times', small)
  for (let index = 0; index < 200; index++) writer.append(untimed, writer.batch(2, () => -1))

  const stamped = writer.log('log-append-time', small)
  for (let index = 0; index < 200; index++) writer.append(stamped, writer.batch(4, () => 5, { logAppendTime: start + index * 3 }))

  const compressed = writer.log('all-codecs', small)
  for (let index = 0; index < 250; index++) {
    writer.append(compressed, writer.batch(20, () => start + index, { codec: (index % 5) as CompressionCodec }))
  }

  const idempotent = writer.log('producers', small)
  const sequences = [0, 0, 0x7fff_fff0]
  for (let index = 0; index < 300; index++) {
    const producer = index % 3
    writer.append(idempotent, writer.batch(3, () => start + index, {
      producerId: 1000 + producer, producerEpoch: producer, baseSequence: sequences[producer]!,
    }))
    sequences[producer] = sequences[producer]! + 3 > 0x7fff_ffff ? sequences[producer]! + 3 - 0x8000_0000 : sequences[producer]! + 3
  }

  const transactions = writer.log('transactions', small)
  for (let index = 0; index < 120; index++) {
    const producer = { producerId: 4000, producerEpoch: 0 }
    writer.append(transactions, writer.batch(2, () => start + index, { ...producer, baseSequence: index * 2, transactional: true }))
    if (index % 3 === 2) {
      writer.append(transactions, endTransactionBatch({ ...producer, commit: index % 2 === 0, coordinatorEpoch: 7, timestamp: start + index }))
    }
  }

  const trimmed = writer.log('truncated-and-trimmed', small)
  for (let index = 0; index < 200; index++) writer.append(trimmed, writer.batch(5, () => start + index * 10))
  trimmed.truncateTo(800)
  for (let index = 0; index < 100; index++) writer.append(trimmed, writer.batch(5, () => start + index * 10), 3)
  trimmed.raiseHighWatermark(trimmed.endOffset)
  trimmed.deleteTo(333)

  for (const [index, name] of ['compacted', 'compacted-zstd'].entries()) writeCompacted(writer, writer.log(name, compacted), 0, (index * 4) as CompressionCodec)

  writer.log('empty')
  const large = writer.log('one-large-segment')
  for (let index = 0; index < 400; index++) writer.append(large, writer.batch(100, () => start + index * 50))
}

/** Writes the samples with a clean stop, a crash that is recovered, and a truncated log opened again in between. */
export async function writeSampleLogs(directory: string, seed = 1): Promise<void> {
  const first = new SampleWriter(directory, seed)
  await first.store.start()
  write(first)
  await first.store.stop()
  // Once more over what is there: closed segments are opened again, and appended to.
  const second = new SampleWriter(directory, seed + 1)
  await second.store.start()
  await compactAndWrite(second)
  for (const log of second.store.logs()) {
    if (compactedName.test(log.id.topic)) continue
    log.configure(topicSettings({ retentionMs: -1, segmentBytes: 20_000, indexIntervalBytes: 500 }))
    for (let index = 0; index < 20; index++) second.append(log, second.batch(3, () => start + 1_000_000 + index))
  }
  await second.store.stop()
  // A stop has put all that is closed on the disk, so that it may be compacted.
  const third = new SampleWriter(directory, seed + 2)
  third.clock.aheadMs = 2 * deleteRetentionMs
  await third.store.start()
  await compactAgain(third)
  await third.store.stop()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = process.argv[2]
  if (directory === undefined) throw new Error('usage: npx tsx test/compat/write-sample-logs.ts DIR')
  await writeSampleLogs(directory)
}
