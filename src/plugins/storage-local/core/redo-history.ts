import { batchBytesOf, batchHeaderBytes, lastOffsetOf } from '../../../kernel/record/batch-header.ts'
import { uuidFromBytes, type Uuid } from '../../../base/uuid.ts'
import { type RedoEntry, type RedoGroup } from './redo-group.ts'

/** A group that was on the disk is there no more: what it held cannot be told. */
export class RedoHole extends Error {
  override readonly name = 'RedoHole'
}

/**
 * Of all groups found in the files of a directory those that count, in order. A file that is used again still holds groups of before, which
 * `firstNeeded` of the newest leaves out. Behind the last group that another one says was covered, the first that is missing was torn by
 * the crash: what follows it was never promised. Throws RedoHole when one that was covered is missing.
 */
export function orderGroups(found: Iterable<RedoGroup>): RedoGroup[] {
  const bySequence = new Map<number, RedoGroup>()
  let [newest, covered]: [RedoGroup | undefined, number] = [undefined, 0]
  for (const group of found) {
    const other = bySequence.get(group.sequence)
    if (newest !== undefined && group.run !== newest.run) throw new RedoHole(`groups ${newest.sequence} and ${group.sequence} are of two runs of the broker: files were brought from elsewhere`)
    if (other !== undefined && other.generation !== group.generation) throw new RedoHole(`group ${group.sequence} is there twice`)
    bySequence.set(group.sequence, group)
    if (newest === undefined || group.sequence > newest.sequence) newest = group
    covered = Math.max(covered, group.covered)
  }
  if (newest === undefined) return []
  const groups: RedoGroup[] = []
  for (let sequence = newest.firstNeeded; sequence <= newest.sequence; sequence++) {
    const group = bySequence.get(sequence)
    if (group !== undefined) {
      groups.push(group)
      continue
    }
    if (sequence <= covered) throw new RedoHole(`group ${sequence} is missing, and all up to ${covered} were on the disk`)
    break
  }
  return groups
}

/**
 * The name of a file that was taken away. They are made one after another, each when the one before is on the disk, and are removed all at
 * once. Undefined when none is missing that can be told: the last may have come to nothing.
 */
export function missingFile(names: Iterable<string>): string | undefined {
  const there = new Set(names)
  for (let number = 1; number <= there.size; number++) if (!there.has(redoFileName(number))) return redoFileName(number)
  return undefined
}

/** The name of a file that was cut off: all have one size but the last, which may not have been made to its end. Undefined when none was. */
export function cutOffFile(sizes: ReadonlyMap<string, number>): string | undefined {
  const whole = Math.max(...sizes.values())
  const last = [...sizes.keys()].sort().at(-1)
  return [...sizes.keys()].find(name => name !== last && sizes.get(name)! < whole)
}

export const redoFileName = (number: number): string => `${String(number).padStart(8, '0')}.redo`

/** What the redo log says of one partition log, to be done before its segments are looked at. */
export interface RedoPlan {
  readonly topicId: Uuid
  readonly partition: number
  /** Batches in the order in which they are to be put in their places. */
  readonly batches: readonly RedoEntry[]
  /** Batches of segments wholly below the log start, in order: wanted where such a segment is there still, or nothing else tells its producers. */
  readonly below: readonly RedoEntry[]
  /** What is below was on the disk, here or in its segment: a byte there that is wrong is rot. */
  readonly durableTo: number
  /** The log was being removed. */
  readonly removed: boolean
}

/** Where the checkpoints of the directory have a log. */
export interface LogPoints {
  readonly recoveryPoint: number
  readonly startOffset: number
}

export const planKey = (topicId: Uuid, partition: number): string => `${topicId}-${partition}`

export const memberKey = ({ topicIdBytes, partition }: { readonly topicIdBytes: Uint8Array, readonly partition: number }): string => planKey(uuidFromBytes(topicIdBytes), partition)

/** The entries of each log, in order. */
export function entriesByLog(groups: readonly RedoGroup[]): Map<string, RedoEntry[]> {
  const byLog = new Map<string, RedoEntry[]>()
  for (const { entries } of groups) {
    for (const entry of entries) {
      const key = planKey(uuidFromBytes(entry.topicId), entry.partition)
      const known = byLog.get(key)
      if (known === undefined) byLog.set(key, [entry])
      else known.push(entry)
    }
  }
  return byLog
}

/**
 * What is to be done for one log. What lies below its recovery point or a later barrier is on the disk; what a later reset cut is gone; a
 * segment wholly below the log start is wanted for its producers alone. All of it may be done again: a batch is put where it was.
 */
export function planLog(entries: readonly RedoEntry[], { recoveryPoint, startOffset }: LogPoints): RedoPlan {
  const settled = settledAt(entries, recoveryPoint)
  let batches: RedoEntry[] = []
  let durableTo = recoveryPoint
  let removed = false
  entries.forEach((entry, index) => {
    if (entry.kind === 'removed') removed = true
    else if (entry.kind === 'barrier') durableTo = Math.max(durableTo, entry.offset)
    else if (entry.kind === 'reset') {
      // Another one was made under its id.
      removed = false
      durableTo = Math.min(durableTo, entry.offset)
      batches = batches.filter(batch => endOf(batch) <= entry.offset)
    } else if (endOf(entry) > settled[index]!) batches.push(entry)
  })
  // A segment that reaches above the start has to be whole from its first byte on.
  const wanted = new Set(batches.filter(batch => endOf(batch) > startOffset).map(batch => batch.segmentBase))
  const below = batches.filter(batch => !wanted.has(batch.segmentBase))
  batches = batches.filter(batch => wanted.has(batch.segmentBase))
  // Behind a gap, which was to be synced in the segment, nothing is promised.
  for (const batch of batches) if (batch.offset <= Math.max(durableTo, startOffset)) durableTo = Math.max(durableTo, endOf(batch))
  return { topicId: uuidFromBytes(entries[0]!.topicId), partition: entries[0]!.partition, batches, below, durableTo, removed }
}

/** For each entry, below which offset a barrier behind it, with no reset between, says that the segments hold everything. */
function settledAt(entries: readonly RedoEntry[], floor: number): number[] {
  const settled = new Array<number>(entries.length)
  let below = floor
  for (let index = entries.length - 1; index >= 0; index--) {
    settled[index] = below
    const { kind, offset } = entries[index]!
    if (kind === 'barrier') below = Math.max(below, offset)
    else if (kind === 'reset') below = floor
  }
  return settled
}

/** Behind the last offset of its batch. */
export function endOf({ bytes, offset }: RedoEntry): number {
  return bytes.length >= batchHeaderBytes ? lastOffsetOf(bytes, 0) + 1 : offset
}

/** Whether the entry holds one whole batch. */
export const holdsBatch = ({ bytes }: RedoEntry): boolean => bytes.length >= batchHeaderBytes && batchBytesOf(bytes, 0) === bytes.length
