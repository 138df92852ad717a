import zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { type CompressionCodec } from '../../../../src/kernel/record/compression-codec.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { append } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { withoutMemory } from '../without-memory.ts'
import { bytesOf } from './store-subjects.ts'
import { putKeys, recordsOfTable, settleTable, tableDirectory, tableOn, valuesOfTable, type TableLife } from './table-log.ts'
import { TurnThreads } from './turn-threads.ts'

/** So large that a thread is worth it. */
const largeTable = { settings: { segmentBytes: 400_000 } }

/** The zstd of newer releases of Node makes other bytes in a call that waits than in one that does not: there, what is compared is made by the other four. */
const codecs = 'zstdCompressSync' in zlib ? 4 : 5

/** Batches of all sizes, larger than what is given to a thread at a time too, by all codecs, with tombstones and producers that stop. */
function putBatches(log: PartitionLog, seed: number): void {
  const prng = new Prng(seed)
  const builder = new BatchBuilder(new NodeCompression())
  for (let batch = 0, bytes = 0; bytes < 4_000_000; batch++) {
    builder.reset()
    for (let count = 1 + prng.below(prng.below(8) === 0 ? 200 : 8); count > 0; count--) {
      builder.append(1000, Buffer.from(`key ${prng.below(300)}`), prng.below(20) === 0 ? null : Uint8Array.from({ length: prng.below(3000) }, () => prng.below(64)))
    }
    bytes += builder.sizeBytes
    append(log, builder.finish({ codec: prng.below(codecs) as CompressionCodec, ...prng.below(3) === 0 ? { producerId: 1000 + batch, producerEpoch: 0, baseSequence: 0 } : {} }))
  }
}

const segmentsOf = ({ files }: TableLife): Record<string, string> => Object.fromEntries(
  files.list(tableDirectory).filter(name => /\.(log|index|timeindex|sum)$/.test(name)).map(name => [name, Buffer.from(bytesOf(files, `${tableDirectory}/${name}`)).toString('base64')]))

describe('compaction in a thread', () => {
  it.each([1, 2, 3, 4])('leaves the same bytes as compaction on the event loop does, seed %s', async seed => {
    const threads = new TurnThreads()
    const [aside, here] = [await tableOn(threads.files = new MemoryFileSystem(), { ...largeTable, threads }), await tableOn(new MemoryFileSystem(), largeTable)]
    const reports = []
    for (const life of [aside, here]) {
      putBatches(life.log, seed)
      await settleTable(life)
      reports.push(await life.store.compact())
      expect(life.log.compaction!.failure).toBeUndefined()
    }
    expect(threads.started).toBe(1)
    expect(reports[0]).toEqual(reports[1])
    expect(aside.log.compaction).toEqual(here.log.compaction)
    expect(aside.store.cleaner.figures).toEqual(here.store.cleaner.figures)
    expect(segmentsOf(aside)).toEqual(segmentsOf(here))
    expect(reports[0]!.bytesWritten).toBeLessThan(reports[0]!.bytesRead / 2)
  })

  it('has a thread while something is compacted and no longer, and none for what is small', async () => {
    const threads = new TurnThreads()
    const small = await tableOn(threads.files = new MemoryFileSystem(), { threads })
    putKeys(small.log, 100)
    await settleTable(small)
    expect((await small.store.compact()).logsCompacted).toBe(1)
    expect(threads.started).toBe(0)

    const large = await tableOn(threads.files = new MemoryFileSystem(), { ...largeTable, threads })
    for (let round = 1; round <= 2; round++) {
      putKeys(large.log, 800, { bytes: 2000, from: round * 1000 })
      await settleTable(large)
      expect((await large.store.compact()).logsCompacted).toBe(1)
      expect([threads.started, threads.stopped]).toEqual([round, round])
    }
  })

  it('has a file open for each segment of a group and those that it writes, and no longer: a round that changes hardly anything has no more open', async () => {
    const most = []
    for (const keys of [100_000, 5]) {
      const threads = new TurnThreads()
      const life = await tableOn(threads.files = new MemoryFileSystem(), { ...largeTable, threads })
      // In each of many segments nothing was overtaken, or all but a few records.
      putKeys(life.log, 2000, { bytes: 2000, keys })
      await settleTable(life)
      expect(life.log.compaction!.dirtyBytes).toBeGreaterThan(3_000_000)
      await life.store.compact()
      expect(threads.open.size).toBe(0)
      most.push(threads.openMost)
    }
    expect(most[0]).toBeLessThanOrEqual(3)
    expect(most[0]).toBeLessThanOrEqual(most[1]!)
  })

  it('is made on the event loop where the system gives no thread, and it is said once', async () => {
    const threads = new TurnThreads()
    threads.areRefused = true
    const life = await tableOn(threads.files = new MemoryFileSystem(), { ...largeTable, threads })
    for (let round = 1; round <= 2; round++) {
      putKeys(life.log, 800, { bytes: 2000, from: round * 1000 })
      await settleTable(life)
      expect(await life.store.compact()).toMatchObject({ logsCompacted: 1, logsFailed: 0 })
    }
    expect(life.logger.lines.filter(({ message }) => message.startsWith('the thread of compaction has ended'))).toHaveLength(1)
  })

  it('loses nothing when its thread dies, at whichever message; it is said once, and the next round is made on the event loop', async () => {
    for (let diesAt = 1; ; diesAt += 2) {
      const threads = new TurnThreads()
      threads.diesAt = diesAt
      const life = await tableOn(threads.files = new MemoryFileSystem(), { ...largeTable, threads })
      putKeys(life.log, 800, { bytes: 2000 })
      await settleTable(life)
      const expected = await valuesOfTable(life.log)
      await life.store.compact()
      if (threads.count < diesAt) {
        // It was over before: all messages were tried.
        expect(diesAt).toBeGreaterThan(20)
        return
      }
      expect([await valuesOfTable(life.log), life.log.compaction!.failure], `dies at ${diesAt}`).toEqual([expected, undefined])
      await life.store.compact()
      expect(life.files.list(tableDirectory).filter(name => /cleaned|swap/.test(name))).toEqual([])
      expect([threads.started, life.log.compaction!.dirtyBytes, await valuesOfTable(life.log)]).toEqual([1, 0, expected])
      expect((await recordsOfTable(life.log)).length).toBeLessThan(300)
      expect(life.logger.lines.filter(({ level }) => level !== 'info').map(({ message }) => message)).toEqual([expect.stringContaining('the thread of compaction has ended')])
    }
  })

  it('fails for a round that finds no memory, at whichever message; that is shown, the thread lives on, and the round is made again after a while', async () => {
    let failures = 0
    for (let starvesAt = 1; ; starvesAt++) {
      const threads = new TurnThreads()
      threads.starvesAt = starvesAt
      const life = await tableOn(threads.files = new MemoryFileSystem(), { ...largeTable, threads })
      putKeys(life.log, 800, { bytes: 2000 })
      await settleTable(life)
      const expected = await valuesOfTable(life.log)
      const { logsFailed } = await life.store.compact()
      if (threads.count < starvesAt) return expect(failures).toBeGreaterThan(1)
      failures += logsFailed
      expect(life.log.compaction!.failure?.reason.includes('no memory for the compaction of table-0') ?? false, `at message ${starvesAt}`).toBe(logsFailed > 0)
      life.timers.advance(31_000)
      await life.store.compact()
      expect([life.log.compaction!.failure, life.log.compaction!.dirtyBytes, await valuesOfTable(life.log)], `at message ${starvesAt}`).toEqual([undefined, 0, expected])
      expect(threads.stopped).toBe(threads.started)
      expect(life.logger.lines.filter(({ level }) => level !== 'info').map(({ message }) => message)).toEqual(logsFailed > 0 ? [expect.stringContaining('could not be compacted')] : [])
    }
  })

  it('fails for a round on the event loop that finds no memory, and is made again after a while', async () => {
    const life = await tableOn(new MemoryFileSystem(), largeTable)
    putKeys(life.log, 800, { bytes: 2000 })
    await settleTable(life)
    const expected = await valuesOfTable(life.log)
    expect((await withoutMemory(() => life.store.compact())).logsFailed).toBe(1)
    expect(life.log.compaction!.failure!.reason).toContain('no memory for the compaction of table-0')
    life.timers.advance(31_000)
    expect((await life.store.compact()).logsCompacted).toBe(1)
    expect([life.log.compaction!.failure, await valuesOfTable(life.log)]).toEqual([undefined, expected])
  })

  it('ends with the store and with its log, at whichever message, and leaves nothing half done', async () => {
    for (let at = 1; at < 40; at += 5) {
      for (const end of ['stop', 'cut'] as const) {
        const threads = new TurnThreads()
        const life = await tableOn(threads.files = new MemoryFileSystem(), { ...largeTable, threads })
        putKeys(life.log, 800, { bytes: 2000 })
        await settleTable(life)
        const before = await recordsOfTable(life.log)
        let stopping: Promise<void> | undefined
        threads.onMessageTaken = count => {
          if (count !== at) return
          if (end === 'stop') stopping = life.store.stop()
          else life.log.truncateTo(300)
        }
        await life.store.compact()
        await stopping
        expect(threads.stopped).toBe(threads.started)
        expect(life.files.list(tableDirectory).filter(name => /cleaned|swap/.test(name)), `${end} at ${at}`).toEqual([])
        const again = await tableOn(life.files.afterCrash({ keepUnsynced: 'all' }), { ...largeTable, timers: life.timers })
        for (const record of await recordsOfTable(again.log)) expect(record).toEqual(before[record.offset])
        if (end === 'stop') expect(await valuesOfTable(again.log)).toEqual(Object.fromEntries(before.map(({ key, value }) => [key, value])))
        expect(again.logger.lines.filter(({ level }) => level === 'error')).toEqual([])
      }
    }
  })
})
