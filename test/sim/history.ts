/**
 * One partition, for as long as what is promised of it holds: `<topic>/<topic id>/<life>/<partition>`. A topic made again is another, and so is one
 * with durability `os` behind a power cut.
 */
export type PartitionKey = string

export interface SeenRecord {
  readonly offset: number
  readonly timestamp: number
  /** Name and digest of key, value and headers: no two records of a run have the same, but for one that was sent twice. Where compaction goes by it, the key is in it: see `keyIn`. */
  readonly content: string
}

/** The content of a record with a key. */
export const contentWithKey = (content: string, key: string): string => `${content} of ${key}`

/** The key of a record by its content; undefined for one without a key. */
export function keyIn(content: string): string | undefined {
  const at = content.indexOf(' of ')
  return at < 0 ? undefined : content.slice(at + 4)
}

export interface SeenBatch {
  readonly baseOffset: number
  readonly lastOffset: number
  /** -1 without idempotence. */
  readonly producerId: number
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly recordsCount: number
}

/** Files by their paths. */
export type FileImage = ReadonlyMap<string, Uint8Array>

export type HistoryEvent =
  /** A partition exists. `trimmed`: retention may take its beginning. `compacted`: records go that a later one of their key has overtaken. */
  | { readonly kind: 'created', readonly partition: PartitionKey, readonly trimmed: boolean, readonly compacted?: boolean }
  /** From here on all records below may be gone: DeleteRecords was asked for. */
  | { readonly kind: 'deleting', readonly partition: PartitionKey, readonly offset: number }
  /** It was answered: no record below is there any more, and none comes back. */
  | { readonly kind: 'records deleted', readonly partition: PartitionKey, readonly lowWatermark: number }
  | { readonly kind: 'deleted', readonly partition: PartitionKey }
  /** The broker ended: in order, by `kill -9`, or with its machine. */
  | { readonly kind: 'ended', readonly how: 'stop' | 'kill' | 'power' }
  /** A produce was acknowledged, that began at `begun` as `History.now` was then. `producer` where it was idempotent; offset -1 where the broker knows it as a duplicate whose offset it has forgotten. */
  | {
    readonly kind: 'appended', readonly partition: PartitionKey, readonly acks: 'all' | 1, readonly baseOffset: number, readonly contents: readonly string[],
    readonly begun: number, readonly producer?: { readonly id: number, readonly epoch: number, readonly sequence: number },
  }
  /** A client was given records, in this order. */
  | { readonly kind: 'read', readonly partition: PartitionKey, readonly records: readonly SeenRecord[] }
  /** What a Fetch response says. `begun` is the time at which it was asked for, as `History.now` was; offsets are -1 where it has none. */
  | {
    readonly kind: 'fetched', readonly partition: PartitionKey, readonly begun: number, readonly isolation: 'read_uncommitted' | 'read_committed',
    readonly highWatermark: number, readonly lastStableOffset: number, readonly logStartOffset: number, readonly records: readonly SeenRecord[],
  }
  /** An end of the log as ListOffsets says. */
  | { readonly kind: 'edge', readonly partition: PartitionKey, readonly begun: number, readonly end: 'start' | 'high watermark' | 'last stable offset', readonly offset: number }
  /** What a lookup by time found while others were writing; -1 where it found nothing. */
  | { readonly kind: 'located', readonly partition: PartitionKey, readonly wanted: number | 'max', readonly offset: number, readonly timestamp: number }
  /** Everything in a log, from its start to its high watermark, while nobody wrote; with lookups made at the same time. */
  | {
    readonly kind: 'scanned', readonly partition: PartitionKey, readonly startOffset: number, readonly highWatermark: number,
    readonly batches: readonly SeenBatch[], readonly records: readonly SeenRecord[],
    readonly lookups: readonly { readonly wanted: number | 'max', readonly offset: number, readonly timestamp: number }[],
  }
  /** A broker that was killed: what a power cut could not have taken, and what was found after one recovery and after a second one. */
  | { readonly kind: 'recovered', readonly synced: FileImage, readonly first: FileImage, readonly second: FileImage }

export interface Checker {
  /** What it holds true, as in docs/reliability.md. */
  readonly claim: string
  /** Throws a Violation when this event, after those before it, shows that the claim does not hold. */
  see(event: HistoryEvent, now: number): void
}

/** The product did what it must never do. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

/** What clients saw, in the order in which they saw it, with the checkers that watch. */
export class History {
  /** Counts events. A call that began at `now` n came after every event below n. */
  now = 0
  private powerCutAt = -1
  private readonly checkers: readonly Checker[]
  private readonly observe: (event: HistoryEvent) => void

  constructor(checkers: readonly Checker[], observe: (event: HistoryEvent) => void = () => undefined) {
    this.checkers = checkers
    this.observe = observe
  }

  add(event: HistoryEvent): void {
    this.observe(event)
    const { now } = this
    this.now++
    if (event.kind === 'ended' && event.how === 'power') this.powerCutAt = now
    // An answer to acks=1 may still be under way when the power is cut; what it promised is then over before it is heard.
    if (event.kind === 'appended' && event.acks === 1 && event.begun <= this.powerCutAt) return
    for (const checker of this.checkers) {
      try {
        checker.see(event, now)
      } catch (error) {
        if (error instanceof Violation) throw new Violation(`${checker.claim}: ${error.message}`)
        throw error
      }
    }
  }
}
