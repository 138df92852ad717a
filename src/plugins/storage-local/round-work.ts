import { type BatchCompactor, type RewriteOptions } from '../../kernel/log/compaction-round.ts'

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
  readonly recordsRead: number
  readonly recordsKept: number
  /** Batches that were left as they are, for their records cannot be read. */
  readonly unreadable: number
}

export const figuresOf = (map: { readonly endOffset: number, readonly utilization: number }, compactor: BatchCompactor): RoundFigures => ({
  endOffset: map.endOffset, mapUtilization: map.utilization, nextHorizonMs: compactor.sieve.nextHorizonMs,
  recordsRead: compactor.sieve.recordsRead, recordsKept: compactor.sieve.recordsKept, unreadable: compactor.unreadable,
})

/** What is left of some batches. */
export interface Compacted {
  /** Whole batches, in order. Until the next call. */
  readonly batches: readonly Uint8Array[]
  /** Whether anything is not as it was. */
  readonly changed: boolean
}

/**
 * What one round does to records: their keys are put into a table, and then records go that were overtaken. All that takes a processor's time; the files are the
 * caller's. One call at a time.
 */
export interface RoundWork {
  /** So many bytes are given at a time, but for larger batches. */
  readonly chunkBytes: number
  /** Whether the caller may read on while a call is under way. */
  readonly readsAhead: boolean
  /** Memory for what is given. */
  memory(bytes: number): Uint8Array
  /** Puts the keys of whole batches in `bytes[0, end)` into the table; false when it is full. */
  index(bytes: Uint8Array, end: number): Promise<boolean>
  /** All records below `offset` are in the table. */
  reached(offset: number): void
  /** What is left of the whole batches in `bytes[0, end)`. `keepsLast`: the last one stays, be it empty. */
  compact(bytes: Uint8Array, end: number, keepsLast: boolean): Promise<Compacted>
  figures(): Promise<RoundFigures>
  /** Nothing more is asked. */
  end(): void
}
