import { lastOffsetOf } from '../../../kernel/record/batch-header.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { parseSegmentFileName, segmentFileName, type SegmentFileName, type SegmentSuffix } from '../core/segment-name.ts'
import { BatchScan } from './batch-scan.ts'
import { offsetProblem } from './index-file.ts'

/** What is made anew from the batches, where it is not known which segment it is of. */
const besideLog: readonly SegmentSuffix[] = ['.index', '.timeindex', '.sum']

/**
 * Brings swaps of segments to their end that a crash cut off: see `swapSegments`. A whole `.log.swap` takes its name. While one of the files beside it is still called `.swap`, it is
 * not known what of the rest had been done: what the segment reaches over goes, and the files beside it go too. Each step is on the disk before the next, so that a crash
 * meanwhile leaves the same to do. Gives the base offsets of the segments of which the files beside are to be made anew.
 *
 * A `.cleaned` file says that it and all `.swap` files at or above it never counted; a `.log.swap` that is not whole did not come about like this. Both are for
 * `planDirectory`.
 */
export function finishSwaps(files: FileSystem, directory: string): readonly number[] {
  const found = files.list(directory).flatMap(name => parseSegmentFileName(name) ?? [])
  if (!found.some(({ stage }) => stage === '.swap')) return []
  const undoneFrom = Math.min(...found.filter(({ stage }) => stage === '.cleaned').map(({ offset }) => offset))
  const counted = found.filter(({ stage, offset }) => stage === '.swap' && offset < undoneFrom)
  const bases = [...new Set(counted.filter(({ suffix }) => suffix !== '.snapshot').map(({ offset }) => offset))]
  const path = (offset: number, suffix: SegmentSuffix): string => `${directory}/${segmentFileName(offset, suffix)}`
  const ends = new Map<number, number>()
  for (const base of bases) {
    const isLog = counted.some(({ offset, suffix }) => offset === base && suffix === '.log')
    const end = endOfSegment(files, isLog ? `${path(base, '.log')}.swap` : path(base, '.log'), base)
    if (end === undefined) continue
    ends.set(base, end)
    if (isLog) putInPlace(files, directory, path(base, '.log'), path(base, '.index'))
  }
  if (ends.size === 0) return []
  for (const [base, end] of ends) removeReplaced(files, directory, found, base, end, ends)
  files.syncDirectory(directory)
  for (const base of ends.keys()) {
    for (const suffix of besideLog) {
      files.remove(path(base, suffix))
      files.remove(`${path(base, suffix)}.swap`)
    }
  }
  files.syncDirectory(directory)
  return [...ends.keys()]
}

/** The name over the old one: whichever way a crash goes, one of the two is there, and a `.swap` beside it says that there is more to do. */
function putInPlace(files: FileSystem, directory: string, log: string, index: string): void {
  files.open(`${index}.swap`, 'ensure').close()
  // Who made it has synced it; what is about to be without another copy is not taken at its word.
  const file = files.open(`${log}.swap`, 'update')
  try {
    file.syncNow()
  } finally {
    file.close()
  }
  files.syncDirectory(directory)
  files.rename(`${log}.swap`, log)
  files.syncDirectory(directory)
}

function removeReplaced(files: FileSystem, directory: string, found: readonly SegmentFileName[], base: number, end: number, ends: ReadonlyMap<number, number>): void {
  for (const { offset, suffix, stage } of found) {
    if (stage !== undefined || suffix === '.snapshot' || offset <= base || offset >= end || ends.has(offset)) continue
    files.remove(`${directory}/${segmentFileName(offset, suffix)}`)
  }
}

/** Behind its last record. Undefined when it is not batches to its last byte, or not there. */
function endOfSegment(files: FileSystem, path: string, baseOffset: number): number | undefined {
  if (files.stat(path)?.kind !== 'file') return undefined
  const file = files.open(path, 'read')
  try {
    const scan = new BatchScan(file, 0, file.size())
    let end = baseOffset
    while (scan.next()) {
      if (offsetProblem(scan, end, baseOffset) !== undefined || !scan.crcValid()) return undefined
      end = lastOffsetOf(scan.bytes, scan.at) + 1
    }
    return scan.problem === undefined && end > baseOffset ? end : undefined
  } finally {
    file.close()
  }
}
