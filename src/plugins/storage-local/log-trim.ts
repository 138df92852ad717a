import { isMillraceError } from '../../kernel/errors/index.ts'
import { expiredSegments, type AgingSegment } from '../../kernel/log/retention-policy.ts'
import { closesToCompact, mayCloseByTime } from '../../kernel/log/roll-policy.ts'
import { type LogDamage } from './core/integrity-ledger.ts'
import { type Segment } from './io/segment.ts'
import { hideSegment } from './io/segment-removal.ts'
import { type LogState } from './log-state.ts'
import { type LogSync } from './log-sync.ts'
import { keepProducersBelow, writeProducerSnapshot } from './producer-recovery.ts'

/**
 * Closes the active segment and begins another one. Nothing is waited for: the closed one is synced behind, before offsets of the new one
 * count as flushed. If the new file cannot be made the log is as it was.
 */
export function roll(log: LogState, sync: LogSync, baseOffset: number): Segment {
  const closing = log.active
  const opened = log.guard(() => log.createSegment(baseOffset))
  if (closing.sizeBytes === 0) {
    // It held the place of offsets that are skipped. Of a log that begins with them the start is above them before their place is gone.
    if (log.segments.length === 1) beginAbove(log, opened)
    log.segments.pop()
    log.guard(() => removeNow(log, closing))
  }
  log.segments.push(opened)
  log.snapshotPosition = 0
  // What is written beside a segment is made anew if it is missing: a full disk must not stop the append for it.
  if (closing.sizeBytes > 0) tolerateFullDisk(log, () => closing.close(baseOffset))
  tolerateFullDisk(log, () => writeProducerSnapshot(log, baseOffset))
  if (closing.sizeBytes > 0) sync.rolled(closing, baseOffset)
  return opened
}

function beginAbove(log: LogState, opened: Segment): void {
  try {
    log.guard(() => raiseStart(log, opened.baseOffset))
  } catch (error) {
    log.guard(() => removeNow(log, opened))
    throw error
  }
}

function raiseStart(log: LogState, offset: number): void {
  raiseTogether([{ log, start: offset }], () => { log.home.writeCheckpoint('log starts') })
}

/** Durably when it returns; throws with all starts as they were. */
function raiseTogether(logs: readonly Pick<SweepPlan, 'log' | 'start'>[], writeStarts: () => void): void {
  const before = logs.map(({ log }) => log.start)
  for (const { log, start } of logs) log.start = Math.max(log.start, start ?? 0)
  try {
    writeStarts()
  } catch (error) {
    for (const [index, { log }] of logs.entries()) log.start = before[index]!
    throw error
  }
}

function tolerateFullDisk(log: LogState, run: () => void): void {
  try {
    run()
  } catch (error) {
    if (!isMillraceError(error, 'MR_FILE_NO_SPACE')) throw log.home.fault(error)
    log.world.logger.warn('the disk is full: an index or a snapshot will be made anew later', { directory: log.directory })
  }
}

function removeNow(log: LogState, segment: Segment): void {
  for (const path of hideSegment(log.world.files, segment)) log.world.files.remove(path)
}

/** Takes the files of segments out of sight; they are freed after a while. */
export function hideLater(log: LogState, segments: readonly Segment[]): void {
  const { files, removals } = log.world
  const hidden = segments.flatMap(segment => {
    log.world.indexCache.delete(segment)
    forgetDamage(log, segment)
    return hideSegment(files, segment)
  })
  removals.remove(hidden, log.settings.fileDeleteDelayMs, error => {
    if (error === undefined) log.home.freed()
    else log.home.fault(error)
  })
}

/** What is damaged goes with what it is in; that is told, since nobody can look at it any more. */
export function forgetDamage(log: LogState, segment: Segment, sizeBytes = 0): void {
  tellForgotten(log, log.world.integrity.forget(segment.path('.log'), sizeBytes))
}

function tellForgotten(log: LogState, damages: readonly LogDamage[]): void {
  if (damages.length === 0) return
  const { topic, partition } = log.id
  log.world.logger.warn('damaged records are deleted with those around them', { topic, partition, path: damages[0]!.path, offsets: damages.map(({ first, last }) => `${first} to ${last}`) })
}

/** Raises the start of the log; what lies wholly below is freed later. */
export function deletePrefix(log: LogState, sync: LogSync, offset: number): void {
  if (offset > log.watermark) throw log.outOfRange(offset)
  if (offset <= log.start) return
  log.guard(() => {
    keepEpochs(log)
    raiseStart(log, offset)
    log.epochs.truncateStart(offset)
    tellForgotten(log, log.world.integrity.forgetBelow(log.id, offset))
    dropSegments(log, sync, segmentsBelow(log, offset))
  })
}

/** The epochs of what is about to be deleted are nowhere but in its batches, and in this file. */
function keepEpochs(log: LogState): void {
  log.home.spend(() => log.writeEpochs())
}

/** What a sweep is about to do with one log. It has been decided, and the epochs kept: nothing else has changed but what was rolled. */
export interface SweepPlan {
  readonly log: LogState
  readonly sync: LogSync
  /** Where the log is to begin, where that is above its start now. */
  readonly start: number | undefined
  readonly rolled: boolean
  /** Of the log, at the time: what was cut since makes the plan void. */
  readonly truncations: number
}

/** Forgets idle producers, rolls by time and for compaction, and decides what retention takes. Then comes `raiseStarts`, then `finishSweep`; the log goes on between them. */
export function beginSweep(log: LogState, sync: LogSync, nowMs: number): SweepPlan | undefined {
  if (log.failure !== undefined || !log.configured) return undefined
  return log.guard(() => {
    log.producers.expire(nowMs, log.world.producerExpirationMs)
    const { segments, settings } = log
    const limits = { sizeBytes: log.sizeBytes, startOffset: log.start, highWatermark: log.watermark, nowMs }
    const expired = expiredSegments(segments.map(segment => aging(segment, nowMs - settings.retentionMs)), limits, settings)
    const rolled = expired === segments.length || mayCloseByTime(log.active, settings, nowMs) || closesToCompact(log.id.topic, log.active, log.sizeBytes, settings)
    if (rolled) log.home.spend(() => roll(log, sync, log.end))
    if (expired > 0) keepEpochs(log)
    const start = expired > 0 ? log.segments[expired]!.baseOffset : undefined
    return expired > 0 || rolled ? { log, sync, start, rolled, truncations: log.truncations } : undefined
  })
}

/**
 * Raises the starts of logs of one directory, durably when it returns: what is deleted must not come back, and whoever asks for a deletion of the same
 * records is told that they are gone. Gives the plans that hold still; throws with all starts as they were.
 */
export function raiseStarts(plans: readonly SweepPlan[], writeStarts: () => void): readonly SweepPlan[] {
  const valid = plans.filter(({ log, truncations }) => log.failure === undefined && log.truncations === truncations)
  raiseTogether(valid, writeStarts)
  for (const { log } of valid) log.epochs.truncateStart(log.start)
  return valid
}

/** A segment that seems to be older than `oldMs` is looked at again, by indexes that were checked: nothing is deleted on a guess. */
function aging(segment: Segment, oldMs: number): AgingSegment {
  return {
    endOffset: segment.endOffset,
    sizeBytes: segment.sizeBytes,
    largestTimestamp: () => {
      if (segment.largestTimestamp() < oldMs) segment.indexes()
      return segment.largestTimestamp()
    },
  }
}

/** Takes the files of what the sweep gave up out of sight, or of what is left of it: the log goes on between the two. */
export function finishSweep({ log, sync }: SweepPlan): { readonly segments: number, readonly bytes: number } {
  return log.guard(() => {
    const segments = segmentsBelow(log, log.start)
    return { segments, bytes: dropSegments(log, sync, segments) }
  })
}

/** So many of the oldest segments lie wholly below an offset. Never the active one. */
function segmentsBelow(log: LogState, offset: number): number {
  let below = 0
  while (below < log.segments.length - 1 && log.segments[below]!.endOffset <= offset) below++
  return below
}

function dropSegments(log: LogState, sync: LogSync, count: number): number {
  if (count === 0) return 0
  log.home.spend(() => keepProducersBelow(log, log.segments[count]!.baseOffset))
  const dropped = log.segments.splice(0, count)
  const bytes = dropped.reduce((sum, segment) => sum + segment.sizeBytes, 0)
  log.sizeBytes -= bytes
  hideLater(log, dropped)
  passDropped(log, sync)
  return bytes
}

/**
 * What is gone needs no sync any more, once it is durably gone, and the segment behind durably there: a log that nobody appends to would never have one, and the redo log could not
 * use the files again that have its batches.
 */
function passDropped(log: LogState, sync: LogSync): void {
  const { baseOffset } = log.segments[0]!
  if (baseOffset <= log.synced) return
  log.world.files.syncDirectory(log.directory)
  sync.dropped(baseOffset)
}
