import { check, checkEqual, checkThrows } from './kit.ts'
import {
  append, fill, logStoreClaim as claim, makeBatch, newLog, readBytes, readRecords, recordsOf, type LogStoreClaim,
} from './log-store-subject.ts'

/** Appends: offsets, what is patched in, epochs, idempotent producers. */
export const appendClaims: readonly LogStoreClaim[] = [
  claim('a new log is empty and begins at offset 0', async subject => {
    const log = newLog(subject)
    checkEqual([log.startOffset, log.endOffset, log.flushedOffset, log.highWatermark, log.lastEpoch, log.sizeBytes], [0, 0, 0, 0, -1, 0], 'state')
    checkEqual(await readBytes(subject, log, {}), new Uint8Array(0), 'a read of an empty log')
    checkEqual(log.locate(0, 0), undefined, 'a look-up by time')
    checkEqual(log.locate('max', 0), undefined, 'the newest record')
  }),
  claim('batches get dense offsets in the order of the appends', async subject => {
    const log = newLog(subject)
    const outcomes = [3, 1, 2].map(count => append(log, makeBatch(count)))
    checkEqual(outcomes.map(outcome => outcome.baseOffset), [0, 3, 4], 'base offsets')
    checkEqual(outcomes.map(outcome => outcome.lastOffset), [2, 3, 5], 'last offsets')
    check(outcomes.every(outcome => !outcome.duplicate), 'none is a duplicate')
    checkEqual(log.endOffset, 6, 'log end')
    checkEqual((await readRecords(subject, log)).map(record => record.offset), [0, 1, 2, 3, 4, 5], 'offsets read')
  }),
  claim('base offset and leader epoch are written in; nothing else of a batch changes', async subject => {
    const log = newLog(subject)
    fill(log, 2)
    const batch = makeBatch([{ timestamp: 77, value: 'seventy-seven' }], { producerId: 5, producerEpoch: 1, baseSequence: 9 })
    const expected = batch.slice()
    append(log, batch, 4)
    const view = new DataView(expected.buffer)
    view.setBigInt64(0, 2n)
    view.setInt32(12, 4)
    checkEqual(await readBytes(subject, log, { offset: 2 }), expected, 'the stored batch')
  }),
  claim('a batch inside a larger array is appended alone, and the array is the caller\'s again', async subject => {
    const log = newLog(subject)
    const batch = makeBatch([{ timestamp: 1, value: 'kept' }])
    const larger = new Uint8Array(batch.length + 30).fill(0xee)
    larger.set(batch, 17)
    log.append(larger, 17, batch.length, { role: 'leader', leaderEpoch: 0 })
    larger.fill(0)
    checkEqual((await readRecords(subject, log)).map(record => record.value), ['kept'], 'what is read after the array was used again')
  }),
  claim('the size is that of the batches', async subject => {
    const log = newLog(subject, { segmentBytes: 300 })
    let size = 0
    for (let index = 1; index < 9; index++) {
      const batch = makeBatch(index)
      size += batch.length
      append(log, batch)
    }
    checkEqual(log.sizeBytes, size, 'size')
    if (log.segmentCount !== undefined) check(log.segmentCount > 1, 'segments of at most 300 bytes')
  }),
  claim('a follower takes batches as they are, also with gaps between them', async subject => {
    const log = newLog(subject)
    const first = makeBatch(2, { baseOffset: 10, leaderEpoch: 3 })
    const second = makeBatch(1, { baseOffset: 20, leaderEpoch: 5 })
    log.append(first, 0, first.length, { role: 'follower', leaderEpoch: 3 })
    const outcome = log.append(second, 0, second.length, { role: 'follower', leaderEpoch: 5 })
    checkEqual([outcome.baseOffset, outcome.lastOffset, log.endOffset, log.lastEpoch], [20, 20, 21, 5], 'offsets and epoch')
    checkEqual(recordsOf(await readBytes(subject, log, { offset: 0 })).map(record => record.offset), [10, 11, 20], 'a read from before the first batch')
    checkEqual(recordsOf(await readBytes(subject, log, { offset: 12 })).map(record => record.offset), [20], 'a read from within a gap')
    checkEqual(log.epochEnd(4), { leaderEpoch: 3, endOffset: 20 }, 'the end of an epoch')
  }),
  claim('quirk 43: epochs end where the next begins, the last one at the log end', async subject => {
    const log = newLog(subject, { segmentBytes: 200 })
    for (const epoch of [1, 1, 3, 3, 3, 4]) append(log, makeBatch(2), epoch)
    checkEqual(log.lastEpoch, 4, 'last epoch')
    checkEqual(log.epochEnd(1), { leaderEpoch: 1, endOffset: 4 }, 'of epoch 1')
    checkEqual(log.epochEnd(2), { leaderEpoch: 1, endOffset: 4 }, 'of epoch 2, which has no records')
    checkEqual(log.epochEnd(3), { leaderEpoch: 3, endOffset: 10 }, 'of epoch 3')
    checkEqual(log.epochEnd(4), { leaderEpoch: 4, endOffset: 12 }, 'of the last epoch')
    checkEqual(log.epochEnd(5), { leaderEpoch: -1, endOffset: -1 }, 'of an epoch not seen yet')
  }),
  claim('quirk 29: a batch sent again is not appended, and its outcome is the original\'s', async subject => {
    const log = newLog(subject)
    const sent = (sequence: number): Uint8Array => makeBatch(2, { producerId: 9, producerEpoch: 0, baseSequence: sequence })
    fill(log, 1)
    for (let index = 0; index < 5; index++) append(log, sent(index * 2))
    for (let index = 0; index < 5; index++) {
      checkEqual(append(log, sent(index * 2)), { baseOffset: 1 + index * 2, lastOffset: 2 + index * 2, duplicate: true }, `batch ${index} again`)
    }
    checkEqual(log.endOffset, 11, 'log end')
  }),
  claim('quirk 29: a gap, an old sequence and an old epoch are refused, and nothing is appended', async subject => {
    const log = newLog(subject)
    const sent = (epoch: number, sequence: number): Uint8Array => makeBatch(1, { producerId: 9, producerEpoch: epoch, baseSequence: sequence })
    for (let index = 0; index < 7; index++) append(log, sent(2, index))
    const before = log.sizeBytes
    checkThrows('MR_PRODUCER_OUT_OF_ORDER', () => append(log, sent(2, 8)), 'a gap')
    checkThrows('MR_PRODUCER_OUT_OF_ORDER', () => append(log, sent(2, 0)), 'a batch that is no longer remembered')
    checkThrows('MR_PRODUCER_OUT_OF_ORDER', () => append(log, sent(3, 7)), 'a new epoch that does not begin with 0')
    checkThrows('MR_PRODUCER_EPOCH_FENCED', () => append(log, sent(1, 7)), 'an old epoch')
    checkEqual([log.endOffset, log.sizeBytes], [7, before], 'log end and size')
    checkEqual(append(log, sent(2, 7)).baseOffset, 7, 'offset of the batch that is next')
  }),
  claim('a log that tells its producers tells each once, with epoch, sequence and time of its last batch', async subject => {
    const log = newLog(subject)
    if (log.producers === undefined) return
    checkEqual([...log.producers], [], 'producers of an empty log')
    const sent = (producerId: number, producerEpoch: number, baseSequence: number, timestamp: number): void => {
      append(log, makeBatch([{ timestamp, value: 'one' }, { timestamp: timestamp - 1, value: 'two' }], { producerId, producerEpoch, baseSequence }))
    }
    sent(9, 0, 0, 50)
    sent(4, 2, 7, 60)
    sent(9, 0, 2, 70)
    append(log, makeBatch(1))
    sent(4, 3, 0, 80)
    const none = { coordinatorEpoch: -1, transactionStart: -1 }
    checkEqual([...log.producers].sort((left, right) => left.producerId - right.producerId), [
      { producerId: 4, epoch: 3, lastSequence: 1, lastTimestamp: 80, ...none }, { producerId: 9, epoch: 0, lastSequence: 3, lastTimestamp: 70, ...none },
    ], 'producers')
  }),
  claim('producers that sent nothing for producer.id.expiration.ms are forgotten', async subject => {
    const log = newLog(subject, { retentionMs: -1 })
    const sent = (sequence: number): Uint8Array => makeBatch(1, { producerId: 9, producerEpoch: 0, baseSequence: sequence })
    append(log, sent(0))
    checkThrows('MR_PRODUCER_OUT_OF_ORDER', () => append(log, sent(5)), 'a gap')
    subject.advance(25 * 3_600_000)
    subject.store.sweep()
    checkEqual(append(log, sent(5)).duplicate, false, 'any sequence of a producer that is not known')
  }),
  claim('the high watermark only rises, and not above the log end', async subject => {
    const log = newLog(subject)
    fill(log, 10)
    log.raiseHighWatermark(4)
    log.raiseHighWatermark(2)
    checkEqual(log.highWatermark, 4, 'after a lower value')
    log.raiseHighWatermark(99)
    checkEqual(log.highWatermark, 10, 'after a value above the log end')
  }),
  claim('durability fsync: what was appended is flushed after a flush, also in a store that is not durable', async subject => {
    const log = newLog(subject, { durability: 'fsync' })
    fill(log, 3)
    await subject.settle(subject.store.flush())
    checkEqual(log.flushedOffset, 3, 'flushed offset')
  }),
  claim('durability os: appended is flushed', async subject => {
    const log = newLog(subject, { durability: 'os' })
    fill(log, 3)
    checkEqual(log.flushedOffset, 3, 'flushed offset')
  }),
]
