import { type Metrics } from '../../kernel/ports/telemetry.ts'
import { type Cleaner } from './cleaner.ts'

/** What an operator sees of compaction: what Kafka's `LogCleaner` and `LogCleanerManager` tell, and counters. `nowMs` is monotonic. */
export function observeCleaner(metrics: Metrics, cleaner: Cleaner, nowMs: () => number): void {
  const { figures } = cleaner
  const gauge = (name: string, help: string, read: () => number): void => metrics.gauge(`millrace_log_cleaner_${name}`, help, read)
  gauge('max_dirty_percent', 'Largest share of a compacted log that is dirty, of what may be compacted now.', () => cleaner.backlog().dirtyRatio * 100)
  gauge('max_compaction_delay_seconds', 'Longest time that a record has been dirty beyond max.compaction.lag.ms.', () => cleaner.backlog().overdueMs / 1000)
  gauge('recopy_percent', 'Of the bytes that the last round of compaction read, the share that it wrote again.', () => figures.recopyRatio * 100)
  gauge('max_clean_time_seconds', 'How long the last round of compaction took.', () => figures.lastMs / 1000)
  gauge('max_buffer_utilization_percent', 'How full the table of keys got in the last round of compaction.', () => figures.mapUtilization * 100)
  gauge('time_since_last_run_seconds', 'Since the last round of compaction ended; -1 before the first.', () => figures.lastEndMs < 0 ? -1 : (nowMs() - figures.lastEndMs) / 1000)
  gauge('uncleanable_partitions', 'Logs whose last round of compaction failed; they are tried again.', () => cleaner.uncleanable().length)
  gauge('uncleanable_bytes', 'Bytes of these logs.', () => cleaner.uncleanable().reduce((sum, { log }) => sum + log.sizeBytes, 0))
  const counted = (name: string, help: string, read: () => number): void => metrics.counted(`millrace_log_cleaner_${name}_total`, help, read)
  counted('rounds', 'Rounds of compaction since the start.', () => figures.count)
  counted('read_bytes', 'Bytes that compaction has read since the start.', () => figures.bytesRead)
  counted('written_bytes', 'Bytes that compaction has written since the start.', () => figures.bytesWritten)
  counted('read_records', 'Records that compaction has looked at since the start.', () => figures.recordsRead)
  counted('kept_records', 'Of these, records that stayed.', () => figures.recordsKept)
}
