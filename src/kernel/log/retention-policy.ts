import { type TopicSettings } from '../model/topic-settings.ts'

/** A segment as far as retention depends on it. */
export interface AgingSegment {
  /** Offset after its last record. */
  readonly endOffset: number
  readonly sizeBytes: number
  /** Largest timestamp of its records, or when it was last written if they have none. Asked for only where it matters. */
  largestTimestamp(): number
}

/** What a log is, and what of it may go. */
export interface RetentionLimits {
  /** The log's size, all segments. */
  readonly sizeBytes: number
  readonly startOffset: number
  /** Nothing at or above it goes. */
  readonly highWatermark: number
  readonly nowMs: number
}

/**
 * How many of the oldest segments `retention.ms`, `retention.bytes` and the log start offset give up. `segments` are in order, the last one
 * is the active one; when all are given up the caller rolls first, so that the log goes on. A topic whose `cleanup.policy` lacks `delete`
 * only loses what lies below its start offset.
 */
export function expiredSegments(segments: readonly AgingSegment[], limits: RetentionLimits, settings: TopicSettings): number {
  let excessBytes = settings.delete && settings.retentionBytes >= 0 ? limits.sizeBytes - settings.retentionBytes : -1
  let count = 0
  for (const segment of segments) {
    if (segment.sizeBytes === 0 && count === segments.length - 1) break
    if (segment.endOffset > limits.highWatermark) break
    const tooMuch = excessBytes >= segment.sizeBytes
    if (!tooMuch && segment.endOffset > limits.startOffset && !tooOld(segment, limits.nowMs, settings)) break
    excessBytes -= segment.sizeBytes
    count++
  }
  return count
}

function tooOld(segment: AgingSegment, nowMs: number, settings: TopicSettings): boolean {
  return settings.delete && settings.retentionMs >= 0 && nowMs - segment.largestTimestamp() > settings.retentionMs
}
