/** Compaction as one would write it without a thought of memory, disk or speed: what the real one is held against. */
export interface NaiveRecord {
  readonly offset: number
  readonly timestamp: number
  readonly key: string | null
  readonly value: string | null
}

export interface NaiveBatch {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly producerId: number
  readonly baseSequence: number
  readonly records: readonly NaiveRecord[]
  /** Undefined: no round that had all older records of its tombstones in sight has seen it. */
  readonly horizonMs: number | undefined
}

export interface NaiveRound {
  /** Where the dirty part begins, and up to where it may be compacted. */
  readonly firstDirty: number
  readonly bound: number
  /** So many keys fit the map. */
  readonly keysMax: number
  readonly nowMs: number
  readonly deleteRetentionMs: number
  readonly lastOffsets: ReadonlyMap<number, number>
  /** Last offsets of the batches that are the last of their new segment. */
  readonly placeKeepers: (cleanedTo: number) => ReadonlySet<number>
}

/** Gives the batches that are left, and up to where the log is clean then. */
export function naiveCompaction(batches: readonly NaiveBatch[], round: NaiveRound): { readonly batches: NaiveBatch[], readonly cleanedTo: number } {
  const dirty = batches.flatMap(batch => batch.records).filter(({ offset }) => offset >= round.firstDirty && offset < round.bound)
  const keys = new Set<string>()
  const tooMany = dirty.find(({ key }) => key !== null && keys.add(key).size > round.keysMax)
  const indexed = dirty.filter(({ offset }) => tooMany === undefined || offset < tooMany.offset)
  // As far as the last record that was indexed, when the map was full; else up to the bound.
  const cleanedTo = tooMany === undefined ? Math.max(round.bound, round.firstDirty) : Math.max(round.firstDirty, ...batches.filter(({ lastOffset }) => lastOffset < tooMany.offset).map(({ lastOffset }) => lastOffset + 1), ...indexed.map(({ offset }) => offset + 1))
  const last = new Map(indexed.flatMap(({ key, offset }) => key === null ? [] : [[key, offset] as const]))
  const keepers = round.placeKeepers(cleanedTo)
  const left: NaiveBatch[] = []
  for (const batch of batches) {
    if (!isInReach(batch, keepers)) {
      left.push(batch)
      continue
    }
    const mayDrop = batch.horizonMs !== undefined && batch.horizonMs <= round.nowMs
    const records = batch.records.filter(({ key, value, offset }) => {
      if (offset >= cleanedTo) return true
      if (key === null) return false
      if (value === null && mayDrop) return false
      return offset >= (last.get(key) ?? -1)
    })
    if (records.length === 0) {
      const isNeeded = keepers.has(batch.lastOffset) || (batch.producerId >= 0 && round.lastOffsets.get(batch.producerId) === batch.lastOffset)
      if (isNeeded) left.push({ ...batch, records, horizonMs: undefined })
      continue
    }
    const isStamped = batch.horizonMs === undefined && batch.lastOffset < cleanedTo && records.some(({ value }) => value === null)
    left.push({ ...batch, records, horizonMs: isStamped ? round.nowMs + round.deleteRetentionMs : batch.horizonMs })
  }
  return { batches: left, cleanedTo }
}

/** Segments that a round does not touch lie behind those that it does. */
function isInReach({ lastOffset }: NaiveBatch, keepers: ReadonlySet<number>): boolean {
  return keepers.size > 0 && lastOffset <= Math.max(...keepers)
}
