import { type Prng } from '../../base/prng.ts'
import { type CrashChoice } from './crash-choice.ts'
import { type DiskContent } from './disk-content.ts'
import { type FaultCounts } from './fault-counts.ts'

/** A change of one file's content. `number` says where it stands among all changes of the disk. */
export type DiskChange =
  | { readonly number: number, readonly kind: 'write', readonly position: number, readonly bytes: Uint8Array }
  | { readonly number: number, readonly kind: 'truncate', readonly bytes: number }

/** What is the same for all files in one crash. */
export interface CrashOfDisk {
  readonly choice: CrashChoice
  /** The least that is written whole. */
  readonly blockBytes: number
  readonly counts: FaultCounts
  /** Bytes that a block may hold which was given to a file but never written. */
  readonly staleBytes: (prng: Prng, bytes: number) => Uint8Array
}

export function applyChange(content: DiskContent, change: DiskChange): void {
  if (change.kind === 'write') content.write(change.bytes, change.position, true)
  else content.truncate(change.bytes)
}

/**
 * What a crash leaves of a file. Its size is that after one of the changes, or the synced one; a truncation that is in took its bytes.
 * Each block that was written is as after one of its writes, or as synced. Bytes within the size that were never reached are zeros, or
 * garbage.
 */
export function crashedContent(durable: DiskContent, changes: readonly DiskChange[], crash: CrashOfDisk): DiskContent {
  const content = durable.copy()
  if (changes.length === 0) return content
  const versions = new Versions(durable.size, changes, crash.blockBytes)
  const sizeAt = versions.pickSize(crash)
  content.truncate(sizeAt.least)
  content.truncate(sizeAt.size)
  const fates = new WriteFates(changes)
  for (const [block, writes] of versions.blocks) {
    const picked = crash.choice.pick(writes.map(index => changes[index]!.number), 'block')
    fates.add(writes, picked)
    const position = block * crash.blockBytes
    // A truncation wrote the block that it cut, with all that was in it.
    const last = Math.max(picked === 0 ? -1 : writes[picked - 1]!, versions.lastCut(position + crash.blockBytes, sizeAt.change))
    const bytes = last < 0 ? garbageFor(block, durable, crash) : versionOf(durable, changes, position, crash.blockBytes, last)
    if (bytes !== undefined && position < sizeAt.size) content.write(bytes.subarray(0, sizeAt.size - position), position)
  }
  fates.count(crash.counts, sizeAt)
  return content
}

/** The numbers of the changes of the size, and of each block, of a file: of all that a crash decides about. */
export function versionGroups(size: number, changes: readonly DiskChange[], blockBytes: number): (readonly number[])[] {
  const { blocks, numbers } = new Versions(size, changes, blockBytes)
  return [...numbers.length > 0 ? [numbers] : [], ...[...blocks.values()].map(writes => writes.map(index => changes[index]!.number))]
}

interface PickedSize {
  readonly size: number
  /** The least that it was from the synced version to this one: what lay above was cut off. */
  readonly least: number
  /** Index of the change that made it; -1: none. */
  readonly change: number
  readonly was: 'lost' | 'kept' | 'at an earlier version' | 'not changed'
}

/** The versions of a file's size and blocks that its changes made. */
class Versions {
  /** Of each block that was written: the indices of the writes. */
  readonly blocks = new Map<number, number[]>()
  private readonly sizes: number[]
  private readonly sizeChanges: number[] = []
  /** Of the changes of the size. */
  readonly numbers: number[] = []
  private readonly cuts: { readonly index: number, readonly bytes: number }[] = []

  constructor(size: number, changes: readonly DiskChange[], blockBytes: number) {
    this.sizes = [size]
    changes.forEach((change, index) => {
      const now = this.sizes[this.sizes.length - 1]!
      const next = change.kind === 'truncate' ? change.bytes : Math.max(now, change.position + change.bytes.length)
      if (change.kind === 'write') {
        const last = Math.floor((change.position + change.bytes.length - 1) / blockBytes)
        for (let block = Math.floor(change.position / blockBytes); block <= last; block++) {
          const writes = this.blocks.get(block)
          if (writes === undefined) this.blocks.set(block, [index])
          else writes.push(index)
        }
      }
      if (next === now) return
      if (next < now) this.cuts.push({ index, bytes: next })
      this.sizes.push(next)
      this.sizeChanges.push(index)
      this.numbers.push(change.number)
    })
  }

  /** Index of the last truncation, up to this change, that took bytes below `end`; -1: none. */
  lastCut(end: number, change: number): number {
    return this.cuts.findLast(({ index, bytes }) => index <= change && bytes < end)?.index ?? -1
  }

  pickSize({ choice }: CrashOfDisk): PickedSize {
    const { sizes, numbers } = this
    if (numbers.length === 0) return { size: sizes[0]!, least: sizes[0]!, change: -1, was: 'not changed' }
    const picked = choice.pick(numbers, 'size')
    const was = picked === 0 ? 'lost' : picked === numbers.length ? 'kept' : 'at an earlier version'
    return { size: sizes[picked]!, least: Math.min(...sizes.slice(0, picked + 1)), change: picked === 0 ? -1 : this.sizeChanges[picked - 1]!, was }
  }
}

/** The bytes of a block after the change of this index. */
function versionOf(durable: DiskContent, changes: readonly DiskChange[], position: number, blockBytes: number, last: number): Uint8Array {
  const bytes = durable.slice(position, blockBytes)
  const end = position + blockBytes
  for (const change of changes.slice(0, last + 1)) {
    if (change.kind === 'truncate') {
      if (change.bytes < end) bytes.fill(0, Math.max(0, change.bytes - position))
      continue
    }
    const from = Math.max(position, change.position)
    const to = Math.min(end, change.position + change.bytes.length)
    if (from < to) bytes.set(change.bytes.subarray(from - change.position, to - change.position), from - position)
  }
  return bytes
}

function garbageFor(block: number, durable: DiskContent, { choice, blockBytes, counts, staleBytes }: CrashOfDisk): Uint8Array | undefined {
  if (choice.garbage === undefined || block * blockBytes < durable.size || !choice.garbage.chance(0.7)) return undefined
  counts.add('crash: block of garbage')
  return staleBytes(choice.garbage, blockBytes)
}

/** Of each write: how many of its blocks are in, and how many not. */
class WriteFates {
  private readonly kept: number[]
  private readonly lost: number[]

  constructor(changes: readonly DiskChange[]) {
    this.kept = changes.map(() => 0)
    this.lost = changes.map(() => 0)
  }

  add(writes: readonly number[], picked: number): void {
    writes.forEach((index, order) => {
      if (order < picked) this.kept[index]!++
      else this.lost[index]!++
    })
  }

  count(counts: FaultCounts, size: PickedSize): void {
    let lost = 0
    let kept = 0
    let torn = 0
    let overtaking = 0
    this.kept.forEach((count, index) => {
      if (count > 0 && this.lost[index]! > 0) torn++
      else if (count > 0) kept++
      else if (this.lost[index]! > 0) lost++
      if (count > 0 && lost + torn > 0) overtaking++
    })
    if (lost > 0) counts.add('crash: write lost', lost)
    if (kept > 0) counts.add('crash: write kept', kept)
    if (torn > 0) counts.add('crash: write torn', torn)
    if (overtaking > 0) counts.add('crash: write kept after a lost one', overtaking)
    if (size.was !== 'not changed') counts.add(`crash: size ${size.was}`)
  }
}
