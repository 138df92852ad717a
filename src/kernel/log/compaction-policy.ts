import { type TopicSettings } from '../model/topic-settings.ts'
import { relativeOffsetMax } from './roll-policy.ts'

/** A closed segment, as far as compaction depends on it. */
export interface CompactableSegment {
  readonly baseOffset: number
  /** Behind its last record, at most where the next one begins. */
  readonly endOffset: number
  readonly sizeBytes: number
  /** Largest timestamp of its first batch; -1 when that has none. */
  readonly firstTimestamp: number
  /** Largest timestamp of its records, or when it was last written if they have none. */
  largestTimestamp(): number
}

/** Where compaction of a log stands. */
export interface CompactionPlace {
  /** What lies below has been compacted. */
  readonly cleanedTo: number
  /** Nothing at or above is touched: the least of the high watermark, the first open transaction and what is surely on the disk. */
  readonly bound: number
  /** The first time at which a tombstone of the clean part may go; Infinity for none. */
  readonly nextHorizonMs: number
  readonly nowMs: number
}

/** What there is to do in a log. */
export interface CompactionNeed {
  /** The dirty part that may be compacted now. */
  readonly firstDirty: number
  readonly end: number
  readonly cleanBytes: number
  /** Of the dirty part, as far as it may be compacted now. */
  readonly dirtyBytes: number
  /** Bytes of dirty ones to all, 0 to 1. */
  readonly ratio: number
  /** For how long a record has been dirty beyond `max.compaction.lag.ms`; 0 where none has. */
  readonly overdueMs: number
  /** Whether it is to be compacted. */
  readonly isDue: boolean
}

type Settings = Pick<TopicSettings, 'minCompactionLagMs' | 'maxCompactionLagMs' | 'minCleanableDirtyRatio'>

/**
 * What is to be done of a log whose closed segments are `segments`, in order. The dirty part ends before the first segment that has a record younger than
 * `min.compaction.lag.ms`, or reaches beyond the bound. It is due when its share is above `min.cleanable.dirty.ratio`, when a record of it is older than
 * `max.compaction.lag.ms`, or when the delete horizon of a tombstone has passed, which no new record has to come for.
 */
export function compactionNeed(segments: readonly CompactableSegment[], place: CompactionPlace, settings: Settings): CompactionNeed {
  const { nowMs } = place
  const firstDirty = Math.max(place.cleanedTo, segments[0]?.baseOffset ?? 0)
  let [end, cleanBytes, dirtyBytes, overdueMs] = [firstDirty, 0, 0, 0]
  for (const segment of segments) {
    if (segment.endOffset > place.bound) break
    if (segment.endOffset <= firstDirty) {
      cleanBytes += segment.sizeBytes
      continue
    }
    if (settings.minCompactionLagMs > 0 && segment.largestTimestamp() > nowMs - settings.minCompactionLagMs) break
    // A segment that is clean in part counts as dirty wholly, as in Kafka.
    dirtyBytes += segment.sizeBytes
    end = segment.endOffset
    if (settings.maxCompactionLagMs !== Infinity && segment.firstTimestamp >= 0) {
      overdueMs = Math.max(overdueMs, nowMs - settings.maxCompactionLagMs - segment.firstTimestamp)
    }
  }
  const ratio = dirtyBytes === 0 ? 0 : dirtyBytes / (cleanBytes + dirtyBytes)
  const isDue = dirtyBytes > 0 && (ratio > settings.minCleanableDirtyRatio || overdueMs > 0)
  return { firstDirty, end, cleanBytes, dirtyBytes, ratio, overdueMs, isDue: isDue || (cleanBytes > 0 && place.nextHorizonMs <= nowMs) }
}

/**
 * The segments with records below `end`, in runs that become one segment each: as many as fit `bytesMax`, and the range of offsets that
 * an index entry has.
 */
export function segmentGroups<T extends Pick<CompactableSegment, 'baseOffset' | 'endOffset' | 'sizeBytes'>>(segments: readonly T[], end: number, bytesMax: number): T[][] {
  const groups: T[][] = []
  let group: T[] = []
  let bytes = 0
  for (const segment of segments) {
    if (segment.baseOffset >= end) break
    const fits = bytes + segment.sizeBytes <= bytesMax && segment.endOffset - 1 - (group[0] ?? segment).baseOffset <= relativeOffsetMax
    if (group.length > 0 && !fits) {
      groups.push(group)
      group = []
      bytes = 0
    }
    group.push(segment)
    bytes += segment.sizeBytes
  }
  if (group.length > 0) groups.push(group)
  return groups
}
