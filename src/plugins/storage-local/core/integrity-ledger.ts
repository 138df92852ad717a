/** A place on the disk where the bytes of a log are not what was written. */
export interface LogDamage {
  readonly topic: string
  readonly partition: number
  /** Of the segment. */
  readonly path: string
  readonly position: number
  /** Offsets that cannot be read. */
  readonly first: number
  readonly last: number
  readonly reason: string
}

/** The end of a log that a start did not find, though a checkpoint knows that its records were on the disk. Their offsets are given to others. */
export interface LostTail {
  readonly topic: string
  readonly partition: number
  /** Offsets of what is missing. */
  readonly first: number
  readonly last: number
}

/** So many are listed, as long as they are not forgotten; one that comes beyond is told of alone. */
const listedMax = 1000
const none: readonly LogDamage[] = []

/** What is known of the integrity of the logs of a store: damage that was found since the start, and what was looked at. */
export class IntegrityLedger {
  /** Bytes that were checked at their first read since the start. */
  firstReadBytes = 0
  scrubbedBytes = 0
  /** Segments whose checksums were made anew because they had none. */
  sumsMade = 0
  /** Full passes of the scrubber since the start, and when the last one ended (monotonic; -1 for none). */
  passes = 0
  lastPassMs = -1
  /** How often bytes were not what was written, by whether it was their first read or the second that follows on it. */
  readonly failedChecks = { first: 0, second: 0 }
  /** Told of each of these. */
  onFailedCheck: (read: 'first' | 'second') => void = () => {}
  private readonly found = new Map<string, LogDamage>()
  private readonly report: (damage: LogDamage) => void
  private readonly lost = new Map<string, { readonly tail: LostTail, readonly log: { readonly start: number } }>()

  /** `report` is told of each place once. */
  constructor(report: (damage: LogDamage) => void) {
    this.report = report
  }

  /** In the order in which they were found. */
  get damages(): readonly LogDamage[] { return [...this.found.values()] }
  get damageCount(): number { return this.found.size }

  /** Those of one log. */
  of({ topic, partition }: Pick<LogDamage, 'topic' | 'partition'>): readonly LogDamage[] {
    return this.found.size === 0 ? none : this.damages.filter(damage => damage.topic === topic && damage.partition === partition)
  }

  /**
   * The ends that a start did not find: until the log begins behind where they began, by retention or because somebody deleted the records there, is deleted, or
   * the store stops.
   */
  get lostTails(): readonly LostTail[] {
    for (const [key, { tail, log }] of this.lost) if (log.start > tail.first) this.lost.delete(key)
    return Array.from(this.lost.values(), ({ tail }) => tail)
  }

  /** Of one log. */
  lostTailOf({ topic, partition }: Pick<LostTail, 'topic' | 'partition'>): LostTail | undefined {
    return this.lost.size === 0 ? undefined : this.lostTails.find(tail => tail.topic === topic && tail.partition === partition)
  }

  /** `log` is asked for its start as it is then. */
  lostTail(tail: LostTail, log: { readonly start: number }): void {
    this.lost.set(`${tail.topic}-${tail.partition}`, { tail, log })
  }

  /** The log was deleted, or set aside: another one of its name is another log. */
  forgetLog(id: Pick<LogDamage, 'topic' | 'partition'>): void {
    this.lost.delete(`${id.topic}-${id.partition}`)
    for (const { path, position } of this.of(id)) this.found.delete(`${path} ${position}`)
  }

  /** Its records below `offset` were deleted: nobody can ask for them any more. Gives what is forgotten. */
  forgetBelow(id: Pick<LogDamage, 'topic' | 'partition'>, offset: number): LogDamage[] {
    const gone = this.of(id).filter(({ last }) => last < offset)
    for (const { path, position } of gone) this.found.delete(`${path} ${position}`)
    return gone
  }

  /** Whether the place is known to be damaged. */
  knows(path: string, position: number): boolean {
    return this.found.has(`${path} ${position}`)
  }

  failed(read: 'first' | 'second'): void {
    this.failedChecks[read]++
    this.onFailedCheck(read)
  }

  /** What was read twice, and wrong both times. */
  damaged(damage: LogDamage): void {
    const key = `${damage.path} ${damage.position}`
    if (this.found.has(key)) return
    this.failed('second')
    if (this.found.size < listedMax) this.found.set(key, damage)
    this.report(damage)
  }

  /** A range of a segment is gone, or was read well: what was wrong with it is of no concern any more. Gives what is forgotten. */
  forget(path: string, start = 0, end = Infinity): LogDamage[] {
    if (this.found.size === 0) return []
    const gone = this.damages.filter(damage => damage.path === path && damage.position >= start && damage.position < end)
    for (const damage of gone) this.found.delete(`${damage.path} ${damage.position}`)
    return gone
  }
}
