import { Prng } from '../../base/prng.ts'
import { batchesIn } from '../../kernel/record/record-batch.ts'
import { check, checkEqual, checkRejects } from './kit.ts'
import {
  append, fill, logStoreClaim as claim, makeBatch, newLog, readBytes, readRecords, recordsOf, type FoundRecord, type LogStoreClaim,
} from './log-store-subject.ts'

/** Reads by offset and look-ups by time. */
export const readClaims: readonly LogStoreClaim[] = [
  claim('quirk 35: a read begins with the batch that holds the offset, whole', async subject => {
    const log = newLog(subject, { indexIntervalBytes: 100 })
    for (let index = 0; index < 20; index++) append(log, makeBatch(5))
    for (let offset = 0; offset < 100; offset++) {
      const first = recordsOf(await readBytes(subject, log, { offset, maxBytes: 1 }))
      checkEqual(first.map(record => record.offset), [0, 1, 2, 3, 4].map(delta => offset - offset % 5 + delta), `at ${offset}`)
    }
  }),
  claim('quirk 35: whole batches within maxBytes, the first one also above it if asked for', async subject => {
    const log = newLog(subject)
    const size = makeBatch(3).length
    for (let index = 0; index < 6; index++) append(log, makeBatch(3))
    const lengths = async (maxBytes: number, atLeastOneBatch: boolean): Promise<number> =>
      (await readBytes(subject, log, { offset: 3, maxBytes, atLeastOneBatch })).length
    checkEqual(await lengths(size * 3, false), size * 3, 'as many as fit exactly')
    checkEqual(await lengths(size * 3 - 1, false), size * 2, 'one byte less')
    checkEqual(await lengths(size - 1, false), 0, 'none fits')
    checkEqual(await lengths(size - 1, true), size, 'none fits, one is asked for')
    checkEqual(await lengths(0, true), size, 'no byte is allowed, one batch is asked for')
    checkEqual(await lengths(1 << 30, true), size * 5, 'all of them')
  }),
  claim('a batch larger than any buffer is read whole', async subject => {
    const log = newLog(subject, { segmentBytes: 1 << 30 })
    fill(log, 1)
    append(log, makeBatch([{ timestamp: 5, value: 'y'.repeat(3_000_000) }]))
    fill(log, 1)
    const found = recordsOf(await readBytes(subject, log, { offset: 1, maxBytes: 1000 }))
    checkEqual(found.map(record => record.value.length), [3_000_000], 'value')
  }),
  claim('no batch at or above endOffset is read', async subject => {
    const log = newLog(subject)
    for (let index = 0; index < 6; index++) append(log, makeBatch(2))
    for (const endOffset of [0, 2, 8, 12]) {
      const found = recordsOf(await readBytes(subject, log, { offset: 0, endOffset }))
      checkEqual(found.length, endOffset, `records below ${endOffset}`)
    }
    checkEqual((await readBytes(subject, log, { offset: 8, endOffset: 4 })).length, 0, 'bytes of a read that begins above endOffset')
  }),
  claim('quirk 34: a read at the log end is empty, above it and below the log start out of range', async subject => {
    const log = newLog(subject)
    fill(log, 10)
    log.raiseHighWatermark(10)
    log.deleteTo(4)
    checkEqual((await readBytes(subject, log, { offset: 10 })).length, 0, 'bytes at the log end')
    await checkRejects('MR_LOG_OFFSET_OUT_OF_RANGE', readBytes(subject, log, { offset: 11 }), 'above the log end')
    await checkRejects('MR_LOG_OFFSET_OUT_OF_RANGE', readBytes(subject, log, { offset: 3 }), 'below the log start')
    await checkRejects('MR_LOG_OFFSET_OUT_OF_RANGE', readBytes(subject, log, { offset: -1 }), 'below zero')
  }),
  claim('what a read gave is right until it is released, whatever happens to the log meanwhile', async subject => {
    const log = newLog(subject)
    for (let index = 0; index < 4; index++) append(log, makeBatch([{ timestamp: index, value: `value ${index}` }]))
    const held = await subject.settle(new Promise<readonly [Uint8Array, () => void]>((resolve, reject) => {
      log.read({ offset: 0, endOffset: 4, maxBytes: 1 << 20, atLeastOneBatch: true }, {
        read: (bytes, release) => resolve([bytes, release]), failed: reject,
      })
    }))
    log.truncateTo(1)
    for (let index = 0; index < 50; index++) append(log, makeBatch([{ timestamp: 9, value: 'something else' }]))
    for (let offset = 0; offset < 40; offset += 7) await readBytes(subject, log, { offset })
    checkEqual(recordsOf(held[0]).map(record => record.value), ['value 0', 'value 1', 'value 2', 'value 3'], 'values held')
    held[1]()
  }),
  claim('a read that is cancelled calls nothing', async subject => {
    const log = newLog(subject, { segmentBytes: 200 })
    fill(log, 50)
    let calls = 0
    let finished = 0
    for (let offset = 0; offset < 50; offset++) {
      const before = calls
      const sink = { read: (_bytes: Uint8Array, release: () => void) => { calls++; release() }, failed: () => { calls++ } }
      const cancel = log.read({ offset, endOffset: 50, maxBytes: 100, atLeastOneBatch: true }, sink)
      if (cancel === undefined) {
        finished++
        checkEqual(calls, before + 1, 'calls of a read that left nothing to cancel')
      } else cancel()
    }
    await subject.settle(subject.store.flush())
    await readRecords(subject, log)
    checkEqual(calls, finished, 'calls in the end')
  }),
  claim('all offsets of a log of many segments are found, at any index interval', async (subject, seed) => {
    const random = new Prng(seed)
    for (const indexIntervalBytes of [1, 150, 4096]) {
      const log = newLog(subject, { segmentBytes: 1000, indexIntervalBytes })
      const expected: number[] = []
      while (log.endOffset < 300) {
        const count = random.between(1, 8)
        const base = append(log, makeBatch(count)).baseOffset
        for (let index = 0; index < count; index++) expected.push(base)
      }
      for (let offset = 0; offset < log.endOffset; offset++) {
        const [first] = [...batchesIn(await readBytes(subject, log, { offset, maxBytes: 1 }))].map(batch => batch.baseOffset)
        checkEqual(first, expected[offset], `seed ${seed}, interval ${indexIntervalBytes}: base offset of the batch of ${offset}`)
      }
      checkEqual((await readRecords(subject, log, 0, 500)).length, log.endOffset, `seed ${seed}: records in reads of 500 bytes`)
    }
  }),
  claim('quirk 42: look-ups by time equal a full scan, for any timestamps and bounds', async (subject, seed) => {
    const random = new Prng(seed)
    for (const range of [5, 100, 100_000]) {
      const log = newLog(subject, { segmentBytes: 1500, indexIntervalBytes: random.pick([1, 200, 4096]), retentionMs: -1 })
      while (log.endOffset < 250) {
        const around = random.chance(0.5) ? log.endOffset * 10 : random.below(range)
        const records = Array.from({ length: random.between(1, 6) }, () => ({ timestamp: around + random.below(range), value: 'v' }))
        append(log, makeBatch(records))
      }
      log.raiseHighWatermark(200)
      if (random.chance(0.7)) log.deleteTo(random.below(100))
      const all = await readRecords(subject, log)
      for (let round = 0; round < 60; round++) {
        const endOffset = random.chance(0.5) ? log.endOffset : random.between(log.startOffset, log.endOffset)
        const within = all.filter(record => record.offset < endOffset)
        const timestamp = random.chance(0.7) ? random.pick(all).timestamp + random.between(-1, 1) : random.below(range * 3)
        checkEqual(log.locate(timestamp, endOffset), hit(within.find(record => record.timestamp >= timestamp)),
          `seed ${seed}: at or after ${timestamp}, below ${endOffset}`)
        checkEqual(log.locate('max', endOffset), hit(newest(within)), `seed ${seed}: newest below ${endOffset}`)
      }
    }
  }),
  claim('a log of records without timestamps has no newest record', async subject => {
    const log = newLog(subject)
    fill(log, 5, 1, -1)
    checkEqual(log.locate('max', 5), undefined, 'newest')
    check(log.locate(0, 5) === undefined, 'no record is at or after time 0')
  }),
]

function newest(records: readonly FoundRecord[]): FoundRecord | undefined {
  let best: FoundRecord | undefined
  for (const record of records) if (record.timestamp > (best?.timestamp ?? -1)) best = record
  return best
}

function hit(record: FoundRecord | undefined): { offset: number, timestamp: number, leaderEpoch: number } | undefined {
  return record === undefined ? undefined : { offset: record.offset, timestamp: record.timestamp, leaderEpoch: record.leaderEpoch }
}
