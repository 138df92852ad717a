import { type Health } from '../../../kernel/ports/lifecycle.ts'
import { type DirectoryStatus } from '../../../kernel/ports/log-store.ts'

/** Failed when no data directory serves, degraded when one of several does not or a disk is full. */
export function directoryHealth(directories: readonly DirectoryStatus[], full: readonly string[] = []): Health {
  const offline = directories.filter((directory) => directory.offline !== undefined)
  const [first] = offline
  if (first === undefined && full.length > 0) {
    return { state: 'degraded', detail: `the disk of ${full.join(', ')} is full and nothing is appended there; free some space, delete topics or lower their retention` }
  }
  if (first === undefined) return { state: 'ok', detail: '' }
  return {
    state: offline.length === directories.length ? 'failed' : 'degraded',
    detail: `${offline.length} of ${directories.length} data directories are offline, ${first.path} since ${first.offline}; look at the disk and restart the broker`,
  }
}
