import { type MillraceError } from '../../kernel/errors/index.ts'
import { type DirectoryPlan } from './core/directory-plan.ts'
import { parseSegmentFileName, segmentFileName } from './core/segment-name.ts'
import { type KnownOfLog } from './log-known.ts'
import { durableTo } from './log-recovery.ts'
import { type LogState } from './log-state.ts'

/**
 * Before anything is changed: what is there, with what the redo log is to put back, has to begin at the log start or below it. Files go when the start is durably behind them, the
 * first one is on the disk before the log has its name, and a compacted segment has the name of the first that it replaces. Throws MR_LOG_CORRUPT. Gives whether it begins above the
 * start as a power cut may leave it.
 */
export function checkBegin(log: LogState, known: KnownOfLog): boolean {
  const bases = basesIn(log)
  const redone = known.redo?.batches ?? []
  const isGone = bases.length === 0
  // The redo log has nothing of what is below the recovery point: a segment that it would make had only the end.
  if (isGone && redone.length > 0 && (known.recoveryPoint ?? 0) > known.startOffset) throw nothingThere(log, known, known.recoveryPoint!)
  // No spread: the redo log may have more batches than a call takes arguments.
  const begin = redone.reduce((first, batch) => Math.min(first, batch.segmentBase), Math.min(...bases))
  if (begin === Infinity || begin <= known.startOffset || !(known.startSure || isGone)) return false
  if (mayBeUnsynced(known, known.startOffset)) return true
  throw log.corrupt(known.startOffset, log.directory, `its first segment begins at ${begin}, and the log at ${known.startOffset}: what is between is missing`)
}

/**
 * The `.log` of a segment is the first of its files to go, but not before the log start is durably behind it, and segments that are cut
 * away go the newest first: otherwise it was taken away. Only a power cut may leave it out, where nothing of it was on the disk yet: a roll waits for
 * no name. What is behind that hole was not either, and the recovery sees to it.
 */
export function checkOrphans(log: LogState, known: KnownOfLog, { orphans, segments }: DirectoryPlan): void {
  const { files } = log.world
  for (const baseOffset of orphans) {
    const next = segments.find(other => other > baseOffset)
    if (next === undefined || next <= known.startOffset || mayBeUnsynced(known, baseOffset)) continue
    const entries = (['.index', '.timeindex'] as const).some(suffix => (files.stat(`${log.directory}/${segmentFileName(baseOffset, suffix)}`)?.bytes ?? 0) > 0)
    if (entries) throw log.corrupt(baseOffset, `${log.directory}/${segmentFileName(baseOffset, '.log')}`, 'the segment is missing, and its indexes are there')
  }
}

/** A log of which a checkpoint says that it had records is not to begin anew, empty. */
export function checkThere(log: LogState, known: KnownOfLog): void {
  const ended = Math.max(durableTo(known), known.highWatermark)
  if (log.segments.length === 0 && ended > known.startOffset) throw nothingThere(log, known, ended)
}

function basesIn(log: LogState): number[] {
  return log.world.files.list(log.directory).flatMap(name => {
    const parsed = parseSegmentFileName(name)
    return parsed?.suffix === '.log' && (parsed.stage === undefined || parsed.stage === '.swap') ? [parsed.offset] : []
  })
}

/** A power cut may have taken the names of segments of which nothing was synced. */
function mayBeUnsynced(known: KnownOfLog, offset: number): boolean {
  return !known.clean && known.cache !== 'intact' && known.recoveryPoint !== undefined && offset >= durableTo(known)
}

function nothingThere(log: LogState, known: KnownOfLog, ended: number): MillraceError {
  return log.corrupt(known.startOffset, log.directory, `there is no segment, and a checkpoint says that the log went up to ${ended}`)
}
