import { firstRecordSince, newestOfBatch, type OffsetRange } from '../../kernel/log/record-search.ts'
import { type TimestampHit } from '../../kernel/ports/partition-log.ts'
import { baseOffsetOf, lastOffsetOf, newestTimestampOf } from '../../kernel/record/batch-header.ts'
import { type BatchScan } from './io/batch-scan.ts'
import { type Segment } from './io/segment.ts'
import { type LogState } from './log-state.ts'

/**
 * The first record at or after a time, or the newest one (quirk 42). The time index says from where on a segment can have it; from there
 * batches are looked at by their headers, and only one that has it is opened.
 */
export function locateRecord(log: LogState, timestampMs: number | 'max', endOffset: number): TimestampHit | undefined {
  const range = { startOffset: log.start, endOffset: Math.min(endOffset, log.end) }
  if (range.startOffset >= range.endOffset) return undefined
  return timestampMs === 'max' ? newest(log, range) : firstSince(log, timestampMs, range)
}

function firstSince(log: LogState, timestampMs: number, range: OffsetRange): TimestampHit | undefined {
  for (const segment of segmentsOf(log, range)) {
    if (segment.largestRecordTimestamp() < timestampMs) continue
    let { times } = segment.indexes()
    if (!segment.trustTimes(times.floor(timestampMs))) times = segment.indexes().times
    const entry = times.floor(timestampMs)
    // All batches up to the entry's are older, or it is the first that is as old as asked for.
    const from = segment.positionBelow(Math.max(range.startOffset, entry < 0 ? segment.baseOffset : times.offsetAt(entry)))
    const hit = segment.withFile(file => {
      const scan = segment.scan(file, from)
      while (scan.next() && baseOffsetOf(scan.bytes, scan.at) < range.endOffset) {
        if (newestTimestampOf(scan.bytes, scan.at) < timestampMs || lastOffsetOf(scan.bytes, scan.at) < range.startOffset) continue
        const found = load(log, segment, scan, () => firstRecordSince(scan.bytes, scan.at, scan.at + scan.sizeBytes, timestampMs, range, log.reader))
        if (found !== undefined) return found
      }
      return failIfDamaged(log, segment, scan)
    })
    if (hit !== undefined) return hit
  }
  return undefined
}

function newest(log: LogState, range: OffsetRange): TimestampHit | undefined {
  let best: TimestampHit | undefined
  for (const segment of segmentsOf(log, range)) {
    if (segment.largestRecordTimestamp() <= (best?.timestamp ?? -1)) continue
    best = newestOfSegment(log, segment, range, best?.timestamp ?? -1) ?? best
  }
  return best
}

/**
 * The newest record of a segment, if it is newer than `above`. Of the batches up to an entry of the offset index the time index knows the
 * largest timestamp and the batch that has it; so only what lies behind the last such entry is looked at. All of the segment is when that
 * batch is not wholly in the range.
 */
function newestOfSegment(log: LogState, segment: Segment, range: OffsetRange, above: number): TimestampHit | undefined {
  let { times } = segment.indexes()
  if (!segment.trustTimes(times.floorByOffset(range.endOffset - 1))) times = segment.indexes().times
  const entry = times.floorByOffset(range.endOffset - 1)
  const named = entry < 0 || times.offsetAt(entry) < range.startOffset ? undefined : segment.find(times.offsetAt(entry))
  if (named === undefined || named.baseOffset < range.startOffset) return newestFrom(log, segment, segment.positionBelow(range.startOffset), range, above)
  const timestamp = times.timestampAt(entry)
  const behind = newestFrom(log, segment, segment.positionBelow(range.endOffset - 1), range, Math.max(above, timestamp))
  if (behind !== undefined || timestamp <= above) return behind
  return newestFrom(log, segment, named.position, { ...range, endOffset: times.offsetAt(entry) + 1 }, above)
}

/** The newest record of the batches from a position on, if it is newer than `above`. Those partly outside of the range are opened, else one. */
function newestFrom(log: LogState, segment: Segment, position: number, range: OffsetRange, above: number): TimestampHit | undefined {
  return segment.withFile(file => newestOfScan(log, segment, segment.scan(file, position), range, above))
}

function newestOfScan(log: LogState, segment: Segment, scan: BatchScan, range: OffsetRange, above: number): TimestampHit | undefined {
  let best: TimestampHit | undefined
  let largest = above
  let candidate = -1
  while (scan.next() && baseOffsetOf(scan.bytes, scan.at) < range.endOffset) {
    if (newestTimestampOf(scan.bytes, scan.at) <= largest || lastOffsetOf(scan.bytes, scan.at) < range.startOffset) continue
    if (baseOffsetOf(scan.bytes, scan.at) >= range.startOffset && lastOffsetOf(scan.bytes, scan.at) < range.endOffset) {
      candidate = scan.position
      largest = newestTimestampOf(scan.bytes, scan.at)
      continue
    }
    const hit = load(log, segment, scan, () => newestOfBatch(scan.bytes, scan.at, range, log.reader))
    if (hit === undefined || hit.timestamp <= largest) continue
    best = hit
    largest = hit.timestamp
    candidate = -1
  }
  failIfDamaged(log, segment, scan)
  if (candidate < 0) return best
  return segment.withFile(file => {
    const again = segment.scan(file, candidate)
    return again.next() ? load(log, segment, again, () => newestOfBatch(again.bytes, again.at, range, log.reader)) : undefined
  })
}

function load<T>(log: LogState, segment: Segment, scan: BatchScan, use: () => T): T {
  const { position, sizeBytes } = scan
  const isIntact = segment.isProven(position, position + sizeBytes) || scan.crcValid()
  if (!isIntact || !scan.load()) throw log.damaged(segment, position, isIntact ? 'the batch is cut off' : 'the CRC of the batch does not match')
  return use()
}

function failIfDamaged(log: LogState, segment: Segment, scan: BatchScan): undefined {
  if (scan.problem !== undefined) throw log.damaged(segment, scan.position, scan.problem)
}

function* segmentsOf(log: LogState, range: OffsetRange): IterableIterator<Segment> {
  for (const [index, segment] of log.segments.entries()) {
    if (segment.baseOffset >= range.endOffset) return
    if (segment.endOffset <= range.startOffset) continue
    checkEnd(log, segment, log.segments[index + 1]?.baseOffset)
    if (segment.sizeBytes > 0) yield segment
  }
}

/** One that was cut off must not be passed over. */
function checkEnd(log: LogState, segment: Segment, nextBase: number | undefined): void {
  if (segment.endSure) return
  const problem = segment.sums.endProblem(segment.sizeBytes, nextBase)
  if (problem !== undefined) throw log.damaged(segment, segment.sizeBytes, problem)
  segment.endSure = true
}
