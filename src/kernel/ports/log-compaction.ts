import { token } from '../plugin/token.ts'

/** What the compaction of a store has done with the logs that were due. */
export interface CompactionReport {
  /** Logs of which a round came to its end. */
  readonly logsCompacted: number
  /** Logs that failed: they are tried again later, and shown until they succeed. */
  readonly logsFailed: number
  /** Of batches, by all rounds of the call. */
  readonly bytesRead: number
  /** Of the batches that took their place. */
  readonly bytesWritten: number
}

/**
 * The compaction of a log store, beside its LogStore: a store whose plugin declares the capability `compaction` provides it. It runs by itself, every
 * `log.cleaner.backoff.ms`, unless `log.cleaner.enable` is false.
 */
export interface LogCompaction {
  /** Compacts every log that is due now, the one with the largest dirty share first, and does not wait for a log that failed lately. One at a time: a call while one is under way shares its report. What fails is counted in the report, and a stop of the store ends it early: neither rejects. */
  compact(): Promise<CompactionReport>
}
export const LogCompaction = token<LogCompaction>('LogCompaction', { compact: true })
