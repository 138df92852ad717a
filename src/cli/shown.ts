import type { TopicDescription } from '../client/index.ts'

/** The last that a date can be of. */
const timeMsMax = 8.64e15

/** Times as people read them: UTC, `-` for none. */
export function shownTime(timestampMs: number): string {
  if (timestampMs < 0) return '-'
  return timestampMs > timeMsMax ? `${timestampMs} (no time)` : new Date(timestampMs).toISOString()
}

/** How long something took: `12 ms`, `3.4 s`, `2 min 5 s`. */
export function shownElapsed(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.floor(ms % 60_000 / 1_000)} s`
}

/** Why a partition without a leader has none, as far as the cluster tells. */
export function offlineReason({ replicas, offlineReplicas }: Pick<TopicDescription['partitions'][number], 'replicas' | 'offlineReplicas'>): string {
  if (offlineReplicas.length === 0) return 'it has no leader at the moment'
  const all = offlineReplicas.length === replicas.length ? 'its replicas' : 'replicas'
  return `${all} on ${offlineReplicas.length === 1 ? 'broker' : 'brokers'} ${offlineReplicas.join(', ')} are offline; the log and /healthz of the broker say why`
}
