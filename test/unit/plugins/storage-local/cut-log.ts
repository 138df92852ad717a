import { expect } from 'vitest'
import { type BatchFields } from '../../../../src/kernel/record/batch-builder.ts'
import { type SegmentedLog } from '../../../../src/plugins/storage-local/segmented-log.ts'
import { append, makeBatch, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeStore, type TestStore } from './store-subjects.ts'

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }
export const cutId = { topic: 'cut', topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partition: 0 }
export const cutDirectory = '/data/cut-0'
/** Rolls after a few batches, with an index entry for every other. */
export const cutSettings = topicSettings({ segmentBytes: 400, indexIntervalBytes: 100, retentionMs: -1, fileDeleteDelayMs: 5000 })

interface Sent {
  readonly producerId: number
  readonly sequence: number
  readonly base: number
  readonly end: number
  /** Of the last record; those of a batch go up one by one. */
  readonly timestamp: number
}

/** Producers are told apart by it: of three one goes on behind a truncation, and two are others. */
let era = 0
/** The one that goes on. */
let lasting = 0

/** One log of idempotent producers that is cut, and what has to be in it. */
export class CutLog {
  readonly files: MemoryFileSystem
  readonly timers: ManualTimers
  readonly life: TestStore
  readonly log: SegmentedLog
  private batches: Sent[]
  private start: number
  private readonly config: Record<string, unknown>

  private constructor(files: MemoryFileSystem, timers: ManualTimers, life: TestStore, config: Record<string, unknown>, batches: Sent[], start: number) {
    this.files = files
    this.timers = timers
    this.life = life
    this.config = config
    this.batches = batches
    this.start = start
    this.log = life.store.find(cutId.topicId, 0) ?? life.store.create(cutId, cutSettings)
    this.log.configure(cutSettings)
  }

  static async begin(config: Record<string, unknown> = {}): Promise<CutLog> {
    return CutLog.on(new MemoryFileSystem(), new ManualTimers(), config, [], 0)
  }

  private static async on(files: MemoryFileSystem, timers: ManualTimers, config: Record<string, unknown>, batches: Sent[], start: number): Promise<CutLog> {
    const life = makeStore({ files, timers, config: { residentBytes: 1 << 30, reserveBytes: 4096, ...config } })
    await life.store.start()
    return new CutLog(files, timers, life, config, batches, start)
  }

  /** Appends so many batches, of one to three records, by three producers in turn. */
  put(count: number): void {
    for (let index = 0; index < count; index++) {
      const base = this.log.endOffset
      const turn = this.batches.length % 3
      const producerId = turn === 0 ? lasting : 3 * era + turn
      const before = this.lastOf(producerId)
      const sent = { producerId, sequence: before === undefined ? 0 : before.sequence + before.end - before.base, base, end: base + 1 + this.batches.length % 3, timestamp: 1000 + (this.batches.length * 7919) % 500 }
      append(this.log, batchOf(sent))
      this.batches.push(sent)
    }
  }

  deleteTo(offset: number): void {
    this.log.raiseHighWatermark(this.log.flushedOffset)
    this.log.deleteTo(offset)
    this.start = offset
  }

  /** Retention has moved the log start. */
  sweptTo(offset: number): void { this.start = offset }

  truncateTo(offset: number): void {
    const [first] = this.segmentBases
    this.log.truncateTo(offset)
    this.expectCut(offset, first)
  }

  /** It was cut, when its first segment began at `first`. */
  expectCut(offset: number, first = 0): void {
    this.batches = this.batches.filter(({ end }) => end <= offset)
    era++
    if (offset < first) {
      // Of producers whose records are in no file any more nothing may be known.
      this.batches = []
      lasting = 3 * era
    }
    this.start = Math.min(this.start, offset)
  }

  /** Where batches begin, from the log start on. */
  get bases(): readonly number[] { return this.batches.map(({ base }) => base).filter(base => base > this.start) }
  get segmentBases(): readonly number[] { return this.log.state.segments.map(({ baseOffset }) => baseOffset) }

  async turns(): Promise<void> {
    for (let turn = 0; turn < 60; turn++) await Promise.resolve()
  }

  async flush(): Promise<void> {
    await this.life.store.flush()
    expect(this.log.flushedOffset).toBe(this.log.endOffset)
  }

  /** The next life on what is left; in it there is what was flushed before, and maybe more. */
  async next(end: 'power cut' | 'kill' | 'stop'): Promise<CutLog> {
    const { flushedOffset: flushed, endOffset } = this.log
    if (end === 'stop') await this.life.store.stop()
    const files = this.files.afterCrash({ keepUnsynced: end === 'power cut' ? 'none' : 'all' })
    const next = await CutLog.on(files, new ManualTimers(this.timers.clock), this.config, [...this.batches], this.start)
    const found = next.log.endOffset
    expect(found).toBeGreaterThanOrEqual(end === 'power cut' ? flushed : endOffset)
    expect(found).toBeLessThanOrEqual(endOffset)
    if (found < endOffset) next.expectCut(found)
    return next
  }

  /** The next life after a truncation that has failed: the log goes to its old end, or is cut, or something between. */
  async nextAnyhow(end: 'power cut' | 'kill', offset: number, first = 0): Promise<CutLog> {
    const files = this.files.afterCrash({ keepUnsynced: end === 'power cut' ? 'none' : 'all' })
    const next = await CutLog.on(files, new ManualTimers(this.timers.clock), this.config, [...this.batches], this.start)
    const { startOffset, endOffset } = next.log
    expect(endOffset).toBeGreaterThanOrEqual(Math.min(offset, ...this.batches.filter(batch => batch.end > offset).map(({ base }) => base)))
    expect(endOffset).toBeLessThanOrEqual(this.batches.at(-1)!.end)
    expect([this.start, Math.min(this.start, offset)]).toContain(startOffset)
    next.expectCut(endOffset === startOffset ? Math.min(offset, startOffset) : endOffset, first)
    next.start = startOffset
    return next
  }

  /** How many calls have failed. */
  faultsMet(): number {
    return this.files.counts.all().reduce((sum, [what, count]) => /: (EIO|ENOSPC)/.test(what) ? sum + count : sum, 0)
  }

  /** All that a client can find out, and nothing that an operator should look at. */
  async check(): Promise<void> {
    const { log, batches, start } = this
    expect(this.life.logger.lines.filter(({ level, message }) => level === 'error' && !message.startsWith('the disk is full'))).toEqual([])
    expect(this.files.list(cutDirectory).filter(name => name.includes('set-aside'))).toEqual([])
    const records = batches.flatMap(({ base, end, timestamp }) => Array.from({ length: end - base }, (_, index) => ({ offset: base + index, timestamp: timestamp + index }))).filter(({ offset }) => offset >= start)
    expect([log.startOffset, log.endOffset]).toEqual([start, Math.max(start, batches.at(-1)?.end ?? 0)])
    expect((await readRecords(subject, log)).map(({ offset, timestamp }) => ({ offset, timestamp }))).toEqual(records)
    for (let timestamp = 1000; timestamp < 1500; timestamp += 41) expect(log.locate(timestamp, log.endOffset)?.offset, `time ${timestamp}`).toBe(records.find(record => record.timestamp >= timestamp)?.offset)
    this.checkProducers()
  }

  /** What is left of each is known, with its offset, and what was cut is not. */
  private checkProducers(): void {
    const { log } = this
    for (const producerId of new Set(this.batches.map(batch => batch.producerId))) {
      const last = this.lastOf(producerId)!
      const length = last.end - last.base
      expect(append(log, batchOf(last)), `producer ${producerId}, again`).toEqual({ baseOffset: last.base, lastOffset: last.end - 1, duplicate: true })
      expect(log.state.producers.check(batchOf({ ...last, sequence: last.sequence + length }), 0), `producer ${producerId}, the next one`).toBe('append')
      expect(() => append(log, batchOf({ ...last, sequence: last.sequence + length + 1 })), `producer ${producerId}, behind one that is not there`).toThrow(/sequence/)
    }
  }

  private lastOf(producerId: number): Sent | undefined { return this.batches.findLast(batch => batch.producerId === producerId) }
}

function batchOf({ producerId, sequence, base, end, timestamp }: Sent): Uint8Array {
  const fields: BatchFields = { producerId, producerEpoch: 0, baseSequence: sequence }
  return makeBatch(Array.from({ length: end - base }, (_, index) => ({ timestamp: timestamp + index, value: `${producerId} ${sequence}` })), fields)
}

/** Lets what is under way come to its end, with the time that it takes. */
export async function passTime(cut: CutLog, ms: number): Promise<void> {
  cut.timers.advance(ms)
  await settled()
}

export const cutConfigs: Readonly<Record<string, Record<string, unknown>>> = {
  'with a redo log': { redoSync: 'pooled' },
  'without a redo log': { redoBytesMax: 0 },
}

/** Segments of a few batches; the log start is inside the first one. Some is on the disk, some in the redo log alone, if there is one. */
export async function begunCutLog(config: Record<string, unknown>): Promise<CutLog> {
  const cut = await CutLog.begin(config)
  cut.put(2)
  await cut.flush()
  cut.put(16)
  await cut.flush()
  await passTime(cut, 61_000)
  cut.deleteTo(cut.segmentBases[1]! + 1)
  cut.put(3)
  await cut.turns()
  return cut
}

/** The same on a disk without a reserve, all of it flushed and below the high watermark. */
export async function flushedCutLog(config: Record<string, unknown> = {}): Promise<CutLog> {
  const cut = await begunCutLog({ reserveBytes: 0, ...config })
  expect(cut.log.flushedOffset).toBe(cut.log.endOffset)
  cut.log.raiseHighWatermark(cut.log.endOffset)
  return cut
}
