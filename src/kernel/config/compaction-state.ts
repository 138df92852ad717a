import { type CompactionState } from '../ports/partition-log.ts'
import { type ConfigDescription } from './describe-configs.ts'

/**
 * The name under which a broker tells, among the settings of a compacted topic, where the compaction of its partitions stands: see `damaged-offsets` for why it is a setting.
 */
export const compactionStateName = 'millrace.compaction.state'

export interface PartitionCompaction extends CompactionState {
  readonly partition: number
}

/** What DescribeConfigs answers for it. */
export function compactionStateConfig(states: readonly PartitionCompaction[]): ConfigDescription {
  return {
    name: compactionStateName,
    value: states.map(formatState).join(','),
    source: 'default', readOnly: true, sensitive: false, type: 'list', synonyms: [],
    documentation: 'Where compaction stands on this broker, as PARTITION:CLEANED-TO:DIRTY-BYTES:DIRTY-PERCENT:LAST-ROUND:NEXT-TRY:REASON with times in milliseconds since 1970 or -1; the last two where the last round failed. Cannot be set.',
  }
}

function formatState({ partition, cleanedTo, dirtyBytes, dirtyRatio, lastRoundMs, failure }: PartitionCompaction): string {
  const failed = failure === undefined ? [] : [failure.nextTryMs, encodeURIComponent(failure.reason)]
  return [partition, cleanedTo, dirtyBytes, Math.round(dirtyRatio * 100), lastRoundMs, ...failed].join(':')
}

/** The same read again; what is none is left out. */
export function parseCompactionState(value: string): PartitionCompaction[] {
  return value.split(',').flatMap((each) => {
    const [, partition, cleanedTo, dirtyBytes, percent, lastRoundMs, nextTryMs, reason] = /^(\d{1,10}):(\d{1,16}):(\d{1,16}):(\d{1,3}):(-1|\d{1,16})(?::(\d{1,16}):(\S*))?$/.exec(each) ?? []
    if (partition === undefined) return []
    return [{
      partition: Number(partition), cleanedTo: Number(cleanedTo), dirtyBytes: Number(dirtyBytes), dirtyRatio: Number(percent) / 100, lastRoundMs: Number(lastRoundMs),
      failure: nextTryMs === undefined ? undefined : { reason: decodedText(reason ?? ''), nextTryMs: Number(nextTryMs) },
    }]
  })
}

function decodedText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
