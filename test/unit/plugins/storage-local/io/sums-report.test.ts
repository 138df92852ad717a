import { describe, expect, it } from 'vitest'
import { reportSums, type SumEntry, type SumsSummary } from '../../../../../src/plugins/storage-local/io/sums-report.ts'
import { append, makeBatch, newTopicId } from '../../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../../src/testkit/world/memory-file-system.ts'
import { makeStore } from '../store-subjects.ts'

const id = { topic: 'orders', topicId: newTopicId(), partition: 3 }
const stem = (base: number): string => `/data/orders-3/${String(base).padStart(20, '0')}`

/** Batches of two records each, three to a segment: segments at 0, 6 and 12, of which the last is active. */
async function written(end: 'stopped' | 'killed' = 'stopped'): Promise<MemoryFileSystem> {
  const files = new MemoryFileSystem()
  const { store } = makeStore({ files, timers: new ManualTimers() })
  await store.start()
  const log = store.create(id, topicSettings({ segmentBytes: 4000, retentionMs: -1, indexIntervalBytes: 1 }))
  for (let count = 0; count < 8; count++) append(log, makeBatch([{ timestamp: count, value: 'x'.repeat(600) }, { timestamp: count, value: 'y'.repeat(600) }]))
  await store.flush()
  if (end === 'stopped') await store.stop()
  return files
}

function read(files: MemoryFileSystem, base: number): { readonly summary: SumsSummary, readonly entries: readonly SumEntry[] } {
  const report = reportSums(files, `${stem(base)}.sum`)
  if (typeof report === 'string') throw new Error(report)
  return { summary: report.summary, entries: [...report.entries()] }
}

const offsets = (entries: readonly SumEntry[]): number[] => entries.map(({ offset }) => offset)
const problems = (entries: readonly SumEntry[]): unknown[] => entries.map(({ problem }) => problem)

describe('what is read of a .sum file', () => {
  it('names the segment, each batch with its place, and the seal; all of a sound one match', async () => {
    const files = await written()
    const { summary, entries } = read(files, 6)
    const segmentBytes = files.stat(`${stem(6)}.log`)!.bytes
    expect(summary).toMatchObject({
      topicId: id.topicId, partition: 3, baseOffset: 6, entries: 3, segmentBytes, uncoveredBytes: 0, isUnsound: false, problems: [],
      seal: { kind: 'closed', sizeBytes: segmentBytes, endOffset: 12 },
    })
    expect(entries.map(({ position }) => position)).toEqual([0, segmentBytes / 3, segmentBytes * 2 / 3])
    expect([offsets(entries), problems(entries)]).toEqual([[6, 8, 10], [null, null, null]])
    expect(read(files, 12).summary.seal?.kind).toBe('stopped')
  })

  it('of the active segment of a broker that runs has no seal, and says how much of the segment has no entry yet', async () => {
    const files = await written('killed')
    expect(read(files, 0).summary.seal?.kind).toBe('closed')
    expect(reportSums(files, `${stem(12)}.sum`)).toBe('its header is none that this release writes (length, magic, version or checksum)')
    const stopped = await written()
    const { bytes } = stopped.stat(`${stem(12)}.sum`)!
    stopped.damage.truncate(`${stem(12)}.sum`, bytes - 48)
    const { summary, entries } = read(stopped, 12)
    expect([summary.seal, offsets(entries), summary.uncoveredBytes]).toEqual([undefined, [12], stopped.stat(`${stem(12)}.log`)!.bytes / 2])
    expect(summary.problems).toEqual([])
  })

  it.each([
    ['in its header', 13, 'its header is not what was written'],
    ['in its records', 200, 'the CRC of the batch does not match'],
  ])('shows the one batch that is damaged %s', async (_where, at, problem) => {
    const files = await written()
    files.flipBit(`${stem(6)}.log`, files.stat(`${stem(6)}.log`)!.bytes / 3 + at, 2)
    const { summary, entries } = read(files, 6)
    expect(problems(entries)).toEqual([null, problem, null])
    expect(summary.problems).toEqual([])
  })

  it('shows a segment that was cut off, at its seal and at each batch that is gone', async () => {
    const files = await written()
    const { bytes } = files.stat(`${stem(6)}.log`)!
    files.damage.truncate(`${stem(6)}.log`, bytes / 3 + 30)
    const { summary, entries } = read(files, 6)
    expect(summary.problems).toEqual([`the segment has ${bytes / 3 + 30} bytes, and had ${bytes}`])
    expect(problems(entries)).toEqual([null, expect.stringContaining('ends before it'), expect.stringContaining('ends before it')])
  })

  it('of another segment says whose it is, and none of the batches match', async () => {
    const files = await written()
    files.rename(`${stem(6)}.sum`, `${stem(0)}.sum`)
    const { summary, entries } = read(files, 0)
    expect(summary.problems).toContain('it is of the segment that begins at 6')
    expect(problems(entries)).toEqual(Array.from({ length: 3 }, () => 'its header is not what was written'))
  })

  it('that is damaged itself says so, and blames no index that is what it was', async () => {
    const files = await written()
    files.flipBit(`${stem(6)}.sum`, 48 + 16 + 9, 0)
    const { summary, entries } = read(files, 6)
    expect([summary.isUnsound, summary.problems]).toEqual([true, [expect.stringContaining('entry 1 is not what was written: these checksums are damaged themselves')]])
    expect(problems(entries)).toEqual([null, 'its header is not what was written', null])
  })

  it('tells an index that is not the one that was sealed', async () => {
    const files = await written()
    files.flipBit(`${stem(6)}.timeindex`, 3, 0)
    expect(read(files, 6).summary.problems).toEqual(['the .timeindex is not what it was: a broker makes it anew'])
  })

  it('without its segment shows the entries and judges none', async () => {
    const files = await written()
    files.remove(`${stem(6)}.log`)
    const { summary, entries } = read(files, 6)
    expect([summary.segmentBytes, problems(entries)]).toEqual([undefined, [undefined, undefined, undefined]])
  })
})
