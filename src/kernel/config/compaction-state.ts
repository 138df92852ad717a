import { type CompactionState } from '../ports/partition-log.ts'
import { type ConfigDescription } from './describe-configs.ts'
import { toldList } from './told-list.ts'

/**
 * The name under which a broker tells, among the settings of a compacted topic, where the compaction of its partitions stands: see `damaged-offsets` for why it is a setting. It is
 * told to who asks for it by name, and to all while a round has failed: who lists the settings of a topic that is well finds those of Kafka and no other.
 */
export const compactionStateName = 'millrace.compaction.state'

/** Where the compaction of one partition of a topic stands. */
export interface PartitionCompaction extends CompactionState {
  readonly partition: number
}

/** What DescribeConfigs answers for it: what fits into `bytesMax`, partitions whose last round failed first. */
export function compactionStateConfig(states: readonly PartitionCompaction[], bytesMax = Infinity): ConfigDescription {
  const [failed, others] = [states.filter((each) => each.failure !== undefined), states.filter((each) => each.failure === undefined)]
  return {
    name: compactionStateName,
    value: toldList([...failed, ...others].map(formatState), bytesMax),
    source: 'default', readOnly: true, sensitive: false, type: 'list', synonyms: [],
    documentation: 'Where compaction stands on this broker, as PARTITION:CLEANED-TO:DIRTY-BYTES:DIRTY-PERCENT:LAST-ROUND:NEXT-TRY:REASON with times in milliseconds since 1970 or -1; the last two where the last round failed. Cannot be set.',
  }
}

/** Of a reason, which may name files and what their system said. */
const reasonCharsMax = 500

function formatState({ partition, cleanedTo, dirtyBytes, dirtyRatio, lastRoundMs, failure }: PartitionCompaction): string {
  const failed = failure === undefined ? [] : [failure.nextTryMs, encodeURIComponent(failure.reason.slice(0, reasonCharsMax).replaceAll(/\p{Surrogate}/gu, '\uFFFD'))]
  return [partition, cleanedTo, dirtyBytes, Math.round(dirtyRatio * 100), lastRoundMs, ...failed].join(':')
}

/** The same read again, in the order of the partitions; what is none is left out. */
export function parseCompactionState(value: string): PartitionCompaction[] {
  const states = value.split(',').flatMap((each) => {
    const [, partition, cleanedTo, dirtyBytes, percent, lastRoundMs, nextTryMs, reason] = /^(\d{1,10}):(\d{1,16}):(\d{1,16}):(\d{1,3}):(-1|\d{1,16})(?::(\d{1,16}):(\S*))?$/.exec(each) ?? []
    if (partition === undefined) return []
    return [{
      partition: Number(partition), cleanedTo: Number(cleanedTo), dirtyBytes: Number(dirtyBytes), dirtyRatio: Number(percent) / 100, lastRoundMs: Number(lastRoundMs),
      failure: nextTryMs === undefined ? undefined : { reason: decodedText(reason ?? ''), nextTryMs: Number(nextTryMs) },
    }]
  })
  return states.sort((one, other) => one.partition - other.partition)
}

function decodedText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
