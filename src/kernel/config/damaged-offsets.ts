import { type DamagedRange } from '../ports/partition-log.ts'
import { type ConfigDescription } from './describe-configs.ts'
import { toldList } from './told-list.ts'

/**
 * The name under which a broker tells, among the settings of a topic, which offsets its log store found damaged and does not serve. The Kafka protocol has no word for it; a
 * setting that is read only and at its default is shown by the tools of every client, and changed by none. It is there only while something is damaged.
 */
export const damagedOffsetsName = 'millrace.damaged.offsets'

/** Under this name it tells, in the same way, of the ends of logs that a start did not find; in their place are, or come, other records. */
export const missingOffsetsName = 'millrace.missing.offsets'

/** What is known to be damaged of one partition of a topic. */
export interface PartitionDamage {
  readonly partition: number
  readonly ranges: readonly DamagedRange[]
}

/** What DescribeConfigs answers for it: what fits into `bytesMax`, from the first. */
export function damagedOffsetsConfig(damage: readonly PartitionDamage[], bytesMax = Infinity): ConfigDescription {
  return toldOf(damagedOffsetsName, damage, bytesMax, 'Offsets, as PARTITION:FIRST-LAST, that were found damaged on the disk of this broker and are not served. Its log says in which file and what to do. Cannot be set.')
}

/** The same of offsets whose records are missing. */
export function missingOffsetsConfig(missing: readonly PartitionDamage[], bytesMax = Infinity): ConfigDescription {
  return toldOf(missingOffsetsName, missing, bytesMax, 'Offsets, as PARTITION:FIRST-LAST, whose records this broker had before a power cut and did not find at its start: they are given to others. Its log says what to do. Cannot be set.')
}

function toldOf(name: string, damage: readonly PartitionDamage[], bytesMax: number, documentation: string): ConfigDescription {
  return {
    name,
    value: toldList(damage.flatMap(({ partition, ranges }) => ranges.map(({ first, last }) => `${partition}:${first}-${last}`)), bytesMax),
    source: 'default', readOnly: true, sensitive: false, type: 'list', synonyms: [],
    documentation,
  }
}

/** The same read again; what is none is left out. */
export function parseDamagedOffsets(value: string): PartitionDamage[] {
  const byPartition = new Map<number, DamagedRange[]>()
  for (const each of value.split(',')) {
    const [, partition, first, last] = /^(\d{1,10}):(\d{1,16})-(\d{1,16})$/.exec(each) ?? []
    if (partition === undefined) continue
    const ranges = byPartition.get(Number(partition)) ?? []
    byPartition.set(Number(partition), ranges)
    ranges.push({ first: Number(first), last: Number(last) })
  }
  return [...byPartition].map(([partition, ranges]) => ({ partition, ranges }))
}
