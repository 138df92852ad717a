import type { Admin, TopicPartition } from '../client/index.ts'
import { durationOf, timeOf } from './from-option.ts'
import { UsageError } from './output.ts'

/** Where offsets are to go: as `group reset-offsets` was told. */
export type ResetTarget =
  | { readonly to: 'earliest' | 'latest' }
  | { readonly to: 'offset', readonly offset: number }
  | { readonly to: 'time', readonly timestamp: number }
  | { readonly to: 'shift', readonly by: number }

export interface ResetFlags {
  readonly toEarliest?: boolean
  readonly toLatest?: boolean
  readonly toOffset?: number
  readonly toDatetime?: string
  readonly byDuration?: string
  readonly shiftBy?: number
}

/** Throws MR_CLI_USAGE unless there is exactly one. */
export function resetTarget(flags: ResetFlags, nowMs: number): ResetTarget {
  const given: ResetTarget[] = []
  if (flags.toEarliest === true) given.push({ to: 'earliest' })
  if (flags.toLatest === true) given.push({ to: 'latest' })
  if (flags.toOffset !== undefined) given.push({ to: 'offset', offset: flags.toOffset })
  if (flags.shiftBy !== undefined) given.push({ to: 'shift', by: flags.shiftBy })
  if (flags.toDatetime !== undefined) {
    const timestamp = timeOf(flags.toDatetime, nowMs)
    if (timestamp === undefined) throw new UsageError(`--to-datetime ${flags.toDatetime}: it takes a time (2026-03-01T08:00Z, 2026-03-01, 1772352000000)`)
    given.push({ to: 'time', timestamp })
  }
  if (flags.byDuration !== undefined) {
    const durationMs = durationOf(flags.byDuration)
    if (durationMs === undefined) throw new UsageError(`--by-duration ${flags.byDuration}: it takes how long ago (15m, 2h, 7d, PT1H30M)`)
    given.push({ to: 'time', timestamp: Math.max(0, nowMs - durationMs) })
  }
  if (given.length === 1) return given[0]!
  throw new UsageError(`say once where to: --to-earliest, --to-latest, --to-offset, --to-datetime, --by-duration or --shift-by${given.length === 0 ? '' : `; ${given.length} were given`}`)
}

/** A topic, or some of its partitions: `orders`, `orders:0`, `orders:0,3,5-7`. Throws MR_CLI_USAGE. */
export function parseTopicPartitions(text: string): { readonly topic: string, readonly partitions: readonly number[] | undefined } {
  const at = text.lastIndexOf(':')
  if (at < 0) return { topic: text, partitions: undefined }
  const partitions = text.slice(at + 1).split(',').flatMap((part) => {
    const found = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part)
    const [first, last] = [Number(found?.[1]), Number(found?.[2] ?? found?.[1])]
    if (found === null || at === 0 || last < first || last - first > 100_000) throw new UsageError(`--topic ${text}: write it as TOPIC or TOPIC:PARTITIONS, such as orders:0,3,5-7`)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
  return { topic: text.slice(0, at), partitions: [...new Set(partitions)] }
}

export interface OffsetMove extends TopicPartition {
  /** Undefined: nothing was committed. */
  readonly before: number | undefined
  readonly after: number
  readonly endOffset: number
  /** What was asked for, where the log has no such offset and the nearest that it has is taken. */
  readonly wanted: number | undefined
}

/** Where each partition would go: always to an offset that its log has, or to its end. */
export async function plannedMoves(admin: Admin, partitions: readonly (TopicPartition & { readonly before: number | undefined })[], target: ResetTarget): Promise<OffsetMove[]> {
  const [starts, ends] = await Promise.all((['beginning', 'end'] as const).map((at) => admin.listOffsets(partitions.map(({ topic, partition }) => ({ topic, partition, at })))))
  const times = target.to !== 'time' ? [] : await admin.listOffsets(partitions.map(({ topic, partition }) => ({ topic, partition, at: { timestamp: target.timestamp } })))
  return partitions.map(({ topic, partition, before }, index) => {
    const [start, end] = [starts![index]!.offset, ends![index]!.offset]
    const wanted = wantedOffset(target, { start, end, before, atTime: times[index]?.offset ?? -1 })
    const after = Math.min(end, Math.max(start, wanted))
    return { topic, partition, before, after, endOffset: end, wanted: wanted === after ? undefined : wanted }
  })
}

function wantedOffset(target: ResetTarget, { start, end, before, atTime }: { readonly start: number, readonly end: number, readonly before: number | undefined, readonly atTime: number }): number {
  switch (target.to) {
    case 'earliest': return start
    case 'latest': return end
    case 'offset': return target.offset
    // No record is as young as that: begin with the next one.
    case 'time': return atTime < 0 ? end : atTime
    // Who has committed nothing is at the beginning.
    case 'shift': return (before ?? start) + target.by
  }
}
