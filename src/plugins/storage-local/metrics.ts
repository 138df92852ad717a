import { type DeviceSpace } from '../../kernel/ports/file-system.ts'
import { type DirectoryStatus } from '../../kernel/ports/log-store.ts'
import { type IntegrityLedger } from './core/integrity-ledger.ts'
import { type RedoCounts } from './redo-log.ts'
import { type Counter, type GaugeSample, type Labels, type Metrics } from '../../kernel/ports/telemetry.ts'

/** What an operator sees of the data directories. */
export function observeDirectories(metrics: Metrics, directories: () => readonly DirectoryStatus[]): void {
  const gauge = (name: string, help: string, of: (directory: DirectoryStatus) => number): void => {
    metrics.gauge(name, help, () => directories().map((directory): GaugeSample => ({ labels: { path: directory.path }, value: of(directory) })))
  }
  gauge('millrace_log_directory_online', '1 while the data directory serves, 0 when it is out of service.', ({ offline }) => offline === undefined ? 1 : 0)
  gauge('millrace_log_directory_bytes', 'Bytes of the segments in a data directory.', ({ usedBytes }) => usedBytes)
  gauge('millrace_log_directory_partitions', 'Partition logs in a data directory.', ({ partitions }) => partitions)
}

/** What an operator sees of the disks that data directories are on. One that does not say, or is of a directory out of service, has no figures. */
export function observeDisks(metrics: Metrics, directories: () => readonly DirectoryStatus[]): void {
  const gauge = (name: string, help: string, of: (space: DeviceSpace) => number): void => {
    metrics.gauge(name, help, () => directories().flatMap(({ path, space }): GaugeSample[] => {
      const figures = space?.()
      return figures === undefined ? [] : [{ labels: { path }, value: of(figures) }]
    }))
  }
  gauge('millrace_log_directory_disk_free_bytes', 'Bytes free for the broker on the file system of a data directory, beside its reserve.', ({ freeBytes }) => freeBytes)
  gauge('millrace_log_directory_disk_total_bytes', 'Bytes of the file system of a data directory, used and free.', ({ totalBytes }) => totalBytes)
}

/** What the redo log of one data directory has done since the start, and how full it is. */
export interface RedoFigures extends RedoCounts {
  readonly path: string
  readonly bytesInUse: number
}

/** What an operator sees of the redo logs. */
export function observeRedo(metrics: Metrics, redo: () => readonly RedoFigures[]): void {
  const gauge = (name: string, help: string, of: (figures: RedoFigures) => number): void => {
    metrics.gauge(name, help, () => redo().map((figures): GaugeSample => ({ labels: { path: figures.path }, value: of(figures) })))
  }
  gauge('millrace_redo_bytes_in_use', 'Bytes of the redo log that a restart would need.', ({ bytesInUse }) => bytesInUse)
}

/** What is counted of a redo log, each by its name and in words. */
const redoCounters: Readonly<Record<keyof RedoCounts, readonly [name: string, help: string]>> = {
  groups: ['millrace_redo_groups_total', 'Groups written to the redo log: each is one sync for all partitions in it.'],
  inlineSyncs: ['millrace_redo_inline_syncs_total', 'Of these, syncs that were waited for on the event loop.'],
  batches: ['millrace_redo_batches_total', 'Batches written to the redo log.'],
  bytes: ['millrace_redo_bytes_total', 'Bytes written to the redo log.'],
  refused: ['millrace_redo_refused_total', 'Batches that found no room in the redo log and were synced in their segments.'],
  reclaimed: ['millrace_redo_reclaimed_files_total', 'Files of the redo log that were freed to be written again.'],
}

/** Adds to what was counted of the redo log of a directory. */
export type CountRedo = (what: keyof RedoCounts, amount: number) => void

/** Makes the counters of the redo log in the directory `path`. */
export function redoCounter(metrics: Metrics, path: string): CountRedo {
  const counters = Object.fromEntries(Object.entries(redoCounters).map(([what, [name, help]]) => [what, metrics.counter(name, help, { path })])) as Record<keyof RedoCounts, Counter>
  return (what, amount) => { counters[what].add(amount) }
}

/** What an operator sees of the integrity of the logs. `nowMs` is monotonic. */
export function observeIntegrity(metrics: Metrics, integrity: IntegrityLedger, nowMs: () => number): void {
  metrics.gauge('millrace_log_damaged_places', 'Places in segments that are damaged and not served: found since the start, and not deleted or repaired. At most 1000 are kept in mind.', () => integrity.damageCount)
  metrics.gauge('millrace_log_partition_damaged_places', 'Places of a partition that are damaged and not served; of those alone that have some.', () => {
    const places = new Map<string, { readonly labels: Labels, value: number }>()
    for (const { topic, partition } of integrity.damages) {
      const name = `${topic}-${partition}`
      const sample = places.get(name) ?? { labels: { topic, partition: String(partition) }, value: 0 }
      sample.value++
      places.set(name, sample)
    }
    return [...places.values()]
  })
  metrics.gauge('millrace_log_partition_missing_records', 'Offsets of a partition whose records were on the disk before a power cut and were not found by this start; of those alone that miss some.',
    () => integrity.lostTails.map(({ topic, partition, first, last }): GaugeSample => ({ labels: { topic, partition: String(partition) }, value: last - first + 1 })))
  const failed = (read: string): Counter => metrics.counter('millrace_log_failed_checks_total', 'Checks of bytes from the disk that failed, by whether it was the first read of them or the second. First ones without a second one are faults on the way.', { read })
  const counters = { first: failed('first'), second: failed('second') }
  integrity.onFailedCheck = read => { counters[read].add(1) }
  metrics.counted('millrace_log_first_read_checked_bytes_total', 'Bytes that were checked at their first read since the start.', () => integrity.firstReadBytes)
  metrics.counted('millrace_scrub_bytes_total', 'Bytes of closed segments that the scrubber has checked since the start.', () => integrity.scrubbedBytes)
  metrics.counted('millrace_scrub_sums_made_total', 'Segments without checksums that the scrubber has made some for since the start.', () => integrity.sumsMade)
  metrics.counted('millrace_scrub_passes_total', 'Passes of the scrubber over all closed segments since the start.', () => integrity.passes)
  metrics.gauge('millrace_scrub_last_pass_age_seconds', 'Since the last pass of the scrubber ended; -1 before the first.',
    () => integrity.lastPassMs < 0 ? -1 : (nowMs() - integrity.lastPassMs) / 1000)
}
