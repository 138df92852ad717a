import { describe, expect, it } from 'vitest'
import { offsetEntryBytes } from '../../../../../src/plugins/storage-local/core/offset-index.ts'
import { SegmentIndexes } from '../../../../../src/plugins/storage-local/core/segment-indexes.ts'
import { timeEntryBytes } from '../../../../../src/plugins/storage-local/core/time-index.ts'
import { IndexFiles, readWhole } from '../../../../../src/plugins/storage-local/io/index-file.ts'
import { MemoryFileSystem } from '../../../../../src/testkit/world/memory-file-system.ts'

const stem = '/data/t-0/00000000000000000000'

/** Indexes with entries for offsets 10, 20, … at positions and times of the same steps. */
function indexesOf(count: number): SegmentIndexes {
  const indexes = SegmentIndexes.empty(0)
  for (let entry = 1; entry <= count; entry++) add(indexes, entry)
  return indexes
}

function add(indexes: SegmentIndexes, entry: number): void {
  indexes.offsets.add(10 * entry, 100 * entry)
  indexes.times.add(1000 * entry, 10 * entry)
}

function written(count: number) {
  const files = new MemoryFileSystem()
  files.makeDirectory('/data')
  files.makeDirectory('/data/t-0')
  const indexes = indexesOf(count)
  const index = new IndexFiles(files, stem)
  index.write(indexes)
  const entries = (): [number, number] => [readWhole(files, `${stem}.index`)!.length / offsetEntryBytes, readWhole(files, `${stem}.timeindex`)!.length / timeEntryBytes]
  return { files, indexes, index, entries }
}

describe('the index files after a truncation', () => {
  it('never hold less than what both kept, at any call on them: a recovery goes by the one for what it does not look up in the other', () => {
    for (const kept of [0, 1, 2, 4, 5]) {
      for (const added of [0, 1, 3]) {
        const { files, indexes, index, entries } = written(5)
        const seen: [number, number][] = []
        const open = files.open.bind(files)
        files.open = (path, mode) => {
          const file = open(path, mode)
          if (mode === 'read') return file
          for (const name of ['truncate', 'write', 'close'] as const) {
            const call = (file[name] as (...args: unknown[]) => unknown).bind(file)
            Object.assign(file, { [name]: (...args: unknown[]) => {
              seen.push(entries())
              return call(...args)
            } })
          }
          return file
        }
        indexes.truncate(100 * kept + 1, 10 * kept + 1)
        index.truncated(indexes)
        for (let entry = kept + 1; entry <= kept + added; entry++) add(indexes, entry)
        index.write(indexes)
        expect(seen.length, `${kept} kept`).toBeGreaterThan(0)
        for (const counts of seen) expect(Math.min(...counts), `${kept} kept, ${added} added`).toBeGreaterThanOrEqual(kept)
        files.open = open
        expect(entries(), `${kept} kept, ${added} added`).toEqual([kept + added, kept + added])
      }
    }
  })

  it('hold what was kept, and no more, once they are written, also when nothing was added', () => {
    const { files, indexes, index, entries } = written(5)
    indexes.truncate(300, 30)
    index.truncated(indexes)
    index.write(indexes)
    expect(entries()).toEqual([2, 2])
    expect(readWhole(files, `${stem}.index`)).toEqual(indexes.offsets.encode())
    expect(readWhole(files, `${stem}.timeindex`)).toEqual(indexes.times.encode())
    expect(index.crcs(indexes)).toEqual(new IndexFiles(files, stem).crcs(indexes))
  })
})
