import { describe, expect, it } from 'vitest'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { HeldReads, putKeys, recordsOfTable, settleTable, tableDirectory, tableOn, tableSettings, valuesOfTable, type TableLife } from './table-log.ts'

const lastValues = (count: number, keys = 5, bytes = 20): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index % keys}`, `${index}`.padEnd(bytes, '.')]))

/** Lets time pass in steps of a second, with whatever each brings; `each` is told the time since the beginning. */
async function pass({ timers }: TableLife, seconds: number, each: (ms: number) => void = () => {}): Promise<void> {
  for (let second = 1; second <= seconds; second++) {
    timers.advance(1000)
    await settled()
    each(second * 1000)
  }
}

describe('a partition whose compaction fails', () => {
  it('is tried again after 30 s, twice as long each time, an hour at most; is shown meanwhile, keeps no other from it, and is never given up', async () => {
    const life = await tableOn(new MemoryFileSystem(), { broker: { 'log.cleaner.enable': 'true', 'log.cleaner.backoff.ms': '1000' } })
    const other = life.store.create({ topic: 'other', topicId: newTopicId(), partition: 0 }, topicSettings(tableSettings))
    for (const log of [life.log, other]) putKeys(log, 40)
    await life.store.flush()
    for (const log of [life.log, other]) log.raiseHighWatermark(log.endOffset)
    life.files.faults.add({ operation: 'any', path: new RegExp(`${tableDirectory}/.*cleaned$`), error: 'EMFILE' })
    const tries: number[] = []
    let told = 0
    await pass(life, 20_000, ms => {
      const now = life.logger.lines.filter(({ message }) => message.includes('could not be compacted')).length
      if (now > told) tries.push(ms)
      told = now
    })
    const waits = tries.slice(1).map((at, index) => Math.round((at - tries[index]!) / 1000))
    expect(waits.slice(0, 9)).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600].map(seconds => expect.toSatisfy((wait: number) => wait >= seconds && wait <= seconds + 2)))
    expect(life.log.compaction!.failure).toEqual({ reason: expect.stringContaining('EMFILE'), nextTryMs: expect.any(Number) })
    expect(life.store.check()).toMatchObject({ state: 'degraded', detail: expect.stringContaining('table-0') })
    expect([other.compaction!.failure, other.compaction!.dirtyBytes, await valuesOfTable(other)]).toEqual([undefined, 0, lastValues(40)])
    expect((await recordsOfTable(life.log)).length).toBe(40)
    life.files.faults.clear()
    await pass(life, 3601)
    expect([life.log.compaction!.failure, life.log.compaction!.dirtyBytes, await valuesOfTable(life.log)]).toEqual([undefined, 0, lastValues(40)])
    expect(life.store.check().state).toBe('ok')
    expect((await recordsOfTable(life.log)).length).toBeLessThan(20)
  })
})

describe('log.cleaner.enable', () => {
  it.each([true, false])('%s: says whether logs are compacted by themselves; when somebody asks they are in either case', async enabled => {
    const life = await tableOn(new MemoryFileSystem(), { broker: { 'log.cleaner.enable': String(enabled), 'log.cleaner.backoff.ms': '1000' } })
    putKeys(life.log, 40)
    await settleTable(life)
    await pass(life, 3600)
    expect(life.log.compaction!.dirtyBytes > 0).toBe(!enabled)
    expect(life.store.cleaner.figures.count).toBe(enabled ? 1 : 0)
    expect((await life.store.compact()).logsCompacted).toBe(enabled ? 0 : 1)
    expect([life.log.compaction!.dirtyBytes, await valuesOfTable(life.log)]).toEqual([0, lastValues(40)])
  })
})

describe('log.cleaner.io.max.bytes.per.second', () => {
  it('bounds what a round reads and writes, but for one slice; and a round that waits for its budget ends with the store', async () => {
    const bytesPerSecond = 50_000
    const life = await tableOn(new MemoryFileSystem(), { settings: { segmentBytes: 200_000 }, broker: { 'log.cleaner.io.max.bytes.per.second': String(bytesPerSecond) } })
    putKeys(life.log, 1000, { keys: 400, bytes: 1000 })
    await settleTable(life)
    let report: Awaited<ReturnType<typeof life.store.compact>> | undefined
    let tookMs = 0
    void life.store.compact().then(found => { report = found })
    await settled()
    while (report === undefined) {
      life.timers.advance(20)
      tookMs += 20
      await settled()
      expect(tookMs).toBeLessThan(600_000)
    }
    const slice = 65_536
    expect(report.logsCompacted).toBe(1)
    expect(report.bytesRead + report.bytesWritten).toBeGreaterThan(1_000_000)
    expect((report.bytesRead + report.bytesWritten - 2 * slice) / bytesPerSecond * 1000).toBeLessThan(tookMs)
    // What is owed for reading twice what is there, and writing it once, at most; and the slices that timers are coarse by.
    expect(tookMs).toBeLessThan((2 * report.bytesRead) / bytesPerSecond * 1000 * 1.2)

    putKeys(life.log, 1000, { keys: 400, bytes: 1000 })
    await settleTable(life)
    const second = life.store.compact()
    await settled()
    await life.store.stop()
    expect((await second).logsCompacted).toBe(0)
    expect(life.files.list(tableDirectory).filter(name => /cleaned|swap/.test(name))).toEqual([])
  })
})

describe('a key table that gets full', () => {
  it.each([1, 2, 7])('cleans up to where it got, goes on there, and comes to what a large one comes to; %s keys fit', async keysMax => {
    const count = 120
    const make = async (bytes: number): Promise<TableLife> => {
      const life = await tableOn(new MemoryFileSystem(), { broker: { 'log.cleaner.dedupe.buffer.size': String(bytes), 'log.cleaner.io.buffer.load.factor': '1' } })
      for (let index = 0; index < count; index++) putKeys(life.log, 1, { keys: 11, from: (index * 7) % count })
      await settleTable(life)
      return life
    }
    const [small, large] = [await make((keysMax + 1) * 24), await make(1 << 20)]
    await large.store.compact()
    expect(large.store.cleaner.figures.count).toBe(1)
    const cleanedTo: number[] = []
    for (let round = 0; round < 100 && small.log.compaction!.dirtyBytes > 0; round++) {
      await small.store.compact()
      cleanedTo.push(small.log.compaction!.cleanedTo)
    }
    expect(small.store.cleaner.figures.count).toBeGreaterThan(1)
    expect(cleanedTo).toEqual([...cleanedTo].sort((left, right) => left - right))
    expect([small.log.compaction!.cleanedTo, small.log.compaction!.failure]).toEqual([large.log.compaction!.cleanedTo, undefined])
    expect(await recordsOfTable(small.log)).toEqual(await recordsOfTable(large.log))
  })
})

/** A table on a disk of which reads may be held, with nothing in the page cache. */
async function coldTable(): Promise<TableLife & { readonly files: HeldReads }> {
  const files = new HeldReads()
  const life = await tableOn(files, { config: { residentBytes: 0, idleFilesMax: 0, scrubIntervalMs: 60_000 }, settings: { fileDeleteDelayMs: 0 } })
  putKeys(life.log, 40)
  await settleTable(life)
  return { ...life, files }
}

describe('a read that is under way while its segment is compacted', () => {
  it.each([0, 1, 2])('gets whole batches, each of them right, wherever it began; held at its read number %s', async heldAt => {
    for (let offset = 0; offset < 40; offset++) {
      const { log, store, files, logger } = await coldTable()
      const appended = await recordsOfTable(log)
      files.holds = true
      const reading = recordsOfTable(log, offset)
      for (let turn = 0; turn < heldAt; turn++) {
        files.release()
        await settled()
      }
      files.holds = false
      await store.compact()
      expect(log.compaction!.dirtyBytes).toBe(0)
      files.release()
      const found = await reading
      for (const record of found) expect(appended[record.offset]).toEqual(record)
      const values = Object.fromEntries(found.map(({ key, value }) => [key, value]))
      expect(values).toEqual(Object.fromEntries(appended.slice(offset).map(({ key, value }) => [key, value])))
      expect(logger.lines.filter(({ level }) => level !== 'info')).toEqual([])
    }
  })
})

describe('the scrubber beside a swap', () => {
  it.each([false, true])('tells of no damage, whichever segment it was at, and finds all of the new ones sound; without checksums: %s', async withoutSums => {
    for (let heldAt = 0; heldAt < 8; heldAt++) {
      const made = await coldTable()
      await made.store.stop()
      if (withoutSums) for (const name of made.files.list(tableDirectory)) if (name.endsWith('.sum')) made.files.remove(`${tableDirectory}/${name}`)
      const { files } = made
      const life = await tableOn(files, { config: { residentBytes: 0, idleFilesMax: 0, scrubIntervalMs: 60_000, scrubBytesPerSecond: 1 << 20 } })
      const { store, log, logger, timers } = life
      log.raiseHighWatermark(log.endOffset)
      await store.flush()
      // Its checksums are known.
      await recordsOfTable(log)
      files.holds = true
      while (files.held.length === 0) await pass(life, 1)
      for (let turn = 0; turn < heldAt; turn++) {
        files.release()
        await pass(life, 1)
      }
      files.holds = false
      await store.compact()
      expect(log.compaction!.dirtyBytes).toBe(0)
      files.release()
      await pass(life, 200)
      expect(store.integrity.passes).toBeGreaterThan(1)
      expect(store.integrity.damages).toEqual([])
      // Those of the new segment have the name of those that it replaced.
      if (!withoutSums) expect(logger.lines.filter(({ message }) => message.includes('given up'))).toEqual([])
      expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
      expect(await valuesOfTable(log)).toEqual(lastValues(40))
      const again = await tableOn(files.afterCrash({ keepUnsynced: 'none' }), { timers })
      expect(await valuesOfTable(again.log)).toEqual(lastValues(40))
      expect(again.logger.lines.filter(({ level }) => level === 'error')).toEqual([])
    }
  })
})

const meanwhile: Readonly<Record<string, (life: TableLife) => void>> = {
  'DeleteRecords within a segment': ({ log }) => { log.deleteTo(7) },
  'DeleteRecords of segments': ({ log }) => { log.deleteTo(23) },
  'DeleteRecords of all': ({ log }) => { log.deleteTo(log.highWatermark) },
  'retention by size': ({ log, store }) => {
    log.configure(topicSettings({ ...tableSettings, delete: true, retentionBytes: 1200, retentionMs: -1 }))
    store.sweep()
  },
}

describe.each(Object.entries(meanwhile))('%s beside a compaction that is under way', (_, change) => {
  it('takes what it is to take, brings nothing back, and loses nothing else, at whichever read of the compaction it comes', async () => {
    for (let heldAt = 0; heldAt < 40; heldAt += 2) {
      const life = await coldTable()
      const { log, store, files, timers } = life
      files.holds = true
      let done = false
      const compacting = store.compact().then(() => { done = true })
      for (let turn = 0; turn < heldAt && !done; turn++) {
        await settled()
        files.release()
        await settled()
      }
      change(life)
      const { startOffset, endOffset } = log
      files.holds = false
      files.release()
      await compacting
      // And a round that is not disturbed.
      await settleTable(life)
      await store.compact()
      timers.advance(1000)
      await settled()
      expect([log.startOffset, log.endOffset]).toEqual([startOffset, endOffset])
      const kept = Object.fromEntries(Array.from({ length: endOffset }, (_, index) => index).filter(index => index >= startOffset).map(index => [`key ${index % 5}`, `${index}`.padEnd(20, '.')]))
      expect(await valuesOfTable(log), `held at ${heldAt}`).toEqual(kept)
      await store.flush()
      const again = await tableOn(files.afterCrash({ keepUnsynced: 'none' }), { timers })
      expect([again.log.startOffset, again.log.endOffset]).toEqual([startOffset, endOffset])
      expect(await valuesOfTable(again.log), `held at ${heldAt}, after a power cut`).toEqual(kept)
      for (const { logger } of [life, again]) expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
    }
  })
})

describe('a cut beside a compaction that is under way', () => {
  it.each([['in the middle', 18], ['into its first segment', 1]])('brings nothing back, and what is appended behind it stays and is to be compacted, at whichever read of the compaction it comes: %s', async (_where, cut) => {
    for (let heldAt = 0; heldAt < 24; heldAt++) {
      const life = await coldTable()
      const { log, store, files, timers } = life
      const appended = await recordsOfTable(log)
      files.holds = true
      let done = false
      const compacting = store.compact().then(() => { done = true })
      for (let turn = 0; turn < heldAt && !done; turn++) {
        await settled()
        files.release()
        await settled()
      }
      log.truncateTo(cut)
      const { endOffset } = log
      expect(endOffset).toBeLessThanOrEqual(cut)
      putKeys(log, 20, { from: 100 })
      files.holds = false
      files.release()
      await compacting
      expect(log.compaction!.cleanedTo).toBeLessThanOrEqual(endOffset)
      await settleTable(life)
      await store.compact()
      const found = await recordsOfTable(log)
      for (const record of found) if (record.offset < endOffset) expect(appended[record.offset]).toEqual(record)
      expect(await valuesOfTable(log)).toEqual(Object.fromEntries([115, 116, 117, 118, 119].map(index => [`key ${index % 5}`, `${index}`.padEnd(20, '.')])))
      expect(log.endOffset).toBe(endOffset + 20)
      const again = await tableOn(files.afterCrash({ keepUnsynced: 'none' }), { timers })
      expect(await recordsOfTable(again.log)).toEqual(found)
      for (const { logger } of [life, again]) expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
    }
  })
})
