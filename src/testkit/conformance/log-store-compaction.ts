import { Prng } from '../../base/prng.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type CompactionReport } from '../../kernel/ports/log-compaction.ts'
import { type PartitionLog } from '../../kernel/ports/partition-log.ts'
import { batchHeaderBytes, putCrc } from '../../kernel/record/batch-header.ts'
import { BatchBuilder, type BatchFields } from '../../kernel/record/batch-builder.ts'
import { BatchReader } from '../../kernel/record/batch-reader.ts'
import { batchesIn } from '../../kernel/record/record-batch.ts'
import { check, checkEqual, checkThrows } from './kit.ts'
import { append, newLog, readBytes, reopened, type LogStoreBody, type LogStoreClaim, type LogStoreSubject } from './log-store-subject.ts'

const dayMs = 86_400_000
const minuteMs = 60_000

/** A record of a compacted topic: a null value deletes its key. */
export interface KeyedRecord {
  readonly key: string
  readonly value: string | null
  /** Default: 1000. */
  readonly timestamp?: number
}

interface FoundKeyed extends Required<KeyedRecord> {
  readonly offset: number
}

const builder = new BatchBuilder()
const reader = new BatchReader()
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function keyedBatch(records: readonly KeyedRecord[], fields: BatchFields = {}): Uint8Array {
  builder.reset()
  for (const { key, value, timestamp = 1000 } of records) builder.append(timestamp, encoder.encode(key), value === null ? null : encoder.encode(value))
  return builder.finish(fields)
}

/** Settings under which what is closed is compacted at the next round. */
const compacted = (changed: Partial<TopicSettings> = {}): Partial<TopicSettings> =>
  ({ compact: true, delete: false, segmentBytes: 300, minCleanableDirtyRatio: 0, deleteRetentionMs: dayMs, ...changed })

/** All that a reader finds from `offset` on. */
export async function keyedRecords(subject: Pick<LogStoreSubject, 'settle'>, log: PartitionLog, offset = log.startOffset, maxBytes = 1 << 20): Promise<FoundKeyed[]> {
  const found: FoundKeyed[] = []
  let next = offset
  while (next < log.endOffset) {
    const bytes = await readBytes(subject, log, { offset: next, maxBytes })
    let end = next
    for (const batch of batchesIn(bytes)) {
      check(batch.crcValid(), `the batch at ${batch.baseOffset} has the CRC of its bytes`)
      reader.open(bytes, batch.at)
      while (reader.next()) {
        if (reader.offset < next) continue
        const value = reader.value()
        found.push({ offset: reader.offset, timestamp: reader.timestamp, key: decoder.decode(reader.key()!), value: value === null ? null : decoder.decode(value) })
      }
      end = batch.nextOffset
    }
    check(end > next, `a read at ${next}, below the log end ${log.endOffset}, gets on`)
    next = end
  }
  return found
}

/** Brings what was appended below the watermark, and compacts what is due. */
export async function compact(subject: LogStoreSubject): Promise<CompactionReport> {
  await subject.settle(subject.store.flush())
  for (const log of subject.store.logs()) log.raiseHighWatermark(log.endOffset)
  // Recovery points move on with the checkpoints.
  subject.advance(minuteMs)
  await subject.settle(subject.store.flush())
  await subject.settle(Promise.resolve())
  return subject.settle(subject.compaction!.compact())
}

const claim = (title: string, body: LogStoreBody): LogStoreClaim => ({ title, needs: 'compaction', body })
const one = (log: PartitionLog, key: string, value: string | null, timestamp = 1000): number => append(log, keyedBatch([{ key, value, timestamp }])).baseOffset
/** Closes the active segment: what follows is larger than what it has room for. */
const roll = (log: PartitionLog): void => { one(log, 'roll', 'x'.repeat(300)) }

export const compactionClaims: readonly LogStoreClaim[] = [
  claim('the last record of each key stays, with its offset, and a read of any offset gives the next one that is left', async subject => {
    const log = newLog(subject, compacted())
    for (let index = 0; index < 40; index++) one(log, `key ${index % 4}`, `value ${index}`, 1000 + index)
    roll(log)
    const report = await compact(subject)
    checkEqual([report.logsCompacted, report.logsFailed], [1, 0], 'rounds')
    const all = await keyedRecords(subject, log, 0)
    const last = all.filter(({ offset }) => offset >= 36)
    checkEqual(last.map(({ key, value, timestamp }) => `${key} ${value} ${timestamp}`).slice(0, 4), [36, 37, 38, 39].map(index => `key ${index % 4} value ${index} ${1000 + index}`), 'the last records')
    check(all.length < 20, 'most records that were overtaken are gone')
    for (const maxBytes of [1, 150, 1 << 20]) {
      for (let offset = 0; offset < log.endOffset; offset++) {
        checkEqual((await keyedRecords(subject, log, offset, maxBytes)).map(each => each.offset), all.filter(each => each.offset >= offset).map(each => each.offset), `offsets from ${offset} on, ${maxBytes} bytes at a time`)
      }
    }
    checkEqual((await compact(subject)).logsCompacted, 0, 'rounds of what is clean')
    checkEqual(log.compaction?.dirtyBytes, 0, 'dirty bytes')
  }),
  claim('nothing is compacted that is active, above the high watermark, or of a topic that is not compacted', async subject => {
    const log = newLog(subject, compacted())
    const other = newLog(subject, { segmentBytes: 300, retentionMs: -1 })
    for (let index = 0; index < 20; index++) for (const each of [log, other]) one(each, 'key', `value ${index}`)
    await subject.settle(subject.store.flush())
    log.raiseHighWatermark(1)
    other.raiseHighWatermark(20)
    subject.advance(minuteMs)
    checkEqual((await subject.settle(subject.compaction!.compact())).logsCompacted, 0, 'rounds')
    checkEqual([(await keyedRecords(subject, log, 0)).length, (await keyedRecords(subject, other, 0)).length], [20, 20], 'records')
    await compact(subject)
    const active = (await keyedRecords(subject, log, 0)).map(({ offset }) => offset)
    check(active.length < 10 && active.at(-1) === 19, 'what is closed and below the watermark is compacted then')
    checkEqual((await keyedRecords(subject, other, 0)).length, 20, 'records of the topic that is not compacted')
  }),
  claim('a tombstone is readable for delete.retention.ms after the round that had all older records of its key, and goes then, without a new record', async subject => {
    const log = newLog(subject, compacted({ deleteRetentionMs: 10 * minuteMs }))
    for (let index = 0; index < 5; index++) one(log, 'gone', `value ${index}`)
    const tombstone = one(log, 'gone', null)
    one(log, 'kept', 'value')
    roll(log)
    await compact(subject)
    const gone = async (): Promise<number[]> => (await keyedRecords(subject, log, 0)).filter(({ key }) => key === 'gone').map(({ offset }) => offset)
    checkEqual(await gone(), [tombstone], 'the tombstone alone is left of its key')
    subject.advance(5 * minuteMs)
    await compact(subject)
    checkEqual(await gone(), [tombstone], 'the tombstone before its horizon')
    subject.advance(6 * minuteMs)
    await compact(subject)
    checkEqual(await gone(), [], 'what is left of the key behind the horizon')
    checkEqual((await keyedRecords(subject, log, 0)).filter(({ key }) => key === 'kept').length, 1, 'the record of another key')
  }),
  claim('min.compaction.lag.ms keeps records from compaction, min.cleanable.dirty.ratio a log', async subject => {
    const young = newLog(subject, compacted({ minCompactionLagMs: 60 * minuteMs }))
    const clean = newLog(subject, compacted({ minCleanableDirtyRatio: 0.99 }))
    for (let index = 0; index < 20; index++) {
      one(young, 'key', `value ${index}`, subject.nowMs())
      one(clean, `key ${index}`, 'value')
    }
    for (const log of [young, clean]) roll(log)
    await compact(subject)
    checkEqual((await keyedRecords(subject, young, 0)).length, 21, 'records that are too young')
    one(clean, 'key 1', 'again')
    roll(clean)
    checkEqual((await compact(subject)).logsCompacted, 0, 'rounds of a log that is clean for the most part')
    subject.advance(61 * minuteMs)
    await compact(subject)
    check((await keyedRecords(subject, young, 0)).length < 10, 'records that are old enough are compacted')
  }),
  claim('max.compaction.lag.ms rolls a quiet log and compacts it, whatever its dirty share', async subject => {
    const log = newLog(subject, compacted({ segmentBytes: 1 << 20, minCleanableDirtyRatio: 1, maxCompactionLagMs: 20 * minuteMs }))
    for (let index = 0; index < 10; index++) one(log, 'key', `value ${index}`, subject.nowMs())
    await compact(subject)
    checkEqual((await keyedRecords(subject, log, 0)).length, 10, 'records before their time')
    subject.advance(25 * minuteMs)
    subject.store.sweep()
    await compact(subject)
    checkEqual((await keyedRecords(subject, log, 0)).map(({ value }) => value), ['value 9'], 'records behind it')
  }),
  claim('what a producer sent last is known after compaction, also where its records are gone', async subject => {
    const settings = compacted()
    const log = newLog(subject, settings)
    const sent = (sequence: number): Uint8Array => keyedBatch([{ key: 'key', value: `value ${sequence}` }], { producerId: 7, producerEpoch: 2, baseSequence: sequence })
    for (let sequence = 0; sequence < 10; sequence++) append(log, sent(sequence))
    for (let index = 0; index < 10; index++) one(log, 'key', `later ${index}`)
    roll(log)
    await compact(subject)
    let found = log
    const ask = (): void => {
      checkEqual(append(found, sent(9)), { baseOffset: 9, lastOffset: 9, duplicate: true }, 'the last batch, again')
      checkThrows('MR_PRODUCER_OUT_OF_ORDER', () => append(found, sent(11)), 'a sequence that does not follow')
    }
    ask()
    for (const end of ['restart', 'kill'] as const) {
      if (subject[end] === undefined) continue
      await subject[end]()
      found = reopened(subject, log, settings)
      ask()
    }
    checkEqual(append(found, sent(10)).duplicate, false, 'the sequence that follows')
  }),
  claim('look-ups by time equal a scan of what is left', async (subject, seed) => {
    const log = newLog(subject, compacted({ indexIntervalBytes: 100 }))
    const prng = new Prng(seed)
    for (let index = 0; index < 60; index++) one(log, `key ${prng.below(8)}`, prng.below(5) === 0 ? null : 'value', 1000 + prng.below(200))
    roll(log)
    await compact(subject)
    const left = await keyedRecords(subject, log, 0)
    for (let timestamp = 990; timestamp < 1210; timestamp += 3) {
      checkEqual(log.locate(timestamp, log.endOffset)?.offset, left.find(each => each.timestamp >= timestamp)?.offset, `the first record since ${timestamp}`)
    }
    const newest = Math.max(...left.map(each => each.timestamp))
    checkEqual(log.locate('max', log.endOffset)?.offset, left.find(each => each.timestamp === newest)?.offset, 'the newest record')
  }),
  claim('a topic that is compacted and deleted loses what is overtaken and what is too old', async subject => {
    const log = newLog(subject, compacted({ delete: true, retentionMs: 60 * minuteMs }))
    for (let index = 0; index < 10; index++) one(log, `old ${index}`, 'value', subject.nowMs() - 120 * minuteMs)
    roll(log)
    for (let index = 0; index < 10; index++) one(log, 'new', `value ${index}`, subject.nowMs() + 60 * minuteMs)
    roll(log)
    await compact(subject)
    subject.store.sweep()
    const keys = (await keyedRecords(subject, log)).map(({ key }) => key).filter(key => key !== 'roll')
    check(keys.length > 0 && keys.every(key => key === 'new'), 'old records are deleted, new ones are there')
    check((await keyedRecords(subject, log)).filter(({ key }) => key === 'new').length < 10, 'and compacted')
  }),
  claim('compaction runs by itself', async subject => {
    const log = newLog(subject, compacted())
    for (let index = 0; index < 20; index++) one(log, 'key', `value ${index}`)
    roll(log)
    await subject.settle(subject.store.flush())
    log.raiseHighWatermark(log.endOffset)
    for (let turn = 0; turn < 12 && (log.compaction?.lastRoundMs ?? -1) < 0; turn++) {
      subject.advance(minuteMs)
      await subject.settle(subject.store.flush())
      for (let microtask = 0; microtask < 200; microtask++) await subject.settle(Promise.resolve())
    }
    check(log.compaction!.lastRoundMs >= 0, 'a round has come to its end')
    check((await keyedRecords(subject, log, 0)).length < 10, 'records are gone')
  }),
  claim('a cut leaves the log to end behind the last batch that is left before it, also where it falls into a gap, and the log goes on there', async subject => {
    const settings = compacted()
    for (let cut = 1; cut < 30; cut += 2) {
      const log = newLog(subject, settings)
      for (let index = 0; index < 30; index++) one(log, `key ${index % 3}`, `value ${index}`)
      roll(log)
      await compact(subject)
      let end = 0
      for (let next = 0; next < cut;) {
        for (const { lastOffset, nextOffset } of batchesIn(await readBytes(subject, log, { offset: next }))) {
          next = nextOffset
          if (lastOffset < cut) end = nextOffset
        }
      }
      log.truncateTo(cut)
      checkEqual([log.endOffset, log.flushedOffset, log.highWatermark <= end], [end, end, true], `where the log ends that was cut at ${cut}`)
      checkEqual(one(log, 'key 0', 'new'), end, `the offset of what is appended behind a cut at ${cut}`)
      await subject.settle(subject.store.flush())
      if (subject.powerCut !== undefined && cut % 8 === 1) {
        await subject.powerCut()
        checkEqual(reopened(subject, log, settings).endOffset, end + 1, `where it ends after a power cut`)
      }
    }
  }),
  claim('a batch whose offsets do not grow, as a topic takes it that checks headers alone, stays as it is, and what is around it is compacted', async subject => {
    const log = newLog(subject, compacted())
    for (let index = 0; index < 10; index++) one(log, 'key', `value ${index}`)
    const crossed = keyedBatch([{ key: 'key', value: 'x' }, { key: 'other', value: 'y' }])
    const second = batchHeaderBytes + 1 + (crossed[batchHeaderBytes]! >> 1)
    // The third byte of a record is its offset, as a varint.
    ;[crossed[batchHeaderBytes + 3], crossed[second + 3]] = [crossed[second + 3]!, crossed[batchHeaderBytes + 3]!]
    putCrc(crossed, 0)
    const { baseOffset } = append(log, crossed)
    for (let index = 0; index < 10; index++) one(log, 'key', `value ${index + 10}`)
    roll(log)
    checkEqual([(await compact(subject)).logsFailed], [0], 'rounds that failed')
    const left = await keyedRecords(subject, log, 0)
    checkEqual(left.filter(({ offset }) => offset >= baseOffset && offset < baseOffset + 2).map(({ key }) => key), ['key', 'other'], 'its records')
    check(left.filter(({ key }) => key === 'key').length < 20, 'records around it are gone')
  }),
  claim('a prefix may be deleted, and the end cut, within what was compacted', async subject => {
    const settings = compacted()
    const log = newLog(subject, settings)
    for (let index = 0; index < 60; index++) one(log, `key ${index % 3}`, `value ${index}`)
    roll(log)
    await compact(subject)
    const left = await keyedRecords(subject, log, 0)
    const start = left[1]!.offset
    log.deleteTo(start)
    checkEqual((await keyedRecords(subject, log)).map(({ offset }) => offset), left.filter(({ offset }) => offset >= start).map(({ offset }) => offset), 'what is left behind a prefix')
    const cut = left.at(-2)!.offset
    log.truncateTo(cut)
    const served = left.filter(({ offset }) => offset >= start && offset < cut).map(({ offset }) => offset)
    checkEqual((await keyedRecords(subject, log)).map(({ offset }) => offset), served, 'what is left before a cut')
    one(log, 'key 1', 'new')
    const after = (await keyedRecords(subject, log)).map(({ offset }) => offset)
    checkEqual(after.length, served.length + 1, 'records with a new one')
    await subject.settle(subject.store.flush())
    for (const end of ['restart', 'kill', 'powerCut'] as const) {
      if (subject[end] === undefined) continue
      await subject[end]()
      checkEqual((await keyedRecords(subject, reopened(subject, log, settings))).map(({ offset }) => offset), after, 'records after a restart')
    }
  }),
]
