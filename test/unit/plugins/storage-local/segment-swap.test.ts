import { describe, expect, it } from 'vitest'
import { batchBytesOf, lastOffsetOf } from '../../../../src/kernel/record/batch-header.ts'
import { sumHeader } from '../../../../src/plugins/storage-local/core/batch-sums.ts'
import { cleanedPath, CleanedSegment } from '../../../../src/plugins/storage-local/io/cleaned-segment.ts'
import { newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { type MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { bytesOf, clusterId, LinesLogger, makeStore } from './store-subjects.ts'
import { putKeys, recordsOfTable, settleTable, tableDirectory, tableId, tableOn } from './table-log.ts'

const basesIn = (files: MemoryFileSystem): number[] => files.list(tableDirectory).filter(name => name.endsWith('.log')).map(name => Number(name.slice(0, 20)))
const pathOf = (base: number, suffix: string): string => `${tableDirectory}/${String(base).padStart(20, '0')}${suffix}`
const swapsIn = (files: MemoryFileSystem): string[] => files.list(tableDirectory).filter(name => /\.(swap|cleaned)$/.test(name))

function batchesOf(bytes: Uint8Array): Uint8Array[] {
  const batches: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += batchBytesOf(bytes, at)) batches.push(bytes.subarray(at, at + batchBytesOf(bytes, at)))
  return batches
}

/** A log with closed segments below its recovery point and some above, of which the process was killed. */
async function killed(): Promise<MemoryFileSystem> {
  const life = await tableOn()
  putKeys(life.log, 24)
  await settleTable(life)
  putKeys(life.log, 24, { from: 24 })
  return life.files.afterCrash({ keepUnsynced: 'all', systemDown: true })
}

interface SwapOptions {
  /** Segments that are in it, from the first of the log on. */
  readonly segments?: number
  readonly of?: { readonly topicId: string, readonly partition: number }
  readonly endOffset?: number
  readonly batches?: (batches: Uint8Array[]) => Uint8Array[]
  /** Which files get their name. */
  readonly named?: readonly string[]
}

const cleanedSuffixes = ['.index', '.timeindex', '.sum', '.log'] as const

/** Puts a merged segment beside the segments that it is to replace, as a compaction of an earlier release that a crash cut off would leave it. */
async function putSwap(files: MemoryFileSystem, { segments = 2, of = tableId, endOffset, batches = found => found, named = cleanedSuffixes }: SwapOptions): Promise<void> {
  const bases = basesIn(files)
  const merged = batches(bases.slice(0, segments).flatMap(base => batchesOf(bytesOf(files, pathOf(base, '.log')))))
  const facts = { directory: tableDirectory, baseOffset: bases[0]!, endOffset: endOffset ?? bases[segments]!, intervalBytes: 100, sumHeader: sumHeader(clusterId, of, bases[0]!) }
  const cleaned = new CleanedSegment({ files, logger: new LinesLogger() }, facts)
  for (const batch of merged) cleaned.append(batch)
  await cleaned.finish()
  for (const suffix of cleanedSuffixes) {
    const path = cleanedPath(facts, suffix, suffix === '.log' ? '.cleaned' : '.swap')
    if (!named.includes(suffix)) files.remove(path)
    else if (suffix === '.log') files.rename(path, cleanedPath(facts, suffix, '.swap'))
  }
}

/** Everything is served after a start, and after the power cut that follows on it. */
async function expectAll(files: MemoryFileSystem): Promise<Awaited<ReturnType<typeof tableOn>>> {
  const all = Array.from({ length: 48 }, (_, offset) => offset)
  const first = await tableOn(files)
  expect(first.log.startOffset).toBe(0)
  expect((await recordsOfTable(first.log)).map(({ offset }) => offset)).toEqual(all)
  const second = await tableOn(files.afterCrash({ keepUnsynced: 'none' }))
  expect((await recordsOfTable(second.log)).map(({ offset }) => offset)).toEqual(all)
  expect([...first.logger.lines, ...second.logger.lines].filter(({ level }) => level === 'error')).toEqual([])
  return first
}

const wrong: Readonly<Record<string, SwapOptions>> = {
  'has no checksums beside it': { named: ['.log'] },
  'has indexes beside it and no checksums': { named: ['.index', '.timeindex', '.log'] },
  'ends before the last old segment does': { batches: batches => batches.slice(0, -1) },
  'ends at a boundary of the old segments and says that it ends behind it': { batches: batches => batches.filter(batch => lastOffsetOf(batch, 0) < 5) },
  'is of another topic': { of: { topicId: newTopicId(), partition: 0 } },
  'is of another partition': { of: { topicId: tableId.topicId, partition: 1 } },
  'reaches above the recovery point': { segments: 8 },
  'ends within an old segment, by its checksums too': { batches: batches => batches.slice(0, -1), endOffset: 7 },
}

describe('a `.log.swap` that a start finds', () => {
  it('takes the place of the segments that it replaces when it is proven whole', async () => {
    const files = await killed()
    const [first, second, third] = basesIn(files)
    await putSwap(files, {})
    const { logger } = await expectAll(files)
    expect(basesIn(files).slice(0, 2)).toEqual([first, third])
    expect(basesIn(files)).not.toContain(second)
    expect(swapsIn(files)).toEqual([])
    expect(logger.lines.filter(({ message }) => message.includes('checksums'))).toEqual([])
  })

  it.each(Object.entries(wrong))('replaces nothing when it %s', async (_, options) => {
    const files = await killed()
    const bases = basesIn(files)
    await putSwap(files, options)
    await expectAll(files)
    expect(basesIn(files)).toEqual(bases)
    expect(swapsIn(files)).toEqual([])
  })

  it('replaces nothing when a byte of it is not what was written, wherever that is', async () => {
    const whole = await killed()
    await putSwap(whole, {})
    const path = `${pathOf(0, '.log')}.swap`
    for (let position = 0; position < bytesOf(whole, path).length; position += 13) {
      const files = whole.afterCrash({ keepUnsynced: 'all', systemDown: true })
      const bases = basesIn(files)
      files.damage.flipBit(path, position, position % 8)
      await expectAll(files)
      expect(basesIn(files)).toEqual(bases)
    }
  })

  it('replaces nothing when it was never synced, and a power cut follows on the start', async () => {
    const files = await killed()
    const bases = basesIn(files)
    const merged = bases.slice(0, 2).map(base => bytesOf(files, pathOf(base, '.log')))
    const file = files.open(`${pathOf(0, '.log')}.swap`, 'create')
    file.write(merged, 0)
    file.close()
    await expectAll(files)
  })

  it('takes their place at the start after one at which a segment that it replaces could not be removed, which refuses the start', async () => {
    const whole = await killed()
    const [, second] = basesIn(whole)
    await putSwap(whole, {})
    for (const suffix of ['.log', '.index', '.timeindex', '.sum']) {
      const files = whole.afterCrash({ keepUnsynced: 'all', systemDown: true })
      files.faults.add({ operation: 'remove', path: new RegExp(`${pathOf(second!, suffix).replaceAll('.', '\\.')}$`), error: 'EIO' })
      const failed = makeStore({ files, timers: new ManualTimers(), config: { reserveBytes: 0 }, settings: { 'log.cleaner.enable': 'false' } })
      const refusal = await failed.store.start().then(() => undefined, (error: unknown) => error)
      expect([refusal, ...failed.fatalErrors].map(String).join(), suffix).toContain('EIO')
      // After a crash of the process, and of the system.
      for (const next of [files.afterCrash({ keepUnsynced: 'all' }), files.afterCrash({ keepUnsynced: 'all', systemDown: true })]) {
        next.faults.clear()
        await expectAll(next)
        expect(basesIn(next), suffix).not.toContain(second)
        expect(swapsIn(next)).toEqual([])
      }
    }
  })

  it('replaces nothing while the recovery point is not known', async () => {
    const files = await killed()
    const bases = basesIn(files)
    await putSwap(files, {})
    files.damage.remove('/data/recovery-point-offset-checkpoint')
    await expectAll(files)
    expect(basesIn(files)).toEqual(bases)
  })
})
