import { assert } from '../../base/assert.ts'
import { type TopicSettings } from '../model/topic-settings.ts'
import { type TopicConfigRow } from './config-row.ts'
import { parseConfigValue } from './parse-config-value.ts'
import { topicConfigs, topicConfigTable } from './topic-config-table.ts'

/** What was set for the broker under a name, in Kafka's spelling, or undefined when its default holds. */
export type BrokerValue = (name: string) => string | undefined

/** A setting of a topic with the value that counts, in Kafka's spelling, and whose it is. */
export interface ResolvedTopicConfig {
  readonly row: TopicConfigRow
  readonly text: string
  readonly source: 'topic' | 'broker' | 'default'
}

/** One setting of a topic: its own value, else the broker's nearest that is set, else the default. */
export function resolveTopicConfig(row: TopicConfigRow, overrides: ReadonlyMap<string, string>, broker: BrokerValue): ResolvedTopicConfig {
  const own = overrides.get(row.name)
  if (own !== undefined) return { row, text: own, source: 'topic' }
  for (const synonym of row.synonyms) {
    const value = broker(synonym.name)
    if (value !== undefined) return { row, text: scaled(value, synonym.scale), source: 'broker' }
  }
  return { row, text: row.default, source: 'default' }
}

/** Every setting of a topic that is not internal, in the order of the table, as a description of it shows them. */
export function resolveTopicConfigs(overrides: ReadonlyMap<string, string>, broker: BrokerValue): readonly ResolvedTopicConfig[] {
  const shown = topicConfigTable.filter((row) => row.internal === undefined || overrides.has(row.name))
  return shown.map((row) => {
    const resolved = resolveTopicConfig(row, overrides, broker)
    if (row.name !== 'durability') return resolved
    const text = resolveDurability(overrides, broker)
    return { row, text, source: text === resolved.text ? resolved.source : durabilitySource(overrides) }
  })
}

/** What a topic with these (checked) overrides comes to. */
export function resolveTopicSettings(overrides: ReadonlyMap<string, string>, broker: BrokerValue): TopicSettings {
  const value = (name: string) => {
    const row = topicConfigs.get(name)
    assert(row !== undefined, `${name} is a setting of topics`)
    return { row, ...parseConfigValue(row, resolveTopicConfig(row, overrides, broker).text) }
  }
  const number = (name: string): number => value(name).value as number
  const text = (name: string): string => value(name).text
  const policies = value('cleanup.policy').value as readonly string[]
  const compressionType = text('compression.type') as TopicSettings['compressionType']
  const internalSegmentBytes = number('internal.segment.bytes')
  return {
    durability: resolveDurability(overrides, broker),
    compact: policies.includes('compact'),
    delete: policies.includes('delete'),
    deleteRetentionMs: number('delete.retention.ms'),
    minCompactionLagMs: number('min.compaction.lag.ms'),
    maxCompactionLagMs: number('max.compaction.lag.ms'),
    minCleanableDirtyRatio: number('min.cleanable.dirty.ratio'),
    retentionMs: orUnbounded(number('retention.ms')),
    retentionBytes: orUnbounded(number('retention.bytes')),
    segmentBytes: internalSegmentBytes > 0 ? internalSegmentBytes : number('segment.bytes'),
    segmentMs: number('segment.ms'),
    segmentJitterMs: number('segment.jitter.ms'),
    segmentIndexBytes: number('segment.index.bytes'),
    indexIntervalBytes: number('index.interval.bytes'),
    fileDeleteDelayMs: number('file.delete.delay.ms'),
    maxMessageBytes: number('max.message.bytes'),
    compressionType,
    compressionLevel: compressionLevel(compressionType, value),
    timestampType: text('message.timestamp.type') as TopicSettings['timestampType'],
    timestampBeforeMaxMs: number('message.timestamp.before.max.ms'),
    timestampAfterMaxMs: number('message.timestamp.after.max.ms'),
    minInsyncReplicas: number('min.insync.replicas'),
    batchCheck: text('batch.check') as TopicSettings['batchCheck'],
  }
}

/** The topic's word before the broker's; on each level `flush.messages=1` (Kafka's way to say it) stands for `fsync`. */
function resolveDurability(overrides: ReadonlyMap<string, string>, broker: BrokerValue): TopicSettings['durability'] {
  const own = overrides.get('durability') ?? (overrides.get('flush.messages') === '1' ? 'fsync' : undefined)
  const brokers = broker('durability') ?? (broker('log.flush.interval.messages') === '1' ? 'fsync' : undefined)
  return (own ?? brokers ?? topicConfigs.get('durability')!.default) as TopicSettings['durability']
}

const durabilitySource = (overrides: ReadonlyMap<string, string>): 'topic' | 'broker' =>
  overrides.get('flush.messages') === '1' ? 'topic' : 'broker'

type ValueOf = (name: string) => { readonly row: TopicConfigRow, readonly value: unknown, readonly text: string }

/** Undefined for the default of the codec, which a codec may keep under another number than Kafka's. */
function compressionLevel(type: TopicSettings['compressionType'], value: ValueOf): number | undefined {
  if (type !== 'gzip' && type !== 'lz4' && type !== 'zstd') return undefined
  const level = value(`compression.${type}.level`)
  return level.text === level.row.default ? undefined : level.value as number
}

/** Any negative number is "without bound", and so is the largest long. */
const orUnbounded = (value: number): number => (value < 0 || value === Infinity ? -1 : value)

/** A negative number of hours or minutes is "for ever", as in Kafka. */
function scaled(value: string, scale: number | undefined): string {
  if (scale === undefined) return value
  const number = Number(value)
  return number < 0 ? '-1' : String(number * scale)
}
