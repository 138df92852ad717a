import { type PartitionLog } from '../../../src/kernel/ports/partition-log.ts'
import { batchesIn, RecordBatch } from '../../../src/kernel/record/record-batch.ts'
import { append, makeBatch, readBytes, recordsOf } from '../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../src/testkit/world/manual-clock.ts'
import { type MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'
import { makeStore, type TestStore } from '../../unit/plugins/storage-local/store-subjects.ts'
import { type Recovery } from './crash-protocol.ts'
import { compareImages, imageOf } from './image-check.ts'
import { type LogPromise, type StorePromises } from './log-promise.ts'
import { redoGoesRound } from './redo-goes-round.ts'
import { directoriesOf, stageConfig, type StageOptions } from './store-stage.ts'

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }

/** What a client can find out about a log. */
interface Served {
  readonly start: number
  readonly end: number
  readonly bytes: Uint8Array
  readonly lastEpoch: number
  readonly epochEnds: readonly string[]
}

function fault(log: LogPromise, what: string): Error {
  return new Error(`${log.topic}-${log.partition}: ${what}`)
}

/**
 * Starts a store on what was left, and holds it against what was promised; then again on what that start left after a power cut or a kill, which
 * has to serve and to hold the same; at last after an orderly stop. Throws when something is wrong.
 */
export async function checkStore(files: MemoryFileSystem, promises: StorePromises, options: StageOptions, number: number): Promise<Recovery> {
  const directories = directoriesOf(options)
  const clean = directories.filter(directory => files.stat(`${directory}/.kafka_cleanshutdown`) !== undefined)
  const first = await started(files, options)
  // Before anything is read: a closed segment's index that a crash took is made anew by the first reader, for this process.
  const image = imageOf(files, directories)
  const served = await servedAll(first, promises, options)
  // Nothing of the first start is needed any more: its process is dead.
  const left = files.afterCrash({ keepUnsynced: number % 2 === 0 ? 'none' : 'all' })
  const second = await started(left, options)
  // After a clean stop nothing was recovered: the indexes are as the stop left them, the end of the active one included.
  compareImages(image, imageOf(left, directories), { clean, isCompacted: promises.logs.some(({ compaction }) => compaction !== 'no') })
  compareServed(served, await servedAll(second, promises, options))
  if (number % 4 === 0) await checkStopped(second, left, served, promises, options)
  else await checkGoesOn(second, promises)
  // After those that go on, for what was appended again is in the redo log with all else.
  if (number % 8 === 1) await redoGoesRound(second.store, second.timers)
  return 'recovered'
}

interface Life extends TestStore {
  readonly timers: ManualTimers
}

async function started(files: MemoryFileSystem, options: StageOptions): Promise<Life> {
  const timers = new ManualTimers()
  const made = makeStore({ files, timers, directories: directoriesOf(options), config: { ...stageConfig, ...options.config } })
  await made.store.start()
  return { ...made, timers }
}

async function servedAll({ store, logger }: TestStore, promises: StorePromises, { disk }: StageOptions): Promise<Map<LogPromise, Served | undefined>> {
  // What was set aside is out of sight before the redo log says so, and then kept twice.
  const aside = new Set(promises.logs.filter(({ keptAside }) => keptAside).map(({ topicId }) => topicId))
  const errors = logger.lines.filter(({ level, message, fields }) => level === 'error' && !(message.includes('they were put aside') && aside.has(String(fields['topicId']))))
  if (errors.length > 0) throw new Error(`the store logged errors: ${errors.map(line => JSON.stringify(line)).join('; ')}`)
  const all = new Map<LogPromise, Served | undefined>()
  const strays = disk?.garbage === true ? promises.logs : []
  for (const promise of promises.logs) {
    const log = store.find(promise.topicId, promise.partition)
    if (log === undefined && promise.state === 'there') throw fault(promise, 'it is not there')
    if (log !== undefined && promise.state === 'gone') throw fault(promise, 'it was removed, and is there')
    log?.configure(topicSettings())
    all.set(promise, log === undefined ? undefined : await servedBy(log, promise, strays))
  }
  return all
}

/** `strays`: logs whose batches a power cut may have left in blocks that this one was given and never reached. */
async function servedBy(log: PartitionLog, promise: LogPromise, strays: readonly LogPromise[]): Promise<Served> {
  const { startOffset: start, endOffset: end, lastEpoch } = log
  if (end < promise.flushed) throw fault(promise, `it ends at ${end}, and was flushed up to ${promise.flushed}`)
  if (start < promise.start) throw fault(promise, `it begins at ${start}, and was deleted below ${promise.start}`)
  if (start > promise.startAtMost) throw fault(promise, `it begins at ${start}, and nothing from ${promise.startAtMost} on was to be deleted`)
  if (end > Math.max(promise.endAtMost, start)) throw fault(promise, `it ends at ${end}, and was truncated to ${promise.endAtMost}`)
  const bytes = await bytesOf(log, promise)
  const epochs = new Map<number, number>()
  let next = -1
  for (const batch of batchesIn(bytes)) {
    const { at, sizeBytes, baseOffset, leaderEpoch } = batch
    if (promise.compaction === 'no' ? next >= 0 ? baseOffset !== next : baseOffset > start : baseOffset < next) throw fault(promise, `there is a hole before ${baseOffset}, or it is there twice`)
    next = batch.nextOffset
    const found = bytes.subarray(at, at + sizeBytes)
    const candidates = promise.appended.get(baseOffset) ?? []
    const isOf = promise.compaction === 'no' ? isEqual : isLeftOf
    // A whole one of another log, at its own offset and behind all that was promised, is as good as one that was written and not synced.
    const isStray = baseOffset >= promise.flushed && strays.some(other => other !== promise && other.appended.get(baseOffset)?.some(({ bytes: sent }) => isEqual(sent, found)))
    if (!isStray && !candidates.some(candidate => isOf(candidate.bytes, found))) throw fault(promise, `the batch at ${baseOffset} is none that was appended there`)
    if (!epochs.has(leaderEpoch)) epochs.set(leaderEpoch, Math.max(start, baseOffset))
  }
  if (start < end && next !== end) throw fault(promise, `its batches end at ${next}, and it says ${end}`)
  if (promise.compaction === 'no') checkEpochs(log, promise, [...epochs])
  else if (promise.compaction === 'keeps the last') checkKeys(promise, start, bytes)
  checkTimes(log, promise, bytes)
  await checkPlaces(log, promise)
  return { start, end, bytes, lastEpoch, epochEnds: Array.from({ length: lastEpoch + 2 }, (_, epoch) => JSON.stringify(log.epochEnd(epoch))) }
}

/** What compaction may leave of a batch: its header's facts, and some of its records as they were. */
function isLeftOf(sent: Uint8Array, found: Uint8Array): boolean {
  const [before, after] = [new RecordBatch(sent), new RecordBatch(found)]
  if (before.lastOffset !== after.lastOffset || before.producerId !== after.producerId || before.baseSequence !== after.baseSequence || before.leaderEpoch !== after.leaderEpoch) return false
  const records = new Set(recordTexts(sent))
  return recordTexts(found).every(record => records.has(record))
}

const recordTexts = (bytes: Uint8Array): string[] => [...new RecordBatch(bytes).records()].map(({ offset, timestamp, key, value }) => JSON.stringify([offset, timestamp, textOf(key), textOf(value)]))

const textOf = (bytes: Uint8Array | null): string | null => bytes === null ? null : Buffer.from(bytes).toString()

/** The last record of each key that was flushed is there; a tombstone at least for a day, and no image is that old. */
function checkKeys(promise: LogPromise, start: number, bytes: Uint8Array): void {
  const last = new Map<string, string>()
  for (const batches of promise.appended.values()) {
    for (const { bytes: sent, endOffset } of batches.slice(-1)) {
      if (endOffset > promise.flushed) continue
      for (const { offset, key } of new RecordBatch(sent).records()) last.set(String(textOf(key)), String(offset))
    }
  }
  const found = new Set<string>()
  // What was appended behind and not flushed may be there too, and have overtaken it.
  const newer = new Set<string>()
  for (const batch of batchesIn(bytes)) {
    for (const { offset, key } of batch.records()) {
      found.add(String(offset))
      if (offset >= promise.flushed) newer.add(String(textOf(key)))
    }
  }
  for (const [key, offset] of last) if (Number(offset) >= start && !found.has(offset) && !newer.has(key)) throw fault(promise, `the last record of ${key}, at ${offset}, is gone`)
}

async function bytesOf(log: PartitionLog, promise: LogPromise): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let next = log.startOffset
  while (next < log.endOffset) {
    const piece = await readBytes(subject, log, { offset: next })
    if (piece.length === 0) throw fault(promise, `nothing can be read at ${next}, below its end`)
    pieces.push(piece)
    for (const batch of batchesIn(piece)) next = batch.nextOffset
  }
  return Buffer.concat(pieces)
}

function checkEpochs(log: PartitionLog, promise: LogPromise, epochs: readonly (readonly [epoch: number, start: number])[]): void {
  for (const [index, [epoch]] of epochs.entries()) {
    const expected = epochs[index + 1]?.[1] ?? log.endOffset
    const { leaderEpoch, endOffset } = log.epochEnd(epoch)
    if (leaderEpoch !== epoch || endOffset !== expected) throw fault(promise, `epoch ${epoch} is said to end at ${endOffset} of epoch ${leaderEpoch}, and ends at ${expected}`)
  }
}

/** Lookups by time give what a scan of all records does. */
function checkTimes(log: PartitionLog, promise: LogPromise, bytes: Uint8Array): void {
  const records = recordsOf(bytes).filter(({ offset }) => offset >= log.startOffset)
  const times = new Set(records.map(({ timestamp }) => timestamp))
  for (const wanted of [...times].slice(0, 8).flatMap(time => [time, time + 1])) {
    const expected = records.find(({ timestamp }) => timestamp >= wanted)?.offset
    const found = log.locate(wanted, log.endOffset)?.offset
    if (found !== expected) throw fault(promise, `a lookup of time ${wanted} gives offset ${found}, and a scan ${expected}`)
  }
}

/** Some offsets are found by the index. */
async function checkPlaces(log: PartitionLog, promise: LogPromise): Promise<void> {
  const { startOffset: start, endOffset: end } = log
  for (let offset = start; offset < end; offset += Math.max(1, Math.floor((end - start) / 5))) {
    const [batch] = batchesIn(await readBytes(subject, log, { offset, maxBytes: 1 }))
    if (batch === undefined || (promise.compaction === 'no' && batch.baseOffset > offset) || batch.lastOffset < offset) throw fault(promise, `a read at ${offset} gives another batch`)
  }
}

function compareServed(first: ReadonlyMap<LogPromise, Served | undefined>, second: ReadonlyMap<LogPromise, Served | undefined>): void {
  for (const [promise, before] of first) {
    const after = second.get(promise)
    if (before === undefined || after === undefined) {
      if (before !== after) throw fault(promise, `another start ${before === undefined ? 'finds it' : 'does not find it'}`)
      continue
    }
    for (const key of ['start', 'end', 'lastEpoch'] as const) if (before[key] !== after[key]) throw fault(promise, `another start changes its ${key} from ${before[key]} to ${after[key]}`)
    if (before.epochEnds.join() !== after.epochEnds.join()) throw fault(promise, 'another start changes its epochs')
    if (!isEqual(before.bytes, after.bytes)) throw fault(promise, 'another start changes its bytes')
  }
}

/** What producers sent again after a crash is known, and the log takes more. */
async function checkGoesOn({ store }: TestStore, promises: StorePromises): Promise<void> {
  for (const promise of promises.logs) {
    const log = store.find(promise.topicId, promise.partition)
    if (log === undefined) continue
    for (const { producerId, bytes, baseOffset } of promise.produced.values()) {
      const outcome = append(log, bytes.slice(), Math.max(0, log.lastEpoch))
      if (!outcome.duplicate || outcome.baseOffset !== baseOffset) throw fault(promise, `the batch of producer ${producerId} at ${baseOffset}, sent again, is taken for a new one`)
    }
    const { endOffset } = log
    if (append(log, makeBatch(2), Math.max(0, log.lastEpoch)).baseOffset !== endOffset) throw fault(promise, 'it does not go on at its end')
  }
  await store.flush()
  for (const { topicId, partition } of promises.logs) {
    const log = store.find(topicId, partition)
    if (log !== undefined && log.flushedOffset !== log.endOffset) throw new Error('a flush does not reach the end')
  }
}

/** An orderly stop of what was recovered, and the start after it, change nothing. */
async function checkStopped(made: TestStore, files: MemoryFileSystem, served: ReadonlyMap<LogPromise, Served | undefined>, promises: StorePromises, options: StageOptions): Promise<void> {
  await made.store.stop()
  const again = await started(files, options)
  compareServed(served, await servedAll(again, promises, options))
}

function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && Buffer.compare(left, right) === 0
}
