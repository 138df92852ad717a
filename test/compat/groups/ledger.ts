import { type Line } from './lines.ts'

interface Owner {
  readonly member: string
  readonly fromMs: number
  toMs: number
}

/** From when one owner gave a partition up until there was another, or the same one again. */
export interface Gap {
  readonly partition: number
  readonly ms: number
  readonly isMoved: boolean
}

/** What a member was told to read again. */
interface Asked {
  readonly member: string
  readonly from: number
  /** Behind the last record that had been read when it was told so. */
  readonly to: number
}

const faultsMax = 20

/** What the members of one group have read, committed and owned, in the order in which they said so, and what is wrong with it. */
export class Ledger {
  readonly read = new Map<number, Set<number>>()
  /** What was committed last, by partition. */
  readonly committed = new Map<number, number>()
  /** Where the first reader of a partition began. */
  readonly began = new Map<number, number>()
  readonly faults: string[] = []
  /** Read again since nothing behind it was committed: at least once. */
  again = 0
  /** Read again since a member was told to seek. */
  askedAgain = 0
  /** Records that a member gave to its application though their partition was taken away before. */
  late = 0
  private readonly lateAllowed: (member: string) => boolean
  /** What each member reads next, from when it is assigned a partition. */
  private readonly positions = new Map<string, Map<number, number | undefined>>()
  private readonly owners = new Map<number, Owner[]>()
  private readonly asked = new Map<number, Asked>()
  private readonly ends = new Map<number, number>()

  constructor(lateAllowed: (member: string) => boolean = () => false) {
    this.lateAllowed = lateAllowed
  }

  take(member: string, line: Line, nowMs: number): void {
    const atMs = line.timestamp ?? nowMs
    const partitions = line.partitions ?? []
    if (line.name === 'partitions_assigned') for (const { partition } of partitions) this.assigned(member, partition, atMs)
    if (line.name === 'partitions_revoked' || line.name === 'partitions_lost') for (const { partition } of partitions) this.taken(member, partition, atMs)
    if (line.name === 'records_consumed') for (const { partition, minOffset, maxOffset } of partitions) for (let offset = minOffset!; offset <= maxOffset!; offset++) this.record(member, partition, offset)
    if (line.name === 'offsets_committed' && line.success === true) for (const { partition, offset } of line.offsets!) this.committed.set(partition, offset)
    if (line.name === 'seeked') this.seeked(member, line.partition!, line.offset!)
  }

  /** The process of a member is gone: it owns nothing more. */
  gone(member: string, atMs: number): void {
    for (const partition of [...this.position(member).keys()]) this.taken(member, partition, atMs)
  }

  owned(member: string): ReadonlySet<number> {
    return new Set(this.position(member).keys())
  }

  /** How many partitions have an owner. */
  ownedPartitions(): number {
    return new Set([...this.positions.values()].flatMap(position => [...position.keys()])).size
  }

  /** Behind the highest record that was read. */
  end(partition: number): number {
    return this.ends.get(partition) ?? 0
  }

  /** The first records below these ends that nobody has read. */
  missing(ends: ReadonlyMap<number, number>, from: (partition: number) => number = () => 0): string[] {
    const found: string[] = []
    for (const [partition, end] of ends) {
      const seen = this.read.get(partition) ?? new Set<number>()
      let offset = from(partition)
      while (offset < end && seen.has(offset)) offset++
      if (offset < end) found.push(`${partition}:${offset} of ${end}`)
    }
    return found
  }

  /** What a member reads next of a partition that it owns. */
  next(member: string, partition: number): number | undefined {
    return this.position(member).get(partition)
  }

  /** Pairs of members that both owned a partition for a time; what ended before or began after `unclean`, a stretch in which members may not have heard, does not count. */
  overlaps(unclean: readonly (readonly [fromMs: number, toMs: number])[] = []): string[] {
    const found: string[] = []
    for (const [partition, owners] of this.owners) {
      for (const [index, one] of owners.entries()) {
        for (const other of owners.slice(index + 1)) {
          const from = Math.max(one.fromMs, other.fromMs)
          const to = Math.min(one.toMs, other.toMs)
          if (one.member === other.member || to <= from || unclean.some(([begin, end]) => from >= begin && from <= end)) continue
          found.push(`${partition} is owned by ${one.member} and ${other.member} for ${to === Infinity ? 'ever' : `${to - from} ms`}`)
        }
      }
    }
    return found
  }

  /** The stretches in which a partition had no owner, in order of time. */
  gaps(): Gap[] {
    const found: Gap[] = []
    for (const [partition, owners] of this.owners) {
      const inOrder = [...owners].sort((left, right) => left.fromMs - right.fromMs)
      for (const [index, { member, fromMs }] of inOrder.entries()) {
        const before = inOrder[index - 1]
        if (before !== undefined) found.push({ partition, ms: Math.max(0, fromMs - before.toMs), isMoved: before.member !== member })
      }
    }
    return found
  }

  private position(member: string): Map<number, number | undefined> {
    const known = this.positions.get(member) ?? new Map<number, number | undefined>()
    this.positions.set(member, known)
    return known
  }

  private assigned(member: string, partition: number, atMs: number): void {
    const position = this.position(member)
    if (position.has(partition)) this.fault(`${member} is assigned ${partition}, which it has`)
    position.set(partition, undefined)
    const owners = this.owners.get(partition) ?? []
    this.owners.set(partition, owners)
    owners.push({ member, fromMs: atMs, toMs: Infinity })
  }

  private taken(member: string, partition: number, atMs: number): void {
    if (!this.position(member).delete(partition)) return
    const owner = this.owners.get(partition)?.findLast(each => each.member === member)
    if (owner !== undefined) owner.toMs = atMs
  }

  private seeked(member: string, partition: number, offset: number): void {
    this.position(member).set(partition, offset)
    this.asked.set(partition, { member, from: offset, to: this.end(partition) })
  }

  private record(member: string, partition: number, offset: number): void {
    const position = this.position(member)
    if (!position.has(partition)) {
      this.late++
      if (!this.lateAllowed(member)) this.fault(`${member} reads ${partition}:${offset}, which it does not own`)
    } else {
      const expected = position.get(partition)
      if (expected !== undefined && expected !== offset) this.fault(`${member} reads ${partition}:${offset} where ${expected} is next`)
      position.set(partition, offset + 1)
    }
    if (!this.began.has(partition)) this.began.set(partition, offset)
    const seen = this.read.get(partition) ?? new Set<number>()
    this.read.set(partition, seen)
    if (seen.has(offset)) this.readAgain(member, partition, offset)
    seen.add(offset)
    this.ends.set(partition, Math.max(this.end(partition), offset + 1))
  }

  private readAgain(member: string, partition: number, offset: number): void {
    const asked = this.asked.get(partition)
    if (asked !== undefined && asked.member === member && offset >= asked.from && offset < asked.to) {
      this.askedAgain++
      if (offset === asked.to - 1) this.asked.delete(partition)
      return
    }
    this.again++
    const committed = this.committed.get(partition) ?? 0
    if (offset < committed) this.fault(`${member} reads ${partition}:${offset} again though ${committed} is committed`)
  }

  private fault(text: string): void {
    if (this.faults.length < faultsMax) this.faults.push(text)
  }
}
