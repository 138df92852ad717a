import { topicSettings } from '../topic-settings.ts'
import { check, checkEqual, checkThrows, checkRejects } from './kit.ts'
import {
  append, fill, logStoreClaim as claim, makeBatch, newLog, readBytes, readRecords, recordsOf, type LogStoreClaim,
} from './log-store-subject.ts'

/** Times that a test must not see a sweep of its own in are below the retention check's five minutes. */
const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Truncation, deletion of a prefix, rolls and retention. */
export const trimClaims: readonly LogStoreClaim[] = [
  claim('a truncation drops everything at and above its offset, across segments', async subject => {
    const log = newLog(subject, { segmentBytes: 300, indexIntervalBytes: 100 })
    for (let index = 0; index < 20; index++) append(log, makeBatch([{ timestamp: index, value: `old ${index}` }]), index < 10 ? 1 : 2)
    log.raiseHighWatermark(20)
    for (const offset of [25, 20, 19, 11, 10, 3]) {
      log.truncateTo(offset)
      const end = Math.min(20, offset)
      checkEqual([log.endOffset, log.highWatermark, log.lastEpoch], [end, end, end > 10 ? 2 : 1], `end, watermark and epoch after ${offset}`)
      checkEqual((await readRecords(subject, log)).map(record => record.timestamp), Array.from({ length: end }, (_, index) => index), 'records left')
    }
    checkEqual(log.sizeBytes, (await readBytes(subject, log, {})).length, 'size')
    checkEqual(append(log, makeBatch([{ timestamp: 99, value: 'new' }]), 3).baseOffset, 3, 'offset of the next batch')
    checkEqual((await readRecords(subject, log)).at(-1)!.value, 'new', 'the record appended there')
    checkEqual(log.epochEnd(2), { leaderEpoch: 1, endOffset: 3 }, 'the end of an epoch that was cut away')
    checkEqual(log.locate('max', 4)!.offset, 3, 'the newest record')
    checkEqual(log.locate(15, 4)!.offset, 3, 'a time that only records cut away had')
  }),
  claim('a truncation inside a batch drops the batch', async subject => {
    const log = newLog(subject)
    append(log, makeBatch(3))
    append(log, makeBatch(5))
    log.truncateTo(5)
    checkEqual(log.endOffset, 3, 'log end')
    log.truncateTo(1)
    checkEqual(log.endOffset, 0, 'log end')
    checkEqual(append(log, makeBatch(1)).baseOffset, 0, 'offset of the next batch')
  }),
  claim('a truncation to or below the log start leaves an empty log there', async subject => {
    const log = newLog(subject, { segmentBytes: 200 })
    fill(log, 10)
    log.raiseHighWatermark(10)
    log.deleteTo(6)
    log.truncateTo(4)
    checkEqual([log.startOffset, log.endOffset, log.highWatermark, log.sizeBytes, log.lastEpoch], [4, 4, 4, 0, -1], 'state')
    checkEqual(append(log, makeBatch(1)).baseOffset, 4, 'offset of the next batch')
    checkEqual((await readRecords(subject, log)).length, 1, 'records')
  }),
  claim('a truncation of what was appended to an emptied log leaves the epoch that it had', async subject => {
    const log = newLog(subject)
    for (let epoch = 0; epoch < 4; epoch++) append(log, makeBatch(1), epoch)
    log.raiseHighWatermark(4)
    log.deleteTo(4)
    append(log, makeBatch(2), 3)
    log.truncateTo(4)
    checkEqual([log.startOffset, log.endOffset, log.lastEpoch], [4, 4, 3], 'start, end and last epoch')
    checkEqual(log.epochEnd(3), { leaderEpoch: 3, endOffset: 4 }, 'where the epoch ends')
  }),
  claim('after a truncation producers are where the records left have them', async subject => {
    const log = newLog(subject, { segmentBytes: 400 })
    const sent = (sequence: number): Uint8Array => makeBatch(1, { producerId: 3, producerEpoch: 0, baseSequence: sequence })
    for (let index = 0; index < 10; index++) append(log, sent(index))
    append(log, makeBatch(1, { producerId: 4, producerEpoch: 0, baseSequence: 0 }))
    log.truncateTo(6)
    checkThrows('MR_PRODUCER_OUT_OF_ORDER', () => append(log, sent(7)), 'the sequence after one that was cut away')
    checkEqual(append(log, sent(5)), { baseOffset: 5, lastOffset: 5, duplicate: true }, 'the last batch left, again')
    checkEqual(append(log, sent(6)).baseOffset, 6, 'the batch that was cut away first')
    checkEqual(append(log, makeBatch(1, { producerId: 4, producerEpoch: 0, baseSequence: 5 })).baseOffset, 7, 'a producer that was cut away whole')
  }),
  claim('a prefix is deleted up to any offset at or below the high watermark', async subject => {
    const log = newLog(subject, { segmentBytes: 300 })
    for (let index = 0; index < 10; index++) append(log, makeBatch(3), index)
    log.raiseHighWatermark(20)
    checkThrows('MR_LOG_OFFSET_OUT_OF_RANGE', () => log.deleteTo(21), 'above the high watermark')
    for (const offset of [1, 7, 7, 5, 20]) {
      log.deleteTo(offset)
      const start = Math.max(offset, offset === 5 ? 7 : 0)
      checkEqual(log.startOffset, start, `log start after ${offset}`)
      checkEqual((await readRecords(subject, log)).map(record => record.offset),
        Array.from({ length: 30 - start }, (_, index) => start + index), 'offsets left')
      await checkRejects('MR_LOG_OFFSET_OUT_OF_RANGE', readBytes(subject, log, { offset: start - 1 }), 'a read below')
    }
    checkEqual(log.endOffset, 30, 'log end')
    checkEqual(log.locate(0, 30)!.offset, 20, 'the first record by time')
    checkEqual(log.epochEnd(2), { leaderEpoch: 2, endOffset: 20 }, 'the end of an epoch that was deleted')
  }),
  claim('a log that is deleted to its end goes on there', async subject => {
    const log = newLog(subject)
    fill(log, 5)
    log.raiseHighWatermark(5)
    log.deleteTo(5)
    checkEqual([log.startOffset, log.endOffset], [5, 5], 'start and end')
    checkEqual((await readBytes(subject, log, { offset: 5 })).length, 0, 'bytes')
    checkEqual(append(log, makeBatch(1)).baseOffset, 5, 'offset of the next batch')
    checkEqual(recordsOf(await readBytes(subject, log, { offset: 5 })).map(record => record.offset), [5], 'offsets read')
  }),
  claim('retention.bytes deletes the oldest segments, and only what is below the high watermark', async subject => {
    const batch = makeBatch(1)
    const log = newLog(subject, { segmentBytes: batch.length * 4, retentionBytes: batch.length * 10, retentionMs: -1 })
    fill(log, 40)
    checkEqual(subject.store.sweep().segmentsDeleted, 0, 'segments deleted while nothing is below the watermark')
    log.raiseHighWatermark(9)
    const { segmentCount } = log
    const first = subject.store.sweep()
    checkEqual([first.segmentsDeleted, first.bytesDeleted, log.startOffset], [2, batch.length * 8, 8], 'below a watermark of 9')
    if (segmentCount !== undefined) checkEqual(log.segmentCount, segmentCount - first.segmentsDeleted + first.segmentsRolled, 'segments left')
    log.raiseHighWatermark(40)
    subject.store.sweep()
    checkEqual([log.startOffset, log.sizeBytes], [28, batch.length * 12], 'start and size')
    checkEqual((await readRecords(subject, log)).length, 12, 'records left')
    checkEqual(subject.store.sweep().segmentsDeleted, 0, 'segments deleted by a second sweep')
  }),
  claim('retention.ms deletes segments whose newest record is too old', async subject => {
    const batch = makeBatch(1)
    const now = subject.nowMs()
    const log = newLog(subject, { segmentBytes: batch.length * 2, retentionMs: hourMs, segmentMs: 100 * hourMs })
    for (const agoMs of [5, 4, 3, 0.5, 2, 2, 0.1, 0.1]) append(log, makeBatch([{ timestamp: now - agoMs * hourMs, value: 'x' }]))
    log.raiseHighWatermark(8)
    subject.store.sweep()
    checkEqual(log.startOffset, 2, 'start: the second segment has a young record, the third one stands behind it')
    subject.advance(0.6 * hourMs)
    subject.store.sweep()
    checkEqual(log.startOffset, 6, 'start when that record is too old')
  }),
  claim('when all is too old the active segment rolls, and the log goes on', async subject => {
    const log = newLog(subject, { retentionMs: minuteMs })
    append(log, makeBatch([{ timestamp: subject.nowMs(), value: 'x' }]))
    append(log, makeBatch([{ timestamp: subject.nowMs(), value: 'x' }]))
    log.raiseHighWatermark(2)
    subject.advance(2 * minuteMs)
    const report = subject.store.sweep()
    checkEqual([report.segmentsDeleted, report.segmentsRolled], [1, 1], 'segments deleted and rolled')
    checkEqual([log.startOffset, log.endOffset, log.sizeBytes], [2, 2, 0], 'state')
    checkEqual(append(log, makeBatch(1)).baseOffset, 2, 'offset of the next batch')
  }),
  claim('retention takes nothing of a topic that is compacted and not deleted', async subject => {
    const log = newLog(subject, { compact: true, delete: false, segmentBytes: 200, retentionBytes: 0, retentionMs: 1 })
    fill(log, 10)
    log.raiseHighWatermark(10)
    subject.advance(hourMs)
    subject.store.sweep()
    checkEqual([log.startOffset, (await readRecords(subject, log)).length], [0, 10], 'start and records')
  }),
  claim('segment.ms rolls by the time of records, and a sweep closes what nobody appends to', async subject => {
    const log = newLog(subject, { segmentMs: minuteMs, retentionBytes: 1, retentionMs: -1 })
    const now = subject.nowMs()
    for (const afterMs of [0, minuteMs, minuteMs + 1, minuteMs + 2]) append(log, makeBatch([{ timestamp: now + afterMs, value: 'x'.repeat(100) }]))
    log.raiseHighWatermark(4)
    checkEqual(subject.store.sweep().segmentsDeleted, 1, 'segments closed by the time of a record')
    checkEqual(log.startOffset, 2, 'start')
    subject.advance(2 * minuteMs + 10)
    checkEqual(subject.store.sweep().segmentsRolled, 1, 'segments closed by a sweep')
    checkEqual(subject.store.sweep().segmentsRolled, 0, 'segments closed by a second one: the active segment is empty')
  }),
  claim('a sweep of many logs comes to its end in slices, and takes from each what it is to take', async subject => {
    const logs = Array.from({ length: 100 }, () => newLog(subject, { retentionMs: minuteMs }))
    for (const log of logs) {
      append(log, makeBatch([{ timestamp: subject.nowMs(), value: 'x' }]))
      log.raiseHighWatermark(1)
    }
    subject.advance(2 * minuteMs)
    let deleted = 0
    let rolled = 0
    for (let left = 1, slices = 0; left > 0; slices++) {
      if (slices > 1000) throw new Error(`${slices} slices, and ${left} steps are left`)
      const report = subject.store.sweep()
      deleted += report.segmentsDeleted
      rolled += report.segmentsRolled
      left = report.left
    }
    checkEqual([deleted, rolled], [100, 100], 'segments deleted and rolled')
    checkEqual(logs.filter(log => log.startOffset !== 1 || log.endOffset !== 1 || log.sizeBytes !== 0).length, 0, 'logs that have not lost all they had')
    checkEqual(subject.store.sweep(), { segmentsDeleted: 0, bytesDeleted: 0, segmentsRolled: 0, left: 0 }, 'another round')
  }),
  claim('settings hold from the next append or sweep on', async subject => {
    const log = newLog(subject, { segmentBytes: 150, retentionBytes: -1, retentionMs: -1 })
    fill(log, 10)
    log.raiseHighWatermark(10)
    subject.store.sweep()
    checkEqual(log.startOffset, 0, 'start under the old settings')

    log.configure(topicSettings({ segmentBytes: 150, retentionBytes: 100, retentionMs: -1 }))
    subject.store.sweep()
    check(log.startOffset > 0, 'the log start has moved')
  }),
]
