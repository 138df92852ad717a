import { type DirectoryStatus } from '../../kernel/ports/log-store.ts'
import { type GaugeSample, type Metrics } from '../../kernel/ports/telemetry.ts'

/** What an operator sees of the data directories. */
export function observeDirectories(metrics: Metrics, directories: () => readonly DirectoryStatus[]): void {
  const gauge = (name: string, help: string, of: (directory: DirectoryStatus) => number): void => {
    metrics.gauge(name, help, () => directories().map((directory): GaugeSample => ({ labels: { path: directory.path }, value: of(directory) })))
  }
  gauge('millrace_log_directory_online', '1 while the data directory serves, 0 when it is out of service.', ({ offline }) => offline === undefined ? 1 : 0)
  gauge('millrace_log_directory_bytes', 'Bytes of the segments in a data directory.', ({ usedBytes }) => usedBytes)
  gauge('millrace_log_directory_partitions', 'Partition logs in a data directory.', ({ partitions }) => partitions)
}
