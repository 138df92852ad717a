/**
 * Writes a data directory with logs of many kinds, for Kafka's own tools to read:
 * `npx tsx test/compat/write-sample-logs.ts DIR && npx tsx test/compat/dump-log-segments.ts DIR`.
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
import { endTransactionBatch } from '../../src/kernel/record/control-record.ts'
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

class SampleWriter {
  readonly store: SegmentedLogStore
  private readonly random: Prng
  private readonly compression = new NodeCompression()
  private readonly builder = new BatchBuilder(this.compression)

  constructor(directory: string, seed: number) {
    this.random = new Prng(seed)
    this.store = new SegmentedLogStore({
      clock: new SystemClock(), timers: new SystemTimers(), random: new SystemRandom(), files: new NodeFileSystem(), pageCache: new NodeFileSystem(), engine: new LevelKeyValueEngine(),
      compression: this.compression, settings: new BrokerSettingsMap({ commandLine: new Map([['log.dirs', directory]]) }), logger: silent,
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

  append(log: PartitionLog, batch: Uint8Array, leaderEpoch = Math.max(0, log.lastEpoch)): void {
    log.append(batch, 0, batch.length, { role: 'leader', leaderEpoch })
  }
}

const start = 1_700_000_000_000

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
  for (const log of second.store.logs()) {
    log.configure(topicSettings({ retentionMs: -1, segmentBytes: 20_000, indexIntervalBytes: 500 }))
    for (let index = 0; index < 20; index++) second.append(log, second.batch(3, () => start + 1_000_000 + index))
  }
  await second.store.stop()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = process.argv[2]
  if (directory === undefined) throw new Error('usage: npx tsx test/compat/write-sample-logs.ts DIR')
  await writeSampleLogs(directory)
}
