import { type BatchCompactor, type RewriteOptions } from '../../kernel/log/compaction-round.ts'
import { type CleanedFacts } from './io/cleaned-segment.ts'
import { type Segment } from './io/segment.ts'

/** What a round of compaction goes by, as data. */
export interface RoundFacts {
  /** Where the dirty part begins. */
  readonly begin: number
  readonly mapBytes: number
  readonly loadFactor: number
  /** 16 random bytes. */
  readonly secret: Uint8Array
  readonly nowMs: number
  readonly deleteRetentionMs: number
  /** Last offset of the newest batch of each producer that is remembered. */
  readonly lastOffsets: ReadonlyMap<number, number>
  readonly rewrite: RewriteOptions
}

/** Where the table of keys stands, and what was seen of the records. */
export interface RoundFigures {
  /** Of what was indexed. */
  readonly endOffset: number
  readonly mapUtilization: number
  readonly nextHorizonMs: number
  readonly bytesRead: number
  readonly bytesWritten: number
  readonly recordsRead: number
  readonly recordsKept: number
  /** Batches that were left as they are, for their records cannot be read. */
  readonly unreadable: number
}

export const figuresOf = (map: { readonly endOffset: number, readonly utilization: number }, compactor: BatchCompactor, bytes: Pick<RoundFigures, 'bytesRead' | 'bytesWritten'>): RoundFigures => ({
  endOffset: map.endOffset, mapUtilization: map.utilization, nextHorizonMs: compactor.sieve.nextHorizonMs, ...bytes,
  recordsRead: compactor.sieve.recordsRead, recordsKept: compactor.sieve.recordsKept, unreadable: compactor.unreadable,
})

/**
 * What one round does to the segments of its log, which are `S`: their keys are put into a table, and then they are written anew without the records that were overtaken. All that
 * takes time; names are the caller's. One call at a time. What it fails with is said of the call; what it has written by then is for `discard`.
 */
export interface RoundWork<S = Segment> {
  /** Puts the keys of a segment into the table; false when that is full. */
  index(segment: S): Promise<boolean>
  /**
   * Writes what is left of a run of segments under names that do not count, durable but for those, and gives how large it is: undefined where there is nothing to write, for a single
   * segment stays as it is.
   */
  clean(group: readonly S[], facts: CleanedFacts): Promise<number | undefined>
  /** What `clean` has written is not wanted. */
  discard(facts: CleanedFacts): Promise<void>
  /** It has taken the place of the segments: makes that durable. */
  swapped(directory: string): Promise<void>
  figures(): Promise<RoundFigures>
  /** Nothing more is asked. */
  end(): void
}
