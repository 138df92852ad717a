import { describe, expect, it } from 'vitest'
import { observeIntegrity } from '../../../../src/plugins/storage-local/metrics.ts'
import { append, makeBatch, newTopicId, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { RecordingMetrics } from '../../../../src/testkit/world/recording-telemetry.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeStore } from './store-subjects.ts'

const id = { topic: 'orders', topicId: newTopicId(), partition: 0 }
const settings = topicSettings({ segmentBytes: 4000, retentionMs: -1, indexIntervalBytes: 1 })
const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }
const path = (base: number, suffix = '.log'): string => `/data/orders-0/${String(base).padStart(20, '0')}${suffix}`

/** All of one length. */
const valueOf = (offset: number): string => `${String(offset).padStart(2, '0')} `.repeat(300)

/** Twenty batches of one record in segments of four; what the first life wrote is not known to the next. */
async function written(end: 'stopped' | 'power cut'): Promise<MemoryFileSystem> {
  const files = new MemoryFileSystem()
  const { store } = makeStore({ files, timers: new ManualTimers(), config: { redoBytesMax: 0 } })
  await store.start()
  const log = store.create(id, settings)
  for (let count = 0; count < 20; count++) append(log, makeBatch([{ timestamp: 1000 + count, value: valueOf(count) }]))
  await store.flush()
  if (end === 'power cut') return files.afterCrash({ keepUnsynced: 'all', systemDown: true })
  await store.stop()
  return files
}

async function started(files: MemoryFileSystem, config: Record<string, unknown> = {}) {
  const timers = new ManualTimers()
  const life = makeStore({ files, timers, config: { redoBytesMax: 0, scrubBytesPerSecond: 0, ...config } })
  const metrics = new RecordingMetrics()
  observeIntegrity(metrics, life.store.integrity, () => 0)
  await life.store.start()
  return { ...life, timers, log: life.store.find(id.topicId, 0)!, metrics }
}

const levels = ({ logger }: Awaited<ReturnType<typeof started>>) => logger.lines.filter(({ level }) => level !== 'info').map(({ level, message }) => [level, message.split(/[:,]/)[0]])
const misread = ['warn', 'bytes were read wrong from the disk']
const values = (records: readonly { readonly offset: number, readonly value: unknown }[]) => records.map(({ offset, value }) => [offset, Buffer.from(value as Uint8Array).toString()])
const right = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => [from + index, valueOf(from + index)])

/** One read of a segment, or several, brings a wrong bit within a batch; what is on the disk is right. */
function misreads(files: MemoryFileSystem, { base, batch, at, times }: { readonly base: number, readonly batch: number, readonly at: number, readonly times: number }): void {
  const position = batch * files.stat(path(base))!.bytes / 4 + at
  files.faults.add({ operation: 'read', path: path(base), damage: 'bit flipped', place: { position, bit: 3 }, times })
}

describe.each([['a header', 14], ['the records', 300]])('a wrong bit in %s of a batch', (_what, at) => {
  it('that one read brings is no damage: the second read is served, both are told, and the log goes on', async () => {
    const files = await written('stopped')
    const life = await started(files)
    misreads(files, { base: 8, batch: 1, at, times: 1 })
    expect(values(await readRecords(subject, life.log, 9))).toEqual(right(9, 20))
    expect(files.counts.of('read: bit flipped')).toBe(1)
    expect(life.store.integrity.failedChecks).toEqual({ first: 1, second: 0 })
    expect([life.metrics.count('millrace_log_failed_checks_total', { read: 'first' }), life.metrics.count('millrace_log_failed_checks_total', { read: 'second' })]).toEqual([1, 0])
    expect(levels(life)).toEqual([misread])
    expect(life.logger.lines.at(-1)!.fields).toMatchObject({ topic: 'orders', partition: 0, path: path(8), position: files.stat(path(8))!.bytes / 4 })
    expect([life.store.integrity.damageCount, life.store.check().state]).toEqual([0, 'ok'])
  })

  it('that two reads bring is damage: nothing of the batch is served, and it is told with path, position and offset', async () => {
    const files = await written('stopped')
    const life = await started(files)
    misreads(files, { base: 8, batch: 1, at, times: 2 })
    await expect(readRecords(subject, life.log, 9)).rejects.toMatchObject({ code: 'MR_LOG_ROTTEN', details: { first: 9, last: 9, path: path(8) } })
    expect(files.counts.of('read: bit flipped')).toBe(2)
    expect(life.store.integrity.failedChecks).toEqual({ first: 1, second: 1 })
    expect(levels(life)).toEqual([['error', 'a log is damaged']])
    expect(life.store.check().state).toBe('degraded')
    expect(life.log.damage).toMatchObject([{ first: 9, last: 9 }])
    expect(life.metrics.value('millrace_log_partition_damaged_places')).toEqual([{ labels: { topic: 'orders', partition: '0' }, value: 1 }])
    expect(life.metrics.value('millrace_log_damaged_places')).toBe(1)
    // The bus is well again: what is on the disk always was.
    expect(values(await readRecords(subject, life.log, 9))).toEqual(right(9, 20))
    expect(levels(life).at(-1)).toEqual(['warn', 'what was damaged reads well now'])
    expect(life.store.check().state).toBe('ok')
    expect([life.log.damage, life.metrics.value('millrace_log_partition_damaged_places'), life.metrics.value('millrace_log_damaged_places')]).toEqual([[], [], 0])
  })

  it('is nothing of a topic of the same name that is made when the damaged one was deleted', async () => {
    const files = await written('stopped')
    const life = await started(files)
    files.flipBit(path(8), files.stat(path(8))!.bytes / 4 + at, 3)
    await expect(readRecords(subject, life.log, 9)).rejects.toMatchObject({ code: 'MR_LOG_ROTTEN' })
    life.store.remove(id.topicId, 0)
    expect(life.store.create({ ...id, topicId: newTopicId() }, settings).damage).toEqual([])
    expect(life.store.check().state).toBe('ok')
  })

  it('that is on the disk is read twice when it is met, and no more often each time afterwards', async () => {
    const files = await written('stopped')
    const life = await started(files)
    files.flipBit(path(8), files.stat(path(8))!.bytes / 4 + at, 3)
    for (let count = 0; count < 3; count++) await expect(readRecords(subject, life.log, 9)).rejects.toMatchObject({ code: 'MR_LOG_ROTTEN' })
    expect(life.store.integrity.failedChecks).toEqual({ first: 1, second: 1 })
    expect(levels(life)).toEqual([['error', 'a log is damaged']])
  })
})

describe('a wrong byte on the way from the disk', () => {
  it.each([[1, 0], [2, 1]])('that the scrubber meets in %d reads makes %d damaged places', async (times, damaged) => {
    const files = await written('stopped')
    const life = await started(files, { scrubBytesPerSecond: 1 << 20, scrubIntervalMs: 60_000 })
    misreads(files, { base: 8, batch: 1, at: 300, times })
    for (let second = 0; second < 100; second++) {
      life.timers.advance(1000)
      await settled()
    }
    expect(life.store.integrity).toMatchObject({ passes: 1, damageCount: damaged, failedChecks: { first: 1, second: damaged } })
    expect(files.counts.of('read: bit flipped')).toBe(times)
    expect(levels(life)).toEqual([damaged === 0 ? misread : ['error', 'a log is damaged']])
    expect(files.stat(path(8, '.sum'))).toBeDefined()
  })

  it.each([1, 2])('that a look-up by time meets in %d reads gives no other offset', async times => {
    const files = await written('stopped')
    const life = await started(files)
    misreads(files, { base: 8, batch: 1, at: 300, times })
    const look = (): unknown => life.log.locate(1009, 20)
    if (times === 1) expect(look()).toMatchObject({ offset: 9, timestamp: 1009 })
    else expect(look).toThrow(expect.objectContaining({ code: 'MR_LOG_ROTTEN' }))
    expect(life.store.integrity.failedChecks).toEqual({ first: 1, second: times - 1 })
  })

  it('in the checksums themselves takes them from no segment', async () => {
    const files = await written('stopped')
    const life = await started(files)
    files.faults.add({ operation: 'read', path: path(8, '.sum'), damage: 'bit flipped', place: { position: 48 + 16 + 9, bit: 1 }, times: 1 })
    expect(values(await readRecords(subject, life.log, 9))).toEqual(right(9, 20))
    expect(files.counts.of('read: bit flipped')).toBe(1)
    expect(files.stat(path(8, '.sum'))).toBeDefined()
    expect(life.store.integrity.damageCount).toBe(0)
  })

  it('in checksums that are asked who is wrong does not let through what no CRC covers', async () => {
    const files = await written('stopped')
    // The leader epoch of the batch at 9.
    files.flipBit(path(8), files.stat(path(8))!.bytes / 4 + 14, 3)
    const life = await started(files)
    // The first read is of the entries, the second and third are of the whole file: is it what was written?
    files.faults.add({ operation: 'read', path: path(8, '.sum'), damage: 'bit flipped', place: { position: 48 + 2 * 16 + 9, bit: 1 }, skip: 2, times: 1 })
    await expect(readRecords(subject, life.log, 9)).rejects.toMatchObject({ code: 'MR_LOG_ROTTEN' })
    expect(files.counts.of('read: bit flipped')).toBe(1)
    expect(files.stat(path(8, '.sum'))).toBeDefined()
  })

  it('that a start after a power cut meets once takes nothing of the log; met twice it ends the log there, with all that follows set aside', async () => {
    const once = await written('power cut')
    misreads(once, { base: 16, batch: 2, at: 300, times: 1 })
    const life = await started(once)
    expect(once.counts.of('read: bit flipped')).toBe(1)
    expect([life.log.endOffset, life.store.integrity.failedChecks]).toEqual([20, { first: 1, second: 0 }])
    expect(levels(life)).toEqual([misread])
    expect(values(await readRecords(subject, life.log, 0))).toEqual(right(0, 20))
    const aside = (files: MemoryFileSystem): string[] => files.list('/data/orders-0').filter(name => name.includes('set-aside'))
    expect(aside(once)).toEqual([])
    const twice = await written('power cut')
    misreads(twice, { base: 16, batch: 2, at: 300, times: 2 })
    expect([(await started(twice)).log.endOffset, aside(twice).length]).toEqual([18, 1])
  })

  it('that a start meets once below the recovery point keeps no log out of service; where it is on the disk it does, after two loads', async () => {
    const left = async () => {
      const files = await written('stopped')
      for (const name of ['.kafka_cleanshutdown', ...files.list('/data/orders-0').filter(name => /snapshot$|index$/.test(name)).map(name => `orders-0/${name}`)]) files.remove(`/data/${name}`)
      return files.afterCrash({ keepUnsynced: 'all', systemDown: true })
    }
    const rotten = await left()
    rotten.flipBit(path(16), 300, 3)
    const bad = await started(rotten)
    expect(() => bad.log.locate(0, 20)).toThrow(expect.objectContaining({ code: 'MR_LOG_CORRUPT' }))
    expect(bad.store.integrity.failedChecks).toEqual({ first: 1, second: 1 })
    const sound = await left()
    misreads(sound, { base: 16, batch: 0, at: 300, times: 1 })
    const good = await started(sound)
    expect(sound.counts.of('read: bit flipped')).toBe(1)
    expect(values(await readRecords(subject, good.log, 0))).toEqual(right(0, 20))
    expect(good.store.integrity.failedChecks).toEqual({ first: 1, second: 0 })
  })
})
