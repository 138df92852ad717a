import { Prng } from '../../base/prng.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../kernel/ports/partition-log.ts'
import { topicSettings } from '../topic-settings.ts'
import { check, checkEqual, checkThrows } from './kit.ts'
import {
  append, durableClaim as claim, fill, flushedTo, makeBatch, newLog, readBytes, readRecords, reopened, type LogStoreClaim,
  type LogStoreSubject,
} from './log-store-subject.ts'

type End = 'restart' | 'kill' | 'powerCut'

const ends: readonly (readonly [End, string])[] = [['restart', 'a restart'], ['kill', 'a kill'], ['powerCut', 'a power cut']]

/** Everything that can be asked of a log without changing it, for comparison. */
async function stateOf(subject: LogStoreSubject, log: PartitionLog): Promise<readonly unknown[]> {
  const epochs = Array.from({ length: log.lastEpoch + 2 }, (_, epoch) => log.epochEnd(epoch))
  const records = await readRecords(subject, log)
  const times = records.filter((_, index) => index % 7 === 0).map(record => log.locate(record.timestamp, log.endOffset))
  return [log.startOffset, log.endOffset, log.lastEpoch, log.sizeBytes, epochs, records, times, log.locate('max', log.endOffset)]
}

/** Batches of all kinds: epochs, producers, times, sizes. */
function fillVaried(log: PartitionLog, random: Prng, count: number): void {
  const sequences = [0, 0, 0]
  for (let index = 0; index < count; index++) {
    const records = Array.from({ length: random.between(1, 5) }, () => ({ timestamp: 1000 + random.below(5000), value: 'v'.repeat(random.below(80)) }))
    const producer = random.below(4)
    if (producer === 3) append(log, makeBatch(records), Math.floor(index / 10))
    else {
      append(log, makeBatch(records, { producerId: producer, producerEpoch: 0, baseSequence: sequences[producer]! }), Math.floor(index / 10))
      sequences[producer]! += records.length
    }
  }
}

/** What a log whose durability changes has promised of what was appended. */
class FlushPromise {
  /** Below it nothing may be lost. */
  offset = 0
  private kind: TopicSettings['durability'] = 'fsync'
  /** What counted as flushed when it changed to fsync may not be on the disk; what becomes flushed from then on is, with all before it. */
  private counted = 0
  private flushed = 0
  private readonly log: PartitionLog
  private readonly name: string

  constructor(log: PartitionLog, name: string) {
    this.log = log
    this.name = name
  }

  get durability(): TopicSettings['durability'] { return this.kind }

  /** Before the log is told. */
  set durability(changed: TopicSettings['durability']) {
    this.look()
    if (changed === 'fsync' && this.kind === 'os') this.counted = this.log.flushedOffset
    this.kind = changed
  }

  look(): void {
    const { log: { flushedOffset, endOffset }, kind, name } = this
    check(flushedOffset >= this.flushed, `${name}: the flushed offset went from ${this.flushed} to ${flushedOffset}`)
    this.flushed = flushedOffset
    if (kind === 'fsync' && flushedOffset > this.counted) this.offset = flushedOffset
    if (kind === 'os') checkEqual(flushedOffset, endOffset, `${name}: flushed offset with durability os`)
  }
}

/** What a store that survives a restart promises. */
export const durableClaims: readonly LogStoreClaim[] = [
  claim('a durable store can be restarted, killed and cut off', async subject => {
    for (const [end] of ends) check(subject[end] !== undefined, `the subject can ${end}`)
  }),
  ...ends.map(([end, name]) => claim(`${name} after a flush leaves every log as it was`, async (subject, seed) => {
    const random = new Prng(seed)
    const changed: Partial<TopicSettings> = { segmentBytes: 2000, indexIntervalBytes: 300, retentionMs: -1 }
    const logs = [0, 1, 2].map(() => newLog(subject, changed))
    for (const log of logs) fillVaried(log, random, 60)
    logs[1]!.raiseHighWatermark(50)
    logs[1]!.deleteTo(33)
    logs[2]!.truncateTo(40)
    const empty = newLog(subject, changed)
    await subject.settle(subject.store.flush())
    const before: (readonly unknown[])[] = []
    for (const log of logs) before.push(await stateOf(subject, log))
    await subject[end]!()
    for (const [index, log] of logs.entries()) {
      checkEqual([...await stateOf(subject, reopened(subject, log, changed))], [...before[index]!], `seed ${seed}: log ${index} after ${name}`)
    }
    checkEqual(reopened(subject, empty).endOffset, 0, 'end of an empty log')
    for (const log of logs) {
      const found = reopened(subject, log, changed)
      const end = found.endOffset
      checkEqual(append(found, makeBatch(1), found.lastEpoch).baseOffset, end, 'offset of the next batch')
    }
  })),
  ...ends.map(([end, name]) => claim(`producers go on after ${name} where they were`, async subject => {
    const log = newLog(subject, { segmentBytes: 500 })
    const sent = (producerId: number, sequence: number): Uint8Array => makeBatch(1, { producerId, producerEpoch: 0, baseSequence: sequence })
    for (let index = 0; index < 12; index++) append(log, sent(1, index))
    append(log, sent(2, 100))
    append(log, sent(1, 12))
    await subject.settle(subject.store.flush())
    await subject[end]!()
    const found = reopened(subject, log)
    checkEqual(append(found, sent(1, 12)), { baseOffset: 13, lastOffset: 13, duplicate: true }, 'the last batch of a producer, again')
    checkEqual(append(found, sent(2, 100)).duplicate, true, 'the last batch of the other one, again')
    checkThrows('MR_PRODUCER_OUT_OF_ORDER', () => append(found, sent(1, 14)), 'a gap')
    checkEqual([append(found, sent(1, 13)).baseOffset, append(found, sent(2, 101)).baseOffset], [14, 15], 'the next batches')
  })),
  ...ends.map(([end, name]) => claim(`each of the last five batches of a producer is known after ${name}`, async subject => {
    const log = newLog(subject, { segmentBytes: 400 })
    const sent = (sequence: number): Uint8Array => makeBatch(1, { producerId: 1, producerEpoch: 0, baseSequence: sequence })
    for (let index = 0; index < 14; index++) append(log, sent(index))
    await subject.settle(subject.store.flush())
    await subject[end]!()
    const found = reopened(subject, log)
    for (let index = 9; index < 14; index++) {
      checkEqual(append(found, sent(index)), { baseOffset: index, lastOffset: index, duplicate: true }, `batch ${index}, again`)
    }
    checkThrows('MR_PRODUCER_OUT_OF_ORDER', () => append(found, sent(8)), 'the batch before them')
  })),
  ...ends.map(([end, name]) => claim(`a producer whose records were deleted goes on after ${name} where it was`, async subject => {
    const changed = { segmentBytes: 500 }
    const log = newLog(subject, changed)
    const sent = (sequence: number): Uint8Array => makeBatch(1, { producerId: 1, producerEpoch: 0, baseSequence: sequence })
    append(log, sent(0))
    append(log, sent(1))
    fill(log, 30)
    await subject.settle(subject.store.flush())
    // Twice: a recovery finds what the one before it has made.
    await subject[end]!()
    const found = reopened(subject, log, changed)
    found.raiseHighWatermark(found.endOffset)
    found.deleteTo(found.endOffset - 3)
    await subject.settle(subject.store.flush())
    await subject[end]!()
    const again = reopened(subject, log, changed)
    check(again.startOffset > 20, 'the beginning is gone')
    checkEqual(append(again, sent(1)), { baseOffset: 1, lastOffset: 1, duplicate: true }, 'its last batch, again')
    checkThrows('MR_PRODUCER_OUT_OF_ORDER', () => append(again, sent(3)), 'a gap')
    checkEqual(append(again, sent(2)).duplicate, false, 'the next batch')
  })),
  ...ends.map(([end, name]) => claim(`a log of which nothing is left knows its last epoch after ${name}, and after another one`, async subject => {
    const changed = { segmentBytes: 500 }
    const log = newLog(subject, changed)
    for (let index = 0; index < 12; index++) append(log, makeBatch(1), index >> 1)
    await subject.settle(subject.store.flush())
    log.raiseHighWatermark(12)
    log.deleteTo(12)
    for (let life = 0; life < 2; life++) {
      await subject[end]!()
      const found = reopened(subject, log, changed)
      checkEqual([found.startOffset, found.endOffset, found.lastEpoch], [12, 12, 5], 'start, end and last epoch')
      checkEqual([found.epochEnd(5), found.epochEnd(2)], [{ leaderEpoch: 5, endOffset: 12 }, { leaderEpoch: 2, endOffset: 12 }], 'where epochs end')
    }
  })),
  claim('a kill takes nothing that was appended, flushed or not', async subject => {
    const logs = [newLog(subject, { durability: 'fsync', segmentBytes: 600 }), newLog(subject, { durability: 'os' })]
    for (const log of logs) fill(log, 30)
    await subject.kill!()
    for (const log of logs) checkEqual((await readRecords(subject, reopened(subject, log))).length, 30, 'records')
  }),
  claim('durability fsync: a power cut takes nothing below the flushed offset, and leaves a prefix', async (subject, seed) => {
    for (let round = 0; round < 8; round++) {
      const random = new Prng(seed + round)
      const log = newLog(subject, { durability: 'fsync', segmentBytes: random.pick([500, 5000]) })
      for (let step = 0; step < random.between(1, 6); step++) {
        fill(log, random.between(1, 10), random.below(200))
        if (random.chance(0.5)) await flushedTo(subject, log, log.endOffset)
      }
      const flushed = log.flushedOffset
      const before = await readRecords(subject, log)
      await subject.powerCut!()
      const found = reopened(subject, log)
      check(found.endOffset >= flushed, `seed ${seed + round}: the log ends at ${found.endOffset}, ${flushed} was flushed`)
      checkEqual(await readRecords(subject, found), before.slice(0, found.endOffset), `seed ${seed + round}: records`)
      checkEqual(found.flushedOffset, found.endOffset, `seed ${seed + round}: what recovery kept is flushed`)
    }
  }),
  claim('durability fsync: appended becomes flushed by itself, and the watcher is told', async subject => {
    const log = newLog(subject, { durability: 'fsync', segmentBytes: 300 })
    let told = 0
    const done = new Promise<void>(resolve => {
      log.watcher = {
        flushed: () => {
          told++
          if (log.flushedOffset === 10) resolve()
        },
        failed: () => {},
      }
    })
    fill(log, 10)
    check(log.flushedOffset < 10, 'the last batch is not flushed when append returns')
    await subject.settle(done)
    check(told >= 1, 'the watcher was told')
  }),
  claim('a segment that was closed and not appended behind is flushed like any other', async subject => {
    for (const end of ['flush', 'restart'] as const) {
      // Chance decides what a power cut takes of each.
      const logs = Array.from({ length: 10 }, () => newLog(subject, { durability: 'os', segmentMs: 60_000, retentionMs: -1 }))
      for (const log of logs) append(log, makeBatch([{ timestamp: subject.nowMs(), value: 'closed by time' }]))
      subject.advance(61_000)
      subject.store.sweep()
      if (end === 'flush') await subject.settle(subject.store.flush())
      else await subject.restart!()
      await subject.powerCut!()
      for (const log of logs) checkEqual(reopened(subject, log).endOffset, 1, `log end, after ${end} and a power cut`)
    }
  }),
  claim('a topic that changes to durability fsync keeps what counted as flushed, and syncs it', async subject => {
    const log = newLog(subject, { durability: 'os' })
    fill(log, 5)
    log.configure(topicSettings({ durability: 'fsync' }))
    checkEqual(log.flushedOffset, 5, 'flushed offset')
    fill(log, 1)
    await flushedTo(subject, log, 6)
    await subject.powerCut!()
    checkEqual(reopened(subject, log).endOffset, 6, 'log end after a power cut')
  }),
  claim('durability that changes under appends: the flushed offset never goes back, and a power cut takes nothing that became flushed under fsync', async (subject, seed) => {
    for (let round = 0; round < 16; round++) {
      const random = new Prng(seed + round)
      const changed: Partial<TopicSettings> = { segmentBytes: random.pick([500, 5000, 1_000_000]), retentionMs: -1 }
      const log = newLog(subject, { ...changed, durability: 'fsync' })
      const promise = new FlushPromise(log, `seed ${seed + round}`)
      fill(log, 1)
      await subject.settle(subject.store.flush())
      for (let step = 0; step < random.between(1, 12); step++) {
        if (random.chance(0.6)) {
          promise.durability = random.chance(0.7) === (promise.durability === 'fsync') ? 'os' : 'fsync'
          // Also a change of something else, which promises nothing new.
          const { flushedOffset } = log
          log.configure(topicSettings({ ...changed, indexIntervalBytes: random.between(1, 4096), durability: promise.durability }))
          if (promise.durability === 'fsync') checkEqual(log.flushedOffset, flushedOffset, `seed ${seed + round}: flushed by a change of settings alone`)
        }
        promise.look()
        fill(log, random.between(0, 4), random.pick([10, 10, 200, 200, 50_000]))
        promise.look()
        for (let turn = random.pick([0, 0, 2, 30]); turn > 0; turn--) await subject.settle(Promise.resolve())
        if (random.chance(0.3)) await flushedTo(subject, log, log.endOffset)
        promise.look()
      }
      const before = await readRecords(subject, log)
      promise.look()
      log.watcher = undefined
      await subject.powerCut!()
      const found = reopened(subject, log, changed)
      check(found.endOffset >= promise.offset, `seed ${seed + round}: the log ends at ${found.endOffset}, ${promise.offset} was flushed under fsync`)
      checkEqual(await readRecords(subject, found), before.slice(0, found.endOffset), `seed ${seed + round}: records`)
    }
  }),
  claim('truncation, deletion of a prefix and removal survive a power cut from the moment they return', async subject => {
    const changed: Partial<TopicSettings> = { segmentBytes: 400, retentionMs: -1 }
    const [cut, deleted, removed, emptied] = [newLog(subject, changed), newLog(subject, changed), newLog(subject, changed), newLog(subject, changed)]
    for (const log of [cut, deleted, removed, emptied]) fill(log, 30)
    await subject.settle(subject.store.flush())
    cut.truncateTo(11)
    deleted.raiseHighWatermark(30)
    deleted.deleteTo(17)
    emptied.truncateTo(0)
    subject.store.remove(removed.id.topicId, 0)
    await subject.powerCut!()
    checkEqual(reopened(subject, cut).endOffset, 11, 'end of the truncated log')
    checkEqual([reopened(subject, deleted).startOffset, reopened(subject, deleted).endOffset], [17, 30], 'start and end of the other one')
    checkEqual(reopened(subject, emptied).endOffset, 0, 'end of the log that was truncated to nothing')
    checkEqual(subject.store.find(removed.id.topicId, 0), undefined, 'the removed log')
  }),
  claim('the high watermark is kept on a stop, and never above the log end', async subject => {
    const log = newLog(subject)
    fill(log, 10)
    log.raiseHighWatermark(7)
    await subject.restart!()
    checkEqual(reopened(subject, log).highWatermark, 7, 'after a restart')
    await subject.kill!()
    const killed = reopened(subject, log)
    check(killed.highWatermark <= 7, 'after a kill it is a lower bound')
  }),
  claim('what is known of an old log does not come to a new one of its name', async subject => {
    const old = newLog(subject, { retentionMs: -1 }, 'named')
    fill(old, 50)
    old.raiseHighWatermark(50)
    old.deleteTo(45)
    await subject.restart!()
    subject.store.remove(old.id.topicId, 0)
    const made = newLog(subject, { retentionMs: -1 }, 'named')
    fill(made, 3)
    await subject.settle(subject.store.flush())
    for (const end of ['kill', 'powerCut', 'restart'] as const) {
      await subject[end]!()
      const found = reopened(subject, made, { retentionMs: -1 })
      checkEqual([found.startOffset, found.endOffset, found.highWatermark], [0, 3, 0], `start, end and watermark after ${end}`)
    }
  }),
  claim('a log that nobody has configured since the start is left alone by retention', async subject => {
    const log = newLog(subject, { retentionMs: -1, segmentBytes: 150 })
    fill(log, 10)
    log.raiseHighWatermark(10)
    await subject.restart!()
    subject.store.sweep()
    checkEqual(subject.store.find(log.id.topicId, 0)!.startOffset, 0, 'log start')
  }),
  claim('a batch longer ago than the last start is read like any other', async subject => {
    const log = newLog(subject, { segmentBytes: 100_000 })
    fill(log, 300, 500)
    await subject.restart!()
    const found = reopened(subject, log)
    for (const offset of [0, 150, 299]) check((await readBytes(subject, found, { offset, maxBytes: 1000 })).length > 0, `bytes at ${offset}`)
  }),
]
