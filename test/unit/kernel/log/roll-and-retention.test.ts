import { describe, expect, test } from 'vitest'
import { expiredSegments, type AgingSegment } from '../../../../src/kernel/log/retention-policy.ts'
import { closesToCompact, drawJitterMs, mayCloseByTime, mustRoll, type ActiveSegment } from '../../../../src/kernel/log/roll-policy.ts'
import { type TopicSettings } from '../../../../src/kernel/model/topic-settings.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'

const settings = (changed: Partial<TopicSettings>): TopicSettings => topicSettings(changed)

describe('roll policy', () => {
  const active: ActiveSegment = { baseOffset: 100, sizeBytes: 500, createdMs: 10_000, firstTimestamp: 5000, jitterMs: 0, indexFull: false }
  const next = { bytes: 100, lastOffset: 120, maxTimestamp: 5000 }
  const limits = settings({ segmentBytes: 600, segmentMs: 1000 })

  test('a batch goes to a new segment when the old one would pass segment.bytes', () => {
    expect(mustRoll(active, next, limits, 10_000)).toBe(false)
    expect(mustRoll({ ...active, sizeBytes: 501 }, next, limits, 10_000)).toBe(true)
  })

  test('a batch larger than segment.bytes goes into an empty segment', () => {
    expect(mustRoll({ ...active, sizeBytes: 0 }, { ...next, bytes: 10_000 }, limits, 99_000)).toBe(false)
  })

  test('segment.ms is a span of record time, whatever the wall clock says', () => {
    expect(mustRoll(active, { ...next, maxTimestamp: 6000 }, limits, 99_000)).toBe(false)
    expect(mustRoll(active, { ...next, maxTimestamp: 6001 }, limits, 10_000)).toBe(true)
  })

  test('records without timestamps leave segment.ms to the wall clock', () => {
    const untimed = { ...active, firstTimestamp: -1 }
    expect(mustRoll(untimed, { ...next, maxTimestamp: -1 }, limits, 11_000)).toBe(false)
    expect(mustRoll(untimed, { ...next, maxTimestamp: -1 }, limits, 11_001)).toBe(true)
  })

  test('jitter takes from segment.ms and never more than all of it', () => {
    expect(mustRoll({ ...active, jitterMs: 400 }, { ...next, maxTimestamp: 5601 }, limits, 10_000)).toBe(true)
    expect(drawJitterMs(settings({ segmentMs: 1000, segmentJitterMs: 5000 }), 0.999)).toBe(999)
    expect(drawJitterMs(settings({ segmentJitterMs: 0 }), 0.999)).toBe(0)
  })

  test('a full index and an offset that does not fit one roll, the latter also an empty segment', () => {
    expect(mustRoll({ ...active, indexFull: true }, next, limits, 10_000)).toBe(true)
    const far = { ...next, lastOffset: 100 + 2 ** 31 }
    expect(mustRoll({ ...active, sizeBytes: 0 }, far, limits, 10_000)).toBe(true)
    expect(mustRoll({ ...active, sizeBytes: 0 }, { ...far, lastOffset: far.lastOffset - 1 }, limits, 10_000)).toBe(false)
  })

  test('an idle segment closes by the later of its making and its first record', () => {
    expect(mayCloseByTime(active, limits, 11_000)).toBe(false)
    expect(mayCloseByTime(active, limits, 11_001)).toBe(true)
    expect(mayCloseByTime({ ...active, firstTimestamp: 20_000 }, limits, 20_500)).toBe(false)
    expect(mayCloseByTime({ ...active, sizeBytes: 0 }, limits, 99_000)).toBe(false)
  })
})

describe('the active segment of a compacted topic', () => {
  const mib = 1 << 20
  const compacted = settings({ compact: true, delete: false, segmentBytes: 100 * mib, minCleanableDirtyRatio: 0.5 })
  const closes = (activeBytes: number, closedBytes: number, changed = compacted, topic = '__consumer_offsets'): boolean => closesToCompact(topic, { sizeBytes: activeBytes }, activeBytes + closedBytes, changed)

  test('that is internal closes from 1 MiB on, when it is a larger share of the log than min.cleanable.dirty.ratio', () => {
    expect([closes(mib - 1, 0), closes(mib, 0), closes(5 * mib, 5 * mib), closes(5 * mib + 1, 5 * mib)]).toEqual([false, true, false, true])
    expect([closes(2 * mib, 8 * mib, { ...compacted, minCleanableDirtyRatio: 0.1 }), closes(50 * mib, 0, { ...compacted, minCleanableDirtyRatio: 1 })]).toEqual([true, false])
  })

  test('of others, and of topics that are not compacted, fills as segment.bytes says', () => {
    expect([closes(50 * mib, 0, compacted, 'table'), closes(50 * mib, 0, { ...compacted, compact: false })]).toEqual([false, false])
  })
})

describe('retention policy', () => {
  const segment = (endOffset: number, largest: number, sizeBytes = 100): AgingSegment => ({
    endOffset, sizeBytes, largestTimestamp: () => largest,
  })
  const segments = [segment(10, 1000), segment(20, 2000), segment(30, 3000)]
  const limits = { sizeBytes: 300, startOffset: 0, highWatermark: 30, nowMs: 4000 }
  const forever = { retentionMs: -1, retentionBytes: -1, delete: true }

  test('segments go while their newest record is older than retention.ms', () => {
    expect(expiredSegments(segments, limits, settings({ ...forever, retentionMs: 3000 }))).toBe(0)
    expect(expiredSegments(segments, limits, settings({ ...forever, retentionMs: 2999 }))).toBe(1)
    expect(expiredSegments(segments, limits, settings({ ...forever, retentionMs: 0 }))).toBe(3)
  })

  test('an old segment behind a young one stays', () => {
    expect(expiredSegments([segment(10, 3900), segment(20, 1)], limits, settings({ ...forever, retentionMs: 1000 }))).toBe(0)
  })

  test('segments go while the log without them still has retention.bytes', () => {
    expect(expiredSegments(segments, limits, settings({ ...forever, retentionBytes: 201 }))).toBe(0)
    expect(expiredSegments(segments, limits, settings({ ...forever, retentionBytes: 200 }))).toBe(1)
    expect(expiredSegments(segments, limits, settings({ ...forever, retentionBytes: 0 }))).toBe(3)
  })

  test('nothing at or above the high watermark goes', () => {
    expect(expiredSegments(segments, { ...limits, highWatermark: 19 }, settings({ ...forever, retentionMs: 0 }))).toBe(1)
  })

  test('what lies below the log start goes, also without delete in cleanup.policy', () => {
    const compacted = settings({ compact: true, delete: false, retentionMs: 0, retentionBytes: 0 })
    expect(expiredSegments(segments, limits, compacted)).toBe(0)
    expect(expiredSegments(segments, { ...limits, startOffset: 25 }, compacted)).toBe(2)
  })

  test('an empty active segment stays', () => {
    expect(expiredSegments([segment(10, 1), segment(10, 1, 0)], { ...limits, highWatermark: 10 }, settings({ ...forever, retentionMs: 0 }))).toBe(1)
  })
})
