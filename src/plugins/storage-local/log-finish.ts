import { syncPath } from './io/sync-path.ts'
import { type LogState } from './log-state.ts'
import { writeProducerSnapshot } from './producer-recovery.ts'

/**
 * Makes durable what the next start wants to find beside the segments: the ends of the indexes, the producers' state. Of a log that was not touched since a
 * start after a clean stop all of it is there: of thousands of partitions most are idle, and each would cost a handful of syncs.
 */
export function finishLog(log: LogState): void {
  if (log.isFinished && log.segments.every(segment => segment === log.active || segment.sidesSynced)) return
  for (const segment of log.segments) {
    if (segment.sidesSynced) continue
    segment.writeFinalSides()
    for (const suffix of sideSuffixes) syncPath(log.world.files, segment.path(suffix))
  }
  log.active.indexedTo = log.end
  writeProducerSnapshot(log, log.end, true)
  log.world.files.syncDirectory(log.directory)
}

/** What a start wants to find beside a segment. */
export const sideSuffixes = ['.index', '.timeindex', '.sum'] as const
