import { type Health } from '../../../kernel/ports/lifecycle.ts'
import { type DirectoryStatus } from '../../../kernel/ports/log-store.ts'
import { type LogDamage, type LostTail } from './integrity-ledger.ts'

/** A log that could not be compacted. */
export interface Uncleanable {
  readonly topic: string
  readonly partition: number
  readonly reason: string
}

/** Failed when no data directory serves, degraded when one of several does not, a disk is full, records are damaged or missing or may be undeleted, or a log cannot be compacted. */
export function directoryHealth(directories: readonly DirectoryStatus[], full: readonly string[] = [], damages: readonly LogDamage[] = [], uncleanable: readonly Uncleanable[] = [], lost: readonly LostTail[] = [], startsLost: readonly string[] = []): Health {
  const offline = directories.filter((directory) => directory.offline !== undefined)
  const [first] = offline
  if (first === undefined && full.length > 0) {
    return { state: 'degraded', detail: `the disk of ${full.join(', ')} is full and nothing is appended there; free some space, delete topics or lower their retention` }
  }
  const [damage] = damages
  if (first === undefined && damage !== undefined) {
    const { topic, partition, path, position } = damage
    return { state: 'degraded', detail: `${damages.length === 1 ? '1 place of a log is' : `${damages.length} places of logs are`} damaged and not served, the first is offset ${damage.first} of ${topic}-${partition} in ${path} at byte ${position}; restore the segments from a copy` }
  }
  const [tail] = lost
  if (first === undefined && tail !== undefined) {
    return {
      state: 'degraded',
      detail: `${lost.length === 1 ? '1 log misses' : `${lost.length} logs miss`} records that were on the disk before the power went, the first from offset ${tail.first} of ${tail.topic}-${tail.partition} up to ${tail.last}; their offsets are given to others: produce what is missing again (docs/damage.md)`,
    }
  }
  if (first === undefined && startsLost.length > 0) {
    return {
      state: 'degraded',
      detail: `where ${startsLost.length === 1 ? '1 log begins' : `${startsLost.length} logs begin`} was lost: records that were deleted from ${startsLost.slice(0, 3).join(', ')}${startsLost.length > 3 ? ' and others' : ''} may be served again; delete once more what is not to be read (docs/damage.md)`,
    }
  }
  const [failing] = uncleanable
  if (first === undefined && failing !== undefined) {
    return { state: 'degraded', detail: `${uncleanable.length} ${uncleanable.length === 1 ? 'log' : 'logs'} could not be compacted and will be tried again, ${failing.topic}-${failing.partition} among them: ${failing.reason}` }
  }
  if (first === undefined) return { state: 'ok', detail: '' }
  return {
    state: offline.length === directories.length ? 'failed' : 'degraded',
    detail: `${offline.length} of ${directories.length} data directories are offline, ${first.path} since ${first.offline}; look at the disk and restart the broker`,
  }
}
