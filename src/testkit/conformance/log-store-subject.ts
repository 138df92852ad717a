import { Prng } from '../../base/prng.ts'
import { randomUuid } from '../../base/uuid.ts'
import { type Uuid } from '../../kernel/model/ids.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { type LogCompaction } from '../../kernel/ports/log-compaction.ts'
import { type LogStore } from '../../kernel/ports/log-store.ts'
import { type AppendOutcome, type PartitionLog, type ReadRequest } from '../../kernel/ports/partition-log.ts'
import { BatchBuilder, type BatchFields } from '../../kernel/record/batch-builder.ts'
import { BatchReader } from '../../kernel/record/batch-reader.ts'
import { batchesIn } from '../../kernel/record/record-batch.ts'
import { topicSettings } from '../topic-settings.ts'
import { check } from './kit.ts'

/** What a log store can do beyond the port: as its plugin declares it. The kit skips by nothing else. */
export interface LogStoreCapabilities {
  /** What the plugin declares: what is flushed survives a restart and a power cut. Then `restart`, `kill` and `powerCut` must be there. */
  readonly durable: boolean
  /** What the plugin declares: topics with cleanup.policy=compact are compacted. Then `compaction` must be there. */
  readonly compaction?: boolean
  /** Files are laid out as Apache Kafka's. Then `dataDirectory` must be there, and restarts take a change of the files. */
  readonly kafkaLayout?: boolean
}

/** Something done to the files while no store has them. */
export type FileChange = (files: FileSystem) => void

/** A store of its own for one test. */
export interface LogStoreSubject {
  /** Started, without logs. `producer.id.expiration.ms` is a day, the retention check runs every five minutes. */
  store: LogStore
  /** Of the store. */
  readonly compaction?: LogCompaction
  /** The wall clock that the store was given. */
  nowMs(): number
  /** Lets time pass on the clock and timers that the store was given. */
  advance(ms: number): void
  /** Waits for something that the store has under way: drives what has to be driven until the promise is settled. */
  settle<T>(promise: Promise<T>): Promise<T>
  /** Stops the store and starts another one on what it left, changed or not, which becomes `store`. */
  restart?(change?: FileChange): Promise<void>
  /** The same after the death of the process: files as the page cache had them. With a change, of the machine, which took nothing. */
  kill?(change?: FileChange): Promise<void>
  /** The same after the death of the machine: what was not synced is gone, wholly or partly. */
  powerCut?(): Promise<void>
  /** Where the partition directories are. */
  readonly dataDirectory?: string
  /** Stops the store for good. */
  stop(): Promise<void>
  /** Frees what the test held; called also when it failed. */
  dispose?(): Promise<void>
}

/** `seed` is what random claims are drawn from; their failures name it. */
export type LogStoreBody = (subject: LogStoreSubject, seed: number) => Promise<void>

export interface LogStoreClaim {
  readonly title: string
  readonly needs?: keyof LogStoreCapabilities
  readonly body: LogStoreBody
}

export const logStoreClaim = (title: string, body: LogStoreBody): LogStoreClaim => ({ title, body })
export const layoutClaim = (title: string, body: LogStoreBody): LogStoreClaim => ({ title, needs: 'kafkaLayout', body })
export const durableClaim = (title: string, body: LogStoreBody): LogStoreClaim => ({ title, needs: 'durable', body })

let topics = 0
const ids = new Prng(4711)

export function newTopicId(): Uuid {
  return randomUuid(() => ids.uint32())
}

/** A new log of a topic of its own. */
export function newLog(subject: Pick<LogStoreSubject, 'store'>, changed: Partial<TopicSettings> = {}, topic = `topic-${topics++}`): PartitionLog {
  return subject.store.create({ topic, topicId: newTopicId(), partition: 0 }, topicSettings(changed))
}

/** The same log in the store that is there after a restart, under the same settings. */
export function reopened(subject: LogStoreSubject, log: PartitionLog, changed: Partial<TopicSettings> = {}): PartitionLog {
  const found = subject.store.find(log.id.topicId, log.id.partition)
  check(found !== undefined, 'a log that was there is there after the restart')
  found.configure(topicSettings(changed))
  return found
}

export interface TestRecord {
  readonly timestamp: number
  /** Its bytes as text. */
  readonly value: string
}

const builder = new BatchBuilder()
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A batch of `records`, or of so many records with timestamps of 1000 each. */
export function makeBatch(records: number | readonly TestRecord[], fields: BatchFields = {}): Uint8Array {
  const list = typeof records === 'number' ? Array.from({ length: records }, () => ({ timestamp: 1000, value: 'x' })) : records
  builder.reset()
  for (const record of list) builder.append(record.timestamp, null, encoder.encode(record.value))
  return builder.finish(fields)
}

/** Appends as the leader of an epoch. */
export function append(log: PartitionLog, batch: Uint8Array, leaderEpoch = 0): AppendOutcome {
  return log.append(batch, 0, batch.length, { role: 'leader', leaderEpoch })
}

/** Appends `count` batches of one record each, with `bytes` of value, and gives the log end. */
export function fill(log: PartitionLog, count: number, bytes = 1, timestamp = 1000): number {
  for (let index = 0; index < count; index++) append(log, makeBatch([{ timestamp, value: 'x'.repeat(bytes) }]))
  return log.endOffset
}

/** The bytes that a read gives, copied. Rejects with the error of a read that failed. */
export function readBytes(subject: Pick<LogStoreSubject, 'settle'>, log: PartitionLog, request: Partial<ReadRequest>): Promise<Uint8Array> {
  return subject.settle(new Promise((resolve, reject) => {
    const whole: ReadRequest = { offset: log.startOffset, endOffset: log.endOffset, maxBytes: 1 << 20, atLeastOneBatch: true, ...request }
    log.read(whole, {
      read(bytes, release) {
        const copy = bytes.slice()
        release()
        resolve(copy)
      },
      failed: reject,
    })
  }))
}

export interface FoundRecord extends TestRecord {
  readonly offset: number
  readonly leaderEpoch: number
}

const reader = new BatchReader()

/** The records of whole batches. */
export function recordsOf(bytes: Uint8Array): FoundRecord[] {
  const found: FoundRecord[] = []
  for (const batch of batchesIn(bytes)) {
    reader.open(bytes, batch.at)
    while (reader.next()) {
      found.push({
        offset: reader.offset, timestamp: reader.timestamp, value: decoder.decode(reader.value() ?? new Uint8Array(0)),
        leaderEpoch: batch.leaderEpoch,
      })
    }
  }
  return found
}

/** All records from `offset` to the log end, by as many reads as it takes. */
export async function readRecords(
  subject: Pick<LogStoreSubject, 'settle'>, log: PartitionLog, offset = log.startOffset, maxBytes = 1 << 20,
): Promise<FoundRecord[]> {
  const found: FoundRecord[] = []
  let next = offset
  while (next < log.endOffset) {
    const records = recordsOf(await readBytes(subject, log, { offset: next, maxBytes })).filter(record => record.offset >= next)
    check(records.length > 0, `a read at ${next}, below the log end ${log.endOffset}, gives records`)
    found.push(...records)
    next = records.at(-1)!.offset + 1
  }
  return found
}

/** Resolves when the flushed offset has reached `offset`. */
export function flushedTo(subject: LogStoreSubject, log: PartitionLog, offset: number): Promise<void> {
  return subject.settle(new Promise<void>((resolve, reject) => {
    const look = (): void => {
      if (log.flushedOffset >= offset) resolve()
    }
    log.watcher = { flushed: look, failed: reject }
    look()
  }))
}
