import pc from 'picocolors'
import { formatBytes, formatDuration } from '../base/format-quantity.ts'
import { suggestion } from '../base/suggestion.ts'
import type { Admin, TopicDescription } from '../client/index.ts'
import { compactionStateName } from '../kernel/config/compaction-state.ts'
import { damagedOffsetsName, missingOffsetsName } from '../kernel/config/damaged-offsets.ts'
import { configWarning } from '../kernel/config/check-config.ts'
import { limitsSaid } from '../kernel/config/describe-configs.ts'
import { type StoreLimits } from '../kernel/config/store-limits.ts'
import { topicConfigs } from '../kernel/config/topic-config-table.ts'
import { isMillraceError, MillraceError } from '../kernel/errors/index.ts'
import { describeConfigsApi, describeLogDirsApi, kafkaErrors } from '../wire/index.ts'
import { compactionOf, printCompaction, type ReplicaCompaction } from './compaction-report.ts'
import { damageLine, damageOf, missingLine, missingOf, type DamagedOffsets } from './damage-report.ts'
import { plural, print, printTable } from './output.ts'
import { offlineReason } from './shown.ts'

export interface PartitionReport {
  readonly partition: number
  readonly leader: number
  readonly leaderEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
  readonly offline: readonly number[]
  /** Null where the partition has no leader to ask. */
  readonly startOffset: number | null
  readonly endOffset: number | null
  /** At most: compaction and control records leave gaps between offsets. */
  readonly records: number | null
  /** Of the largest replica; null where the cluster does not tell. */
  readonly sizeBytes: number | null
  /** Why nothing is known of its offsets; null for one that is served. */
  readonly problem: string | null
  /** Offsets that are damaged on the disk of a broker and not served; the others are. */
  readonly damaged: readonly Pick<DamagedOffsets, 'broker' | 'first' | 'last'>[]
  /** Offsets whose records were on the disk of a broker before a power cut, and are not any more. */
  readonly missing: readonly Pick<DamagedOffsets, 'broker' | 'first' | 'last'>[]
  /** Where the compaction of its replicas stands; empty where the topic is not compacted, or its brokers do not tell. */
  readonly compaction: readonly ReplicaCompaction[]
}

export interface ConfigReport {
  readonly name: string
  readonly value: string | null
  readonly source: (typeof sources)[number]
  /** What the broker says about the setting; null where it says nothing. */
  readonly documentation: string | null
}

export interface TopicReport {
  readonly name: string
  readonly topicId: string | null
  readonly isInternal: boolean
  readonly partitions: readonly PartitionReport[]
  readonly sizeBytes: number | null
  readonly configs: readonly ConfigReport[]
  /** What was set and does not do here what its name says. */
  readonly warnings: readonly string[]
}

/** By Kafka's number. `static broker`: given to the broker when it started, by file, environment, command line or preset. */
const sources = ['unknown', 'topic', 'broker', 'cluster', 'static broker', 'default'] as const

/** Rejects with MR_TOPIC_UNKNOWN, which names the topic that may have been meant. */
export async function existingTopic(admin: Admin, name: string): Promise<TopicDescription> {
  try {
    const [topic] = await admin.describeTopics([name])
    return topic!
  } catch (error) {
    if (!isMillraceError(error, 'MR_TOPIC_UNKNOWN')) throw error
    const names = (await admin.listTopics()).map((each) => each.name)
    throw new MillraceError('MR_TOPIC_UNKNOWN', { topic: name, suggestion: suggestion(name, names) || '; `millrace topic list` shows those there are' }, error)
  }
}

/** Everything about a topic. Rejects with MR_TOPIC_UNKNOWN. */
export async function describeTopic(admin: Admin, name: string): Promise<TopicReport> {
  const topic = await existingTopic(admin, name)
  const [offsets, sizes, described, damage, missing, compaction] = await Promise.all([
    offsetsOf(admin, topic), sizesOf(admin, topic), describeConfigs(admin, name), damageOf(admin, [topic]), missingOf(admin, [topic]), compactionOf(admin, topic),
  ])
  const configs = described.filter((each) => ![damagedOffsetsName, missingOffsetsName, compactionStateName].includes(each.name))
  const partitions = topic.partitions.map((each): PartitionReport => {
    const known = offsets.get(each.partition) ?? noOffsets
    const { startOffset, endOffset } = known instanceof Error ? noOffsets : known
    return {
      partition: each.partition, leader: each.leaderId, leaderEpoch: each.leaderEpoch, replicas: each.replicas, isr: each.inSyncReplicas, offline: each.offlineReplicas,
      startOffset, endOffset, records: startOffset === null || endOffset === null ? null : endOffset - startOffset, sizeBytes: sizes?.get(each.partition) ?? null,
      problem: known instanceof Error ? known.message : each.leaderId < 0 ? offlineReason(each) : null,
      damaged: damage.filter(({ partition }) => partition === each.partition).map(({ broker, first, last }) => ({ broker, first, last })),
      missing: missing.filter(({ partition }) => partition === each.partition).map(({ broker, first, last }) => ({ broker, first, last })),
      compaction: compaction.get(each.partition) ?? [],
    }
  })
  const known = partitions.flatMap((each) => each.sizeBytes ?? [])
  return {
    name, topicId: topic.topicId ?? null, isInternal: topic.isInternal, partitions,
    sizeBytes: known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0), configs,
    warnings: [...warningsOf(configs), ...insyncWarning(valueOf(configs, 'min.insync.replicas'), Math.min(...partitions.map((each) => each.replicas.length)))],
  }
}

/**
 * What was set and has not the effect that Kafka gives it. Whether a setting works is for the broker to say, in the words with which it documents
 * it; an Apache Kafka, of which the table of this release says nothing, has no such words.
 */
export function warningsOf(configs: readonly ConfigReport[]): string[] {
  return configs.flatMap(({ name, value, source, documentation }) => {
    const row = topicConfigs.get(name)
    if (row === undefined || value === null || source === 'default' || !hasOurWords(documentation)) return []
    return configWarning(row, value, limitsSaid(row, documentation)) ?? []
  })
}

/**
 * Of a topic whose `min.insync.replicas` is above the number of its replicas: no acks=all is ever answered well there. Kafka takes such a topic without a word.
 * Either number may be unknown.
 */
function insyncWarning(minInsync: string | null | undefined, replicationFactor: number): string[] {
  if (minInsync === null || minInsync === undefined || !(replicationFactor > 0 && Number(minInsync) > replicationFactor)) return []
  return [`min.insync.replicas=${minInsync} can never be met with a replication factor of ${replicationFactor}: acks=all will be refused; set it to at most ${replicationFactor}, as \`millrace topic alter\` does`]
}

const valueOf = (configs: readonly ConfigReport[], name: string): string | null | undefined => configs.find((each) => each.name === name)?.value

/** What was asked for of a topic and does not do here what it does in Kafka, or what nobody wants. Before the topic is made the broker is asked, after it the topic. */
export async function createWarnings(admin: Admin, name: string, asked: Readonly<Record<string, string>>, replicationFactor: number, isMade: boolean): Promise<readonly string[]> {
  const described = isMade ? await describeConfigs(admin, name) : await ownConfigs(admin)
  const before = isMade ? warningsOf(described.filter((each) => Object.hasOwn(asked, each.name))) : warningsAmong(described, asked)
  return [...before, ...insyncWarning(asked['min.insync.replicas'] ?? valueOf(described, 'min.insync.replicas'), replicationFactor)]
}

/** How a millrace broker begins what it says about the limits of a setting (kernel/config/describe-configs). */
const hasOurWords = (documentation: string | null): boolean => / (No effect here:|Here) /.test(documentation ?? '')

/**
 * The same of a topic that is not there to be asked about, so a broker's own settings are: whether any is limited tells a millrace, and what its store
 * lacks is said of those that are the topic's defaults. Texts that are no valid values were refused before.
 */
export async function warningsBefore(admin: Admin, configs: Readonly<Record<string, string>>): Promise<string[]> {
  return warningsAmong(await ownConfigs(admin), configs)
}

/** Of the first broker: its settings are the defaults of topics. Empty where none is named. */
async function ownConfigs(admin: Admin): Promise<ConfigReport[]> {
  const [broker] = (await admin.describeCluster()).brokers
  return broker === undefined ? [] : configsOf(admin, { nodeId: broker.id }, { resourceType: 4, resourceName: String(broker.id) })
}

function warningsAmong(described: readonly ConfigReport[], configs: Readonly<Record<string, string>>): string[] {
  if (!described.some((each) => hasOurWords(each.documentation))) return []
  const documentation = new Map(described.map((each) => [each.name, each.documentation]))
  return Object.entries(configs).flatMap(([name, value]) => {
    const row = topicConfigs.get(name)
    if (row === undefined) return []
    const limits = row.synonyms.map((synonym) => limitsSaid(row, documentation.get(synonym.name) ?? null))
    return configWarning(row, value, Object.assign({}, ...limits) as StoreLimits) ?? []
  })
}

/** Every setting of a topic, with what the broker says about each. */
export function describeConfigs(admin: Admin, name: string): Promise<ConfigReport[]> {
  return configsOf(admin, 'anybody', { resourceType: 2, resourceName: name })
}

async function configsOf(admin: Admin, whom: Parameters<Admin['ask']>[0], resource: { readonly resourceType: number, readonly resourceName: string }): Promise<ConfigReport[]> {
  const resources = [{ ...resource, configurationKeys: null }]
  // Documentation came with version 3; without it, the same question again.
  const build = (version: number) => ({ resources, ...version >= 3 ? { includeDocumentation: true } : {} })
  return await admin.ask(whom, describeConfigsApi, build, (response) => (response.results[0]?.configs ?? []).map((each) => ({
    name: each.name, value: each.value, source: sources[each.configSource] ?? 'unknown', documentation: each.documentation,
  })), {})
}

interface OffsetsFound {
  readonly startOffset: number | null
  readonly endOffset: number | null
}

const noOffsets: OffsetsFound = { startOffset: null, endOffset: null }

/** A table in an incident must not wait for the one partition that nobody answers for. */
const offsetsTimeoutMs = 3_000

/** Of the partitions that have a leader; an error for one whose leader does not answer for it. Where one of them keeps all waiting, each is asked alone. */
async function offsetsOf(admin: Admin, topic: TopicDescription): Promise<Map<number, OffsetsFound | Error>> {
  const led = topic.partitions.filter((each) => each.leaderId >= 0).map((each) => each.partition)
  const ask = async (partitions: readonly number[]): Promise<[number, OffsetsFound][]> => {
    const [starts, ends] = await Promise.all((['beginning', 'end'] as const)
      .map((at) => admin.listOffsets(partitions.map((partition) => ({ topic: topic.name, partition, at })), { timeoutMs: offsetsTimeoutMs })))
    return partitions.map((partition, index) => [partition, { startOffset: starts![index]!.offset, endOffset: ends![index]!.offset }])
  }
  try {
    return new Map(await ask(led))
  } catch (error) {
    if (!isMillraceError(error) || !error.row.retriable) throw error
  }
  const alone = await Promise.all(led.map(async (partition): Promise<[number, OffsetsFound | Error][]> => {
    try {
      return await ask([partition])
    } catch (error) {
      if (!isMillraceError(error)) throw error
      return [[partition, error]]
    }
  }))
  return new Map(alone.flat())
}

/** The size on disk of each partition, its largest replica; undefined where the brokers do not tell. */
async function sizesOf(admin: Admin, topic: TopicDescription): Promise<Map<number, number> | undefined> {
  const brokers = [...new Set(topic.partitions.flatMap((each) => each.replicas.filter((replica) => !each.offlineReplicas.includes(replica))))]
  const topics = [{ topic: topic.name, partitions: topic.partitions.map((each) => each.partition) }]
  const sizes = new Map<number, number>()
  try {
    await Promise.all(brokers.map((nodeId) => admin.ask({ nodeId }, describeLogDirsApi, () => ({ topics }), (response) => {
      for (const directory of response.results) {
        if (directory.errorCode !== kafkaErrors.NONE) continue
        for (const { partitionIndex, partitionSize, isFutureKey } of directory.topics.flatMap((each) => each.partitions)) {
          if (!isFutureKey) sizes.set(partitionIndex, Math.max(partitionSize, sizes.get(partitionIndex) ?? 0))
        }
      }
    }, {})))
  } catch (error) {
    if (isMillraceError(error)) return undefined
    throw error
  }
  return sizes
}

/** As `cluster status` has it: every partition is served whole, by all of its replicas. */
export function isWell({ partitions }: TopicReport): boolean {
  return partitions.every((each) => each.problem === null && each.damaged.length === 0 && each.missing.length === 0 && inSync(each).length === each.replicas.length)
}

export function printTopic(report: TopicReport, allConfigs: boolean): void {
  const replication = report.partitions[0]?.replicas.length ?? 0
  const size = report.sizeBytes === null ? '' : `  ${formatBytes(report.sizeBytes)}`
  print(`${pc.bold(report.name)}  ${plural(report.partitions.length, 'partition')}  replication factor ${replication}${size}  ${pc.dim(`id ${report.topicId ?? '-'}`)}`)
  print('')
  printTable(
    ['partition', 'leader', 'epoch', 'replicas', 'in sync', 'start', 'end', 'records', 'size'],
    report.partitions.map((each) => [
      each.partition, each.leader < 0 ? pc.red('none') : each.leader, each.leaderEpoch < 0 ? '-' : each.leaderEpoch, each.replicas.join(','),
      shownInSync(each),
      each.startOffset ?? '-', each.endOffset ?? '-', each.records ?? '-', each.sizeBytes === null ? '-' : formatBytes(each.sizeBytes),
    ]),
    { right: [0, 1, 2, 5, 6, 7, 8] },
  )
  for (const { partition, problem } of report.partitions) if (problem !== null) print(`${pc.red('not served')}: partition ${partition}: ${problem}`)
  for (const { partition, damaged } of report.partitions) for (const each of damaged) print(`${pc.red('damaged')}: ${damageLine({ topic: report.name, partition, ...each })}`)
  for (const { partition, missing } of report.partitions) for (const each of missing) print(`${pc.red('missing')}: ${missingLine({ topic: report.name, partition, ...each })}`)
  printCompaction(report.partitions)
  const configs = report.configs.filter((each) => allConfigs || each.source !== 'default')
  print('')
  if (configs.length === 0) print(pc.dim('every setting is at its default (--all shows them)'))
  else printTable(['setting', 'value', 'source'], configs.map((each) => [each.name, shownValue(each.name, each.value), each.source]))
  if (report.warnings.length > 0) print('')
  for (const warning of report.warnings) print(`${pc.yellow('note')}: ${warning}`)
}

/** A replica that is offline is not in sync, though the cluster may still keep it in the set of those that have every record. */
const inSync = ({ isr, offline }: PartitionReport): number[] => isr.filter((id) => !offline.includes(id))

function shownInSync(partition: PartitionReport): string {
  const serving = inSync(partition)
  return serving.length < partition.replicas.length ? pc.yellow(serving.join(',') || 'none') : serving.join(',')
}

function shownValue(name: string, value: string | null): string {
  if (value === null || value === '') return pc.dim('(none)')
  const number = Number(value)
  if (name === 'retention.ms' && number === -1) return `${value} ${pc.dim('(for ever)')}`
  if (!Number.isSafeInteger(number) || number < 0) return value
  if (name.endsWith('.ms')) return `${value} ${pc.dim(`(${formatDuration(number)})`)}`
  return name.endsWith('.bytes') && number >= 1024 ? `${value} ${pc.dim(`(${formatBytes(number)})`)}` : value
}
