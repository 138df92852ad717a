import { describe, expect, test } from 'vitest'
import { Prng } from '../../src/base/prng.ts'
import { type TopicSettings } from '../../src/kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../src/kernel/ports/partition-log.ts'
import { append, makeBatch, newTopicId, readRecords } from '../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../src/testkit/world/seeded-random.ts'
import { makeStore } from '../unit/plugins/storage-local/store-subjects.ts'
import { seedsOf } from './seeds.ts'

const config = { residentBytes: 1 << 30, reserveBytes: 4096 }
const settings: Partial<TopicSettings> = { segmentBytes: 300, indexIntervalBytes: 100, retentionMs: -1, retentionBytes: 700 }

/** What a crash must not take, kept up to date by the script while it runs. */
interface Promise_ {
  /** Nothing below is missing. */
  flushed: number
  /** Nothing below is there: deleted, durably. */
  start: number
  /** The log does not end above, until an append: truncated, durably. */
  endAtMost: number
  /** Cut below its high watermark, which replicas do not do: a crash before the lower one is on the disk is told as records that are missing. */
  cutBelowWatermark: boolean
  removed: 'no' | 'asked for' | 'yes'
  /** All records that were ever at their offset since the last truncation, and before it. */
  readonly appended: Map<number, Set<string>>
}

type Step = (log: PartitionLog, promise: Promise_, random: Prng) => void

const put: Step = (log, promise, random) => {
  const value = `v${random.below(1e9)}`
  const { endOffset, lastEpoch } = log
  // An append that a crash interrupts may have been written all the same.
  promise.appended.set(endOffset, (promise.appended.get(endOffset) ?? new Set<string>()).add(value))
  promise.endAtMost = Infinity
  append(log, makeBatch([{ timestamp: 1000 + random.below(1000), value }]), lastEpoch < 0 || random.chance(0.1) ? lastEpoch + 1 : lastEpoch)
}

const cut: Step = (log, promise, random) => {
  const offset = Math.max(log.startOffset, log.endOffset - random.below(12))
  // From the call on the flushed offset may be as low as this; when it has returned the end is.
  promise.flushed = Math.min(promise.flushed, offset)
  if (offset < log.highWatermark) promise.cutBelowWatermark = true
  log.truncateTo(offset)
  promise.endAtMost = offset
}

const trim: Step = (log, promise, random) => {
  log.raiseHighWatermark(log.flushedOffset)
  const offset = random.between(log.startOffset, log.highWatermark)
  log.deleteTo(offset)
  promise.start = Math.max(promise.start, offset)
}

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }

interface Wreck {
  readonly topicId: string
  readonly promise: Promise_
  /** By what of the unsynced changes reached the disk. */
  readonly left: readonly (readonly [string, MemoryFileSystem])[]
}

function wreckOf(files: MemoryFileSystem, promise: Promise_, topicId: string, seed: number): Wreck {
  const appended = new Map([...promise.appended].map(([offset, values]) => [offset, new Set(values)] as const))
  return {
    topicId, promise: { ...promise, appended }, left: keeps(seed).map(([name, keepUnsynced]) => [name, files.afterCrash({ keepUnsynced })] as const),
  }
}

const keeps = (seed: number) => [
  ['nothing unsynced', 'none'], ['everything', 'all'], ['some', new SeededRandom(seed)], ['some else', new SeededRandom(seed + 7919)],
] as const

/** Runs the script until the call number `crashAt` on the files, and gives what is left. `undefined` when the script ended before. */
async function runUntil(crashAt: number, seed: number, stopAtEnd: boolean): Promise<Wreck | undefined> {
  const random = new Prng(seed)
  const timers = new ManualTimers()
  const files = new MemoryFileSystem({ clock: timers.clock })
  const { store } = makeStore({ files, timers, seed, config })
  const promise: Promise_ = { flushed: 0, start: 0, endAtMost: Infinity, cutBelowWatermark: false, removed: 'no', appended: new Map() }
  const topicId = newTopicId()
  let calls = 0
  let wreck: Wreck | undefined
  await store.start()
  const log = store.create({ topic: 'crashing', topicId, partition: 0 }, topicSettings(settings))
  files.observe = () => {
    // The process goes on and does not matter any more: what is left is what is there before this call.
    if (calls++ === crashAt) wreck = wreckOf(files, promise, topicId, seed + crashAt)
  }
  log.watcher = { flushed: () => { promise.flushed = log.flushedOffset }, failed: () => {} }
  for (let step = 0; step < 15 && wreck === undefined; step++) {
    const draw = random.below(100)
    if (draw < 45) for (let count = random.between(1, 6); count > 0; count--) put(log, promise, random)
    else if (draw < 57) cut(log, promise, random)
    else if (draw < 66) trim(log, promise, random)
    else if (draw < 76) {
      log.raiseHighWatermark(log.flushedOffset)
      store.sweep()
      promise.start = Math.max(promise.start, log.startOffset)
    } else timers.advance(random.pick([6000, 61_000, 61_000]))
    for (let turn = random.below(12); turn > 0; turn--) await Promise.resolve()
  }
  if (stopAtEnd) await store.stop()
  else {
    promise.removed = 'asked for'
    store.remove(topicId, 0)
    promise.removed = 'yes'
  }
  return wreck
}

/** What must be the same after another restart. */
function factsOf(log: PartitionLog) {
  const { startOffset: start, endOffset: end, sizeBytes, lastEpoch } = log
  // A truncation of an empty log to its start takes with it what lies below the start.
  return { start, end, sizeBytes: start === end ? 0 : sizeBytes, lastEpoch, epochs: Array.from({ length: 6 }, (_, epoch) => log.epochEnd(epoch)) }
}

async function check(files: MemoryFileSystem, promise: Promise_, topicId: string, context: string): Promise<void> {
  const timers = new ManualTimers()
  const { store, logger } = makeStore({ files, timers, config })
  await store.start()
  const cutOffAgain = files.afterCrash({ keepUnsynced: 'none' })
  const log = store.find(topicId, 0)
  if (promise.removed === 'yes' || (promise.removed === 'asked for' && log === undefined)) {
    expect(log, context).toBeUndefined()
    await store.stop()
    return
  }
  expect(log, context).toBeDefined()
  log!.configure(topicSettings(settings))
  const toldOfCut = (message: string): boolean => promise.cutBelowWatermark && message.endsWith('the log ends below its high watermark, and their offsets are given to others')
  const problems = logger.lines.filter(line => line.level === 'error' && !toldOfCut(line.message)).map(line => JSON.stringify(line))
  expect(problems, context).toEqual([])
  const records = await readRecords(subject, log!)
  expect(log!.endOffset, `${context}: end, flushed ${promise.flushed}`).toBeGreaterThanOrEqual(promise.flushed)
  expect(log!.startOffset, `${context}: start`).toBeGreaterThanOrEqual(promise.start)
  if (promise.endAtMost < Infinity) expect(log!.endOffset, `${context}: end after a truncation`).toBeLessThanOrEqual(Math.max(promise.endAtMost, log!.startOffset))
  expect(records.map(record => record.offset), `${context}: no holes`).toEqual(
    Array.from({ length: log!.endOffset - log!.startOffset }, (_, index) => log!.startOffset + index))
  for (const record of records) expect(promise.appended.get(record.offset)?.has(record.value), `${context}: record ${record.offset}`).toBe(true)
  const second = makeStore({ files: cutOffAgain, timers: new ManualTimers(), config })
  await second.store.start()
  expect(await readRecords(subject, second.store.find(topicId, 0)!), `${context}, and a power cut after the recovery`).toEqual(records)
  await second.store.stop()
  const before = factsOf(log!)
  append(log!, makeBatch(3), Math.max(0, log!.lastEpoch))
  log!.truncateTo(before.end)
  await store.stop()
  // Recovery of what was recovered and stopped changes nothing.
  const again = makeStore({ files, timers: new ManualTimers(), config })
  await again.store.start()
  const found = again.store.find(topicId, 0)!
  expect(factsOf(found), context).toEqual(before)
  expect(await readRecords(subject, found), context).toEqual(records)
  await again.store.stop()
}

/**
 * Two seeds that have been seen to reach everything, and those that once found something. `CRASH_SEEDS` asks for so many new ones in their
 * place, `SEED` for one alone.
 */
const seeds = seedsOf([1, 2, 1909841387])

describe('a crash at every call on the files', () => {
  for (const seed of seeds) {
    test(`takes nothing that was promised, seed ${seed}`, async () => {
      for (let crashAt = 0; ; crashAt++) {
        const wreck = await runUntil(crashAt, seed, seed % 2 === 0)
        if (wreck === undefined) break
        for (const [kept, files] of wreck.left) await check(files, wreck.promise, wreck.topicId, `seed ${seed}, call ${crashAt}, ${kept} kept`)
      }
    })
  }
})
