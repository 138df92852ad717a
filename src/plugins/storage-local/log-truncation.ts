import { ProducerState } from '../../kernel/log/producer-state.ts'
import { segmentFileName } from './core/segment-name.ts'
import { type Segment } from './io/segment.ts'
import { syncPath } from './io/sync-path.ts'
import { type CutPoint, type LogState } from './log-state.ts'
import { type LogSync } from './log-sync.ts'
import { forgetDamage, hideLater } from './log-trim.ts'
import { type CheckpointKind } from './log-world.ts'
import { loadProducers, removeSnapshotsAbove, writeSnapshot } from './producer-recovery.ts'

/** What a truncation comes to, found before anything is changed. */
interface Plan {
  /** Where the log begins and ends then. */
  readonly start: number
  readonly end: number
  /** Undefined where nothing of the log is left: then it begins anew. */
  readonly cut: CutPoint | undefined
  /** Of what is left. */
  readonly producers: ProducerState
}

/** What has taken its space, and waits to be put in place. */
interface Prepared {
  /** The recovery point, and the other bounds that come down before a file is changed. */
  readonly bounds: readonly (() => void)[]
  /** Where that comes down. */
  readonly logStart: (() => void) | undefined
  /** The empty file of a log that begins anew, under a name of which a start makes nothing. */
  readonly empty: string | undefined
}

/**
 * Drops everything at and above `offset`. Whoever asks hears that it is done, or that nothing was: what may be refused, for a full disk or a batch that
 * cannot be read, comes before anything counts, in this order:
 *
 *   what is left of the log, and the state of its producers          read; nothing is changed
 *   the checkpoints as they will be; of a log that begins anew its file and a snapshot    written beside: a start makes nothing of them
 *   the reset in the redo log                       from here on a start puts nothing back that is to go. Before the next, or it would put old batches
 *                                                   over compacted segments, which have to be below the recovery point
 *   recovery point, watermark, clean offset come down           from here on bytes above the end may be missing
 *   segments go, the newest first, each one durably; the last one is cut; snapshots go; synced
 *   the log start comes down, where it does                     not before: what was deleted below it would be served again
 *
 * What fails behind the reset takes the directory out of service: a start then finds the log as it was, or cut, or something between, in which there is no hole.
 */
export function truncateLog(log: LogState, sync: LogSync, offset: number): void {
  const plan = log.guard(() => planOf(log, offset))
  const flushed = log.flushed
  const { kinds, undo } = lower(log, plan)
  try {
    const prepared = log.guard(() => prepare(log, plan, kinds))
    log.guard(() => sync.truncating(plan.end))
    log.wholly(() => carryOut(log, plan, prepared))
  } catch (error) {
    undo()
    throw error
  }
  sync.truncated(flushed)
}

function planOf(log: LogState, offset: number): Plan {
  const start = Math.min(log.start, offset)
  const isLeft = offset > log.start || log.segments.some(({ baseOffset }) => baseOffset === offset)
  const cut = isLeft ? log.lookUp(() => log.cutPoint(offset)) : undefined
  const end = cut?.endOffset ?? offset
  const producers = new ProducerState(log.id, log.world.clock.wallMs())
  loadProducers(log, producers, end)
  return { start, end, cut, producers }
}

/** Brings down what the checkpoints are to say. Gives those that are to be written, and what takes it back. */
function lower(log: LogState, { start, end }: Plan): { readonly kinds: readonly CheckpointKind[], readonly undo: () => void } {
  const before = { start: log.start, synced: log.synced, cleanedTo: log.cleanedTo, watermark: log.watermark }
  log.start = start
  log.synced = Math.min(log.synced, end)
  log.cleanedTo = Math.min(log.cleanedTo, end)
  log.watermark = Math.min(log.watermark, Math.max(start, end))
  const kinds: CheckpointKind[] = ['recovery points']
  if (log.cleanedTo < before.cleanedTo) kinds.push('clean offsets')
  if (log.watermark < before.watermark) kinds.push('watermarks')
  if (log.start < before.start) kinds.push('log starts')
  return { kinds, undo: () => { Object.assign(log, before) } }
}

/** All that takes space. */
function prepare(log: LogState, { start, end, cut, producers }: Plan, kinds: readonly CheckpointKind[]): Prepared {
  const { home } = log
  const bounds = kinds.filter(kind => kind !== 'log starts').map(kind => home.stageCheckpoint(kind))
  const logStart = kinds.includes('log starts') ? home.stageCheckpoint('log starts') : undefined
  if (cut !== undefined) return { bounds, logStart, empty: undefined }
  // With it the producers of what is deleted below are known, though its batches are gone.
  home.spend(() => writeSnapshot(log, producers, end, true))
  const empty = `${log.directory}/${segmentFileName(start, '.log')}.cleaned`
  home.spend(() => log.world.files.open(empty, 'ensure').close())
  return { bounds, logStart, empty }
}

function carryOut(log: LogState, { start, end, cut, producers }: Plan, { bounds, logStart, empty }: Prepared): void {
  log.truncations++
  log.pointWritten = 0
  for (const place of bounds) place()
  if (cut !== undefined) cutAt(log, cut)
  else beginAnew(log, start, empty!)
  log.end = Math.max(start, end)
  removeSnapshotsAbove(log, log.end)
  syncAll(log)
  logStart?.()
  log.synced = log.flushed = log.end
  log.sizeBytes = log.segments.reduce((sum, each) => sum + each.sizeBytes, 0)
  log.epochs.fit(log.start, log.end)
  log.producers.restore(producers.entries())
}

function cutAt(log: LogState, { segment, position, baseOffset, endOffset }: CutPoint): void {
  while (log.active !== segment) removeSegment(log, log.segments.pop()!)
  if (segment.isActive) segment.indexedTo = Math.min(segment.indexedTo, endOffset)
  else reopen(log, segment, endOffset)
  segment.truncate(position, baseOffset)
  forgetDamage(log, segment, position)
}

/** Nothing of it is indexed worse than it was: the recovery point must not come down to where compaction has left gaps. */
function reopen(log: LogState, segment: Segment, endOffset: number): void {
  const { sidesSynced } = segment
  segment.reopen()
  if (sidesSynced) for (const suffix of ['.index', '.timeindex'] as const) syncPath(log.world.files, segment.path(suffix))
  segment.indexedTo = sidesSynced ? endOffset : Math.min(segment.indexedTo, endOffset)
}

/** The new segment is there, by its name, before the last of the old ones goes. */
function beginAnew(log: LogState, offset: number, empty: string): void {
  while (log.segments.length > 1) removeSegment(log, log.segments.pop()!)
  const old = log.active
  log.world.files.rename(empty, empty.slice(0, -'.cleaned'.length))
  log.segments = [log.createSegment(offset)]
  log.world.files.syncDirectory(log.directory)
  removeSegment(log, old)
}

function removeSegment(log: LogState, segment: Segment): void {
  hideLater(log, [segment])
  log.world.files.syncDirectory(log.directory)
}

/** All of the log goes to the disk, so that segments stay synced in their order. */
export function syncAll(log: LogState): void {
  for (const segment of log.segments) {
    // A cut that was not synced leaves no unsynced bytes, and yet has to be.
    if (segment.isActive || segment.syncedBytes < segment.sizeBytes) segment.withFile(file => file.syncNow())
  }
  log.world.files.syncDirectory(log.directory)
  for (const segment of log.segments) segment.markSynced()
}
