import { parseSegmentFileName, parseSetAsideName, segmentFileName, segmentSuffixes, type SegmentFileName } from './segment-name.ts'

/** Files in a partition directory that are not of a segment. */
const partitionFiles = new Set(['partition.metadata', 'leader-epoch-checkpoint'])
/** A checkpoint that a crash kept from taking its name. */
const partitionLeftover = 'leader-epoch-checkpoint.tmp'

/** What to do with the names in a partition directory before its segments are loaded. */
export interface DirectoryPlan {
  /** Left over from what had not finished; in this order. */
  readonly remove: readonly string[]
  /** To finish the replacement of segments, in this order. */
  readonly rename: readonly (readonly [from: string, to: string])[]
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
 * Plans by names alone. `swapEnd` is asked for the offset behind the last record of a `.log.swap` file, by its base offset; undefined when
 * the file is not whole.
 *
 * A replacement of segments writes `.cleaned` files, renames them to `.swap`, then the old ones to `.deleted`, then drops `.swap`. So
 * `.cleaned` files are an attempt that never counted, and so are `.swap` files at or above one of them; other `.swap` files are
 * the truth, and whatever they overlap is not. Index files without their `.log` are of no use.
 *
 * A `.swap` file was synced before it got its name. One that is not whole did not come about like this, so that it replaces nothing: were it
 * taken for the truth, good segments would be gone for it.
 */
export function planDirectory(names: readonly string[], swapEnd: (baseOffset: number) => number | undefined): DirectoryPlan {
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
  const ends = new Map<number, number | undefined>()
  for (const [, { offset, suffix, stage }] of finished) if (stage === '.swap' && suffix === '.log') ends.set(offset, swapEnd(offset))
  const whole = finished.filter(([name, { offset, stage }]) => {
    const broken = stage === '.swap' && ends.has(offset) && ends.get(offset) === undefined
    if (broken) foreign.push(name)
    return !broken
  })
  const rename = finishSwaps(whole, remove, ends)
  const current = whole.filter(([name, parsed]) => parsed.stage === undefined && !remove.includes(name)).map(([, parsed]) => parsed)
  for (const [, to] of rename) current.push(parseSegmentFileName(to)!)
  const segments = current.filter(file => file.suffix === '.log').map(file => file.offset).sort((left, right) => left - right)
  const snapshots = current.filter(file => file.suffix === '.snapshot').map(file => file.offset).sort((left, right) => left - right)
  const withLog = new Set(segments)
  const orphans = current.filter(file => file.suffix !== '.log' && file.suffix !== '.snapshot' && !withLog.has(file.offset))
  for (const file of orphans) remove.push(segmentFileName(file.offset, file.suffix))
  return { remove, rename, segments, snapshots, foreign, setAside, orphans: [...new Set(orphans.map(file => file.offset))] }
}

/** Adds what the swap files replace to `remove`, and gives the renames that put them in place. */
function finishSwaps(
  files: readonly (readonly [string, SegmentFileName])[], remove: string[], ends: ReadonlyMap<number, number | undefined>,
): (readonly [string, string])[] {
  const swaps = files.filter(([, parsed]) => parsed.stage === '.swap')
  const logs = swaps.filter(([, parsed]) => parsed.suffix === '.log').map(([, parsed]) => parsed.offset)
  if (logs.length === 0) {
    for (const [name] of swaps) remove.push(name)
    return []
  }
  const from = Math.min(...logs)
  const to = Math.max(...logs.map(offset => ends.get(offset)!))
  for (const [name, parsed] of files) {
    if (parsed.stage === undefined && parsed.suffix !== '.snapshot' && parsed.offset >= from && parsed.offset < to) remove.push(name)
  }
  const order = (suffix: string): number => segmentSuffixes.indexOf(suffix as never)
  return [...swaps]
    .sort(([, left], [, right]) => order(right.suffix) - order(left.suffix))
    .map(([name, parsed]) => [name, segmentFileName(parsed.offset, parsed.suffix)] as const)
}
