import { isInternalTopic } from '../model/topic-name.ts'
import { type TopicSettings } from '../model/topic-settings.ts'

/** Offsets in an index entry are this far from the segment's base offset at most: an int32. */
export const relativeOffsetMax = 0x7fff_ffff

/** A segment that holds less is not closed for compaction: its files would cost more than what is spared. */
const worthClosingBytes = 1_048_576

/** The segment that is appended to, as far as a roll depends on it. */
export interface ActiveSegment {
  readonly baseOffset: number
  readonly sizeBytes: number
  /** When it was made, or opened by this process. */
  readonly createdMs: number
  /** Largest timestamp of its first batch; -1 when that has none or there is no batch. */
  readonly firstTimestamp: number
  /** Its part of `segment.jitter.ms`, drawn when it was made. */
  readonly jitterMs: number
  /** No entry fits one of its indexes any more. */
  readonly indexFull: boolean
}

/** The batch that is to be appended. */
export interface NextBatch {
  readonly bytes: number
  readonly lastOffset: number
  /** -1 when it has none. */
  readonly maxTimestamp: number
}

/**
 * Whether a batch has to go to a new segment: the old one would pass `segment.bytes`, spans `segment.ms` of record time (wall time since it
 * was made, where records have none), is full in an index, or the batch's offset does not fit its entries. An empty segment never
 * rolls but for the offset.
 */
export function mustRoll(segment: ActiveSegment, next: NextBatch, settings: TopicSettings, nowMs: number): boolean {
  if (next.lastOffset - segment.baseOffset > relativeOffsetMax) return true
  if (segment.sizeBytes === 0) return false
  if (segment.sizeBytes > settings.segmentBytes - next.bytes || segment.indexFull) return true
  return timeHasCome(segment, next.maxTimestamp, settings, nowMs)
}

function timeHasCome(segment: ActiveSegment, newestTimestamp: number, settings: TopicSettings, nowMs: number): boolean {
  const waitedMs = segment.firstTimestamp >= 0 && newestTimestamp >= 0 ? newestTimestamp - segment.firstTimestamp : nowMs - segment.createdMs
  return waitedMs > ageMaxMs(settings) - segment.jitterMs
}

/** `segment.ms`; of a compacted topic no more than `max.compaction.lag.ms`, since only what is closed is compacted. */
function ageMaxMs(settings: TopicSettings): number {
  return settings.compact ? Math.min(settings.segmentMs, settings.maxCompactionLagMs) : settings.segmentMs
}

/**
 * Whether a segment that nothing is appended to is old enough to be closed, so that retention and compaction may have it. Its age counts
 * from the later of its making and its first record: records dated back do not close it early.
 */
export function mayCloseByTime(segment: ActiveSegment, settings: TopicSettings, nowMs: number): boolean {
  if (segment.sizeBytes === 0) return false
  return nowMs - Math.max(segment.createdMs, segment.firstTimestamp) > ageMaxMs(settings) - segment.jitterMs
}

/**
 * Whether the active segment of an internal topic is to be closed though it has room, so that it is compacted: when what it holds is a larger share of the log than `min.cleanable.dirty.ratio` allows.
 * `logBytes`: of all segments, it included. Nobody chose `segment.bytes` of these topics for what is read of them, which is their last records; and all of them is read at each start.
 */
export function closesToCompact(topic: string, segment: Pick<ActiveSegment, 'sizeBytes'>, logBytes: number, settings: TopicSettings): boolean {
  return settings.compact && segment.sizeBytes >= worthClosingBytes && segment.sizeBytes > settings.minCleanableDirtyRatio * logBytes && isInternalTopic(topic)
}

/** A segment's part of `segment.jitter.ms`, so that partitions that were made together do not roll together. */
export function drawJitterMs(settings: TopicSettings, fraction: number): number {
  return Math.floor(fraction * Math.min(settings.segmentJitterMs, ageMaxMs(settings)))
}
