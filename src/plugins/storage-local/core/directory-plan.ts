import { parseSegmentFileName, parseSetAsideName, segmentFileName, type SegmentFileName } from './segment-name.ts'

/** Files in a partition directory that are not of a segment. */
const partitionFiles = new Set(['partition.metadata', 'leader-epoch-checkpoint'])
/** A checkpoint that a crash kept from taking its name. */
const partitionLeftover = 'leader-epoch-checkpoint.tmp'

/** What to do with the names in a partition directory before its segments are loaded. */
export interface DirectoryPlan {
  /** Left over from what had not finished; in this order. */
  readonly remove: readonly string[]
  /** Base offsets of the segments, ascending. */
  readonly segments: readonly number[]
  /** Offsets that producer snapshots cover up to, ascending. */
  readonly snapshots: readonly number[]
  /** Names that nobody knows: left alone. */
  readonly foreign: readonly string[]
  /** What earlier recoveries took out of the log and kept. */
  readonly setAside: readonly string[]
  /** Index files without their `.log`; to be removed too. */
  readonly orphans: readonly number[]
}

/**
 * Plans by names alone, where no swap of segments is left to be finished. `.cleaned` files are an attempt that never counted, and so are `.swap` files at
 * or above one of them. Index files without their `.log` are of no use, nor are `.swap` files of indexes.
 *
 * A `.log.swap` that `finishSwaps` has left is not proven, and the first segment that it was to replace is not there: it did not come about by a crash, replaces nothing, and is left
 * alone. Were it taken for the truth, good segments would be gone for it.
 */
export function planDirectory(names: readonly string[]): DirectoryPlan {
  const remove: string[] = []
  const foreign: string[] = []
  const setAside: string[] = []
  const found: (readonly [string, SegmentFileName])[] = []
  let smallestCleaned = Infinity
  for (const name of names) {
    const kept = parseSetAsideName(name)
    if (kept !== undefined) {
      if (kept === 'kept') setAside.push(name)
      else remove.push(name)
      continue
    }
    const parsed = parseSegmentFileName(name)
    if (parsed === undefined) {
      if (name === partitionLeftover) remove.push(name)
      else if (!partitionFiles.has(name)) foreign.push(name)
      continue
    }
    if (parsed.stage === '.cleaned') smallestCleaned = Math.min(smallestCleaned, parsed.offset)
    if (parsed.stage === '.deleted' || parsed.stage === '.cleaned') remove.push(name)
    else found.push([name, parsed])
  }
  const finished = found.filter(([name, parsed]) => {
    const undone = parsed.stage === '.swap' && parsed.offset >= smallestCleaned
    if (undone) remove.push(name)
    return !undone
  })
  const broken = new Set(finished.filter(([, { stage, suffix }]) => stage === '.swap' && suffix === '.log').map(([, { offset }]) => offset))
  for (const [name, { offset, stage }] of finished) if (stage === '.swap') (broken.has(offset) ? foreign : remove).push(name)
  const current = finished.filter(([, parsed]) => parsed.stage === undefined).map(([, parsed]) => parsed)
  const segments = current.filter(file => file.suffix === '.log').map(file => file.offset).sort((left, right) => left - right)
  const snapshots = current.filter(file => file.suffix === '.snapshot').map(file => file.offset).sort((left, right) => left - right)
  const withLog = new Set(segments)
  const orphans = current.filter(file => file.suffix !== '.log' && file.suffix !== '.snapshot' && !withLog.has(file.offset))
  for (const file of orphans) remove.push(segmentFileName(file.offset, file.suffix))
  return { remove, segments, snapshots, foreign, setAside, orphans: [...new Set(orphans.map(file => file.offset))] }
}
