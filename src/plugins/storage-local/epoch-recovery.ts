import { type EpochEntry } from '../../kernel/log/epoch-history.ts'
import { baseOffsetOf, leaderEpochOf } from '../../kernel/record/batch-header.ts'
import { scanBuffer } from './log-recovery.ts'
import { type LogState } from './log-state.ts'

/**
 * Brings back the leader epochs of a log whose batches are checked from `scanFrom` on. They come from their file, which has all that begin below `filedTo`, the recovery point: of those
 * the batches may know less, where compaction has taken the first of an epoch. Without a file that can be read they come from all headers of that part. Gives what the file has.
 */
export function recoverEpochs(log: LogState, scanFrom: number, filedTo = scanFrom): readonly EpochEntry[] {
  const { epochs } = log
  epochs.truncateEnd(0)
  const reason = log.loadEpochs()
  const filed = [...epochs.all]
  epochs.truncateEnd(Math.max(scanFrom, filedTo))
  if (reason === undefined) return filed
  for (const segment of log.segments) {
    if (segment.baseOffset >= scanFrom) break
    segment.withFile(file => {
      const scan = segment.scan(file, 0, scanBuffer)
      while (scan.next() && baseOffsetOf(scan.bytes, scan.at) < scanFrom) epochs.append(leaderEpochOf(scan.bytes, scan.at), baseOffsetOf(scan.bytes, scan.at))
      if (scan.problem !== undefined) throw log.corrupt(epochs.lastEpoch < 0 ? segment.baseOffset : scanFrom, segment.path('.log'), `at byte ${scan.position}: ${scan.problem}`)
    })
  }
  if (epochs.lastEpoch >= 0) log.world.logger.warn('leader epochs were made anew from the batches', { path: log.epochFile.path, reason })
  return filed
}
