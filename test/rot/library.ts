import { type EpochEnd } from '../../src/kernel/log/epoch-history.ts'
import { type PartitionId } from '../../src/kernel/model/ids.ts'
import { type TopicSettings } from '../../src/kernel/model/topic-settings.ts'
import { type PartitionLog, type TimestampHit } from '../../src/kernel/ports/partition-log.ts'
import { BatchBuilder, type BatchFields } from '../../src/kernel/record/batch-builder.ts'
import { BatchReader } from '../../src/kernel/record/batch-reader.ts'
import { baseOffsetOf, batchBytesOf, lastOffsetOf } from '../../src/kernel/record/batch-header.ts'
import { endTransactionBatch } from '../../src/kernel/record/control-record.ts'
import { NodeCompression } from '../../src/platform/codecs/node-compression.ts'
import { keyedBatch } from '../../src/testkit/conformance/log-store-compaction.ts'
import { newTopicId } from '../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../src/testkit/world/memory-file-system.ts'
import { bytesOf, makeStore } from '../unit/plugins/storage-local/store-subjects.ts'

export interface WrittenBatch {
  readonly base: number
  readonly last: number
  readonly bytes: Uint8Array
  /** Of its records, in order; those of control batches too. */
  readonly timestamps: readonly number[]
  /** Where it lies: base offset of the segment, and position. */
  readonly segmentBase: number
  readonly position: number
}

/** What one log has to say, whatever happens to its files. */
export interface WrittenLog {
  readonly id: PartitionId
  readonly settings: TopicSettings
  readonly batches: readonly WrittenBatch[]
  readonly start: number
  readonly end: number
  /** No less may be there after damage that a crash cannot have done. */
  readonly flushed: number
  readonly epochEnds: readonly (readonly [number, EpochEnd])[]
  /** The last batch of an idempotent producer, as it was sent, and its offset. */
  readonly retry: { readonly bytes: Uint8Array, readonly base: number } | undefined
}

export interface Library {
  /** How the last process ended. */
  readonly ended: 'stopped' | 'killed'
  readonly files: MemoryFileSystem
  readonly logs: readonly WrittenLog[]
}

const compression = new NodeCompression()
const builder = new BatchBuilder(compression)
const encoder = new TextEncoder()
export const storeConfig = { residentBytes: 0, reserveBytes: 4096, redoBytesMax: 1 << 20 }

function batchOf(timestamps: readonly number[], text: string, fields: BatchFields = {}): Uint8Array {
  builder.reset()
  for (const timestamp of timestamps) builder.append(timestamp, encoder.encode(text.slice(0, 3)), encoder.encode(text))
  return builder.finish(fields)
}

interface Kind {
  readonly topic: string
  readonly partition: number
  readonly settings: Partial<TopicSettings>
  /** The batch of a step, and the leader epoch that it is appended in. */
  readonly batch: (step: number) => readonly [Uint8Array, number]
  /** The prefix below this share of the offsets is deleted. */
  readonly trimmed?: number
  /** Each record has one of five keys; each ninth has none of its value any more. */
  readonly compacted?: boolean
}

const kinds: readonly Kind[] = [
  {
    topic: 'plain', partition: 0, settings: { segmentBytes: 900, indexIntervalBytes: 1, durability: 'os' },
    // Times go up and down, so that an index of them has something to say.
    batch: step => [batchOf([1000 + step * 10, 1000 + (step * 37) % 90], `plain record ${step}`), Math.floor(step / 7)],
  },
  {
    topic: 'plain', partition: 1, settings: { segmentBytes: 900, indexIntervalBytes: 200, durability: 'fsync' },
    batch: step => [batchOf([1000 + step], `other record ${step} ${'x'.repeat(step % 40)}`), 0],
  },
  {
    topic: 'zipped', partition: 0, settings: { segmentBytes: 1500, indexIntervalBytes: 400, durability: 'fsync' },
    batch: step => [batchOf([2000, 2001 + step, 2000], `zipped record ${step} `.repeat(8), { codec: 1 }), step],
  },
  {
    topic: 'money', partition: 0, settings: { segmentBytes: 1200, indexIntervalBytes: 1, durability: 'fsync' },
    batch: step => step % 5 === 4
      ? [endTransactionBatch({ commit: step % 2 === 0, coordinatorEpoch: 3, producerId: 71, producerEpoch: 2, timestamp: 3000 + step }), 1]
      : [batchOf([3000 + step, 3000], `transfer ${step}`, { producerId: 71, producerEpoch: 2, baseSequence: 2 * (step - Math.floor(step / 5)), transactional: true }), 1],
  },
  {
    topic: 'trimmed', partition: 0, settings: { segmentBytes: 600, indexIntervalBytes: 1, durability: 'os' }, trimmed: 0.4,
    batch: step => [batchOf([4000 + step], `trimmed record ${step}`, { producerId: 72, producerEpoch: 0, baseSequence: step }), 2],
  },
  {
    topic: 'table', partition: 0, settings: { segmentBytes: 500, indexIntervalBytes: 100, durability: 'fsync', compact: true, delete: false, minCleanableDirtyRatio: 0 }, compacted: true,
    batch: step => [keyedBatch([{ key: `key ${step % 5}`, value: step % 9 === 8 ? null : `${step}`.padEnd(30, '.') }], { producerId: 73, producerEpoch: 0, baseSequence: step }), Math.floor(step / 10)],
  },
]
const steps = 24

function appendAll(log: PartitionLog, kind: Kind): { readonly batches: WrittenBatch[], readonly retry: WrittenLog['retry'] } {
  const batches: WrittenBatch[] = []
  let retry: WrittenLog['retry']
  let [segmentBase, segmentSize] = [0, 0]
  for (let step = 0; step < steps; step++) {
    const [bytes, leaderEpoch] = kind.batch(step)
    const { baseOffset, lastOffset } = log.append(bytes, 0, bytes.length, { role: 'leader', leaderEpoch })
    if (segmentSize > 0 && segmentSize + bytes.length > kind.settings.segmentBytes!) [segmentBase, segmentSize] = [baseOffset, 0]
    batches.push({ base: baseOffset, last: lastOffset, bytes: bytes.slice(), timestamps: timestampsOf(bytes), segmentBase, position: segmentSize })
    segmentSize += bytes.length
    if (kind.topic !== 'plain' && kind.topic !== 'zipped' && step % 5 !== 4) retry = { bytes: bytes.slice(), base: baseOffset }
  }
  return { batches, retry }
}

const reader = new BatchReader(compression)
function timestampsOf(bytes: Uint8Array): number[] {
  reader.open(bytes, 0)
  const found: number[] = []
  while (reader.next()) found.push(reader.timestamp)
  return found
}

/** Writes all logs, in two lives of a store, and ends the second one. */
export const cleanerOff = { 'log.cleaner.enable': 'false' }

/** What a compaction has left of a log, by its segments. */
function batchesLeft(files: MemoryFileSystem, { topic, partition }: PartitionId): WrittenBatch[] {
  const directory = `/data/${topic}-${partition}`
  const left: WrittenBatch[] = []
  for (const name of files.list(directory).filter(each => each.endsWith('.log')).sort()) {
    const all = bytesOf(files, `${directory}/${name}`)
    for (let position = 0; position < all.length; position += batchBytesOf(all, position)) {
      const bytes = all.slice(position, position + batchBytesOf(all, position))
      left.push({ base: baseOffsetOf(bytes, 0), last: lastOffsetOf(bytes, 0), bytes, timestamps: timestampsOf(bytes), segmentBase: Number(name.slice(0, 20)), position })
    }
  }
  return left
}

export async function writeLibrary(ended: Library['ended']): Promise<Library> {
  const timers = new ManualTimers()
  const files = new MemoryFileSystem({ clock: timers.clock })
  const { store } = makeStore({ files, timers, config: storeConfig, settings: cleanerOff })
  await store.start()
  const logs = kinds.map((kind): readonly [Kind, PartitionLog, ReturnType<typeof appendAll>] => {
    const id = { topic: kind.topic, partition: kind.partition, topicId: newTopicId() }
    const log = store.create(id, topicSettings({ retentionMs: -1, ...kind.settings }))
    return [kind, log, appendAll(log, kind)]
  })
  for (const [kind, log] of logs) {
    log.raiseHighWatermark(log.endOffset)
    if (kind.trimmed !== undefined) log.deleteTo(Math.floor(log.endOffset * kind.trimmed))
  }
  // Recovery points move, so that a killed store has something below them; what is removed is gone.
  await store.flush()
  for (let minute = 0; minute < 3; minute++) {
    timers.advance(60_000)
    await new Promise<void>(resolve => { setImmediate(resolve) })
  }
  for (const [kind, log] of logs) if (kind.compacted === true) log.configure(topicSettings({ retentionMs: -1, ...kind.settings }))
  if ((await store.compact()).logsCompacted === 0) throw new Error('nothing was compacted')
  for (let minute = 0; minute < 3; minute++) {
    timers.advance(60_000)
    await new Promise<void>(resolve => { setImmediate(resolve) })
  }
  const written = logs.map(([kind, log, { batches, retry }]): WrittenLog => ({
    id: log.id, settings: topicSettings({ retentionMs: -1, ...kind.settings }), batches: kind.compacted === true ? batchesLeft(files, log.id) : [...batches], retry, start: log.startOffset, end: log.endOffset, flushed: log.flushedOffset,
    epochEnds: [0, 1, 2, 3, 7, 23].map(epoch => [epoch, log.epochEnd(epoch)] as const),
  }))
  if (ended === 'killed') return { ended, files: files.afterCrash({ keepUnsynced: 'all' }), logs: written }
  await store.stop()
  return { ended, files, logs: written }
}

/** The first record at or after a time, as a list of all records has it. */
export function firstSince(log: WrittenLog, timestamp: number): Pick<TimestampHit, 'offset' | 'timestamp'> | undefined {
  for (const batch of log.batches) {
    for (const [index, found] of batch.timestamps.entries()) {
      if (batch.base + index >= log.start && found >= timestamp) return { offset: batch.base + index, timestamp: found }
    }
  }
  return undefined
}

/** Bytes that a read may give are these, from the batch that holds `offset` on. */
export function isFromLog(log: WrittenLog, offset: number, bytes: Uint8Array): string | undefined {
  let index = log.batches.findIndex(batch => batch.last >= offset)
  for (let at = 0; at < bytes.length; index++) {
    const batch = log.batches[index]
    if (batch === undefined) return `there are bytes behind the last batch`
    const { bytes: expected } = batch
    for (let byte = 0; byte < expected.length; byte++) {
      if (bytes[at + byte] !== expected[byte]) return `byte ${byte} of the batch at offset ${batch.base} is ${bytes[at + byte]}, and was written as ${expected[byte]}`
    }
    at += batch.bytes.length
  }
  return undefined
}

export const lastOf = (bytes: Uint8Array): number => {
  let last = -1
  for (let at = 0; at < bytes.length; at += batchBytesOf(bytes, at)) last = lastOffsetOf(bytes, at)
  return last
}
