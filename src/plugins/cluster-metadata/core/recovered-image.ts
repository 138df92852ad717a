import { zeroUuid, type Uuid } from '../../../kernel/model/ids.ts'
import { collisionKey, isInternalTopic, isTopicName } from '../../../kernel/model/topic-name.ts'
import { type PartitionImage } from '../../../kernel/ports/cluster-metadata.ts'
import { type TopicSettings } from '../../../kernel/model/topic-settings.ts'
import { supportedFeatures } from './feature-levels.ts'
import { ImageChanges } from './image-changes.ts'
import { imageRecords } from './image-snapshot.ts'
import { emptyImage, type MetadataImage } from './metadata-image.ts'
import { type MetadataRecord } from './metadata-records.ts'
import { decodeRecords, encodeRecords } from './record-codec.ts'

/** What the log of the metadata still says. */
export interface IntactMetadata {
  readonly snapshot: Uint8Array | undefined
  readonly commands: readonly Uint8Array[]
  /** Nothing that was agreed is missing from it. */
  readonly isWhole: boolean
}

/** A partition directory, as `partition.metadata` and the files in it say. */
export interface PartitionEvidence {
  readonly path: string
  readonly topic: string
  readonly partition: number
  readonly topicId: Uuid | undefined
  /** The last that its log knows; undefined where that is not sure. */
  readonly leaderEpoch: number | undefined
  /** The largest that its log knows; -1 for none. */
  readonly producerId: number
  readonly bytes: number
}

export interface RecoveredTopic {
  readonly name: string
  readonly topicId: Uuid
  readonly partitions: number
  /** `metadata`: as it was agreed. `directories`: made again from what the partition directories say, keeping everything, since nothing says
   * what its settings were; internal ones with those that they always have. */
  readonly from: 'metadata' | 'directories'
  /** Partitions without a directory. */
  readonly absent: readonly number[]
  /** None of its directories has a byte of records. */
  readonly isEmpty: boolean
}

export interface RecoveredImage {
  readonly snapshot: Uint8Array
  readonly topics: readonly RecoveredTopic[]
  /** Topics of the metadata that another with the same name, and with directories, takes the place of. */
  readonly replaced: readonly { readonly name: string, readonly topicId: Uuid }[]
  /** Directories that no topic takes, and why. They stay where they are. */
  readonly left: readonly { readonly path: string, readonly reason: string }[]
  /** Deleted topics whose directories a broker still removes, as was agreed. */
  readonly removals: number
  /** Producer ids go on from here. */
  readonly nextProducerId: number
  /** Of metadata that are whole: a partition whose log is ahead of them, as `topic-partition`. They are an older copy. */
  readonly ahead: string | undefined
}

/** Beyond what a log reaches in one life: epochs of lost registrations must not come again. */
const epochMargin = 1_000
/** Of a log that does not say its epochs. */
const unknownEpochMargin = 1_000_000
/** A number beyond this is a directory's name and no partition's. */
const partitionsMax = 100_000
/** Producer ids of lost blocks must not come again. */
const producerIdStep = 2 ** 40
/** Clients may make ids up; one beyond this says nothing of what was given out, and would leave none to give. */
const producerIdsMax = 2 ** 52
/** Epochs are 32 bits on the wire and on the disk. */
const leaderEpochMax = 2 ** 31 - 1

/**
 * The metadata as it can be known from an intact part of its log and from the directories of the partitions. Nothing is taken out of it
 * but a topic whose name another one has, with directories. Leader epochs and producer ids are above all that the metadata and the logs know, also where the metadata are whole: no
 * log can be ahead of them afterwards. Throws MR_CLUSTER_METADATA_NEWER for what a newer release has written.
 */
export function recoverImage(intact: IntactMetadata, found: readonly PartitionEvidence[], nodeId: number, clusterId: Uuid): RecoveredImage {
  const base = replayed(intact)
  const left = leftWithoutMetadata(found)
  const ahead = intact.isWhole ? found.find((part) => isAhead(base, part)) : undefined
  const { records, replaced } = intact.isWhole && ahead === undefined ? { records: [], replaced: [] } : changesFor(base, found, nodeId, clusterId, left)
  const raised = raiseEpochs(imageOf([...imageRecords(base), ...records, nextProducerIds(base, found)]), found)
  return { ...report(base, raised, found, replaced, left), ahead: ahead === undefined ? undefined : `${ahead.topic}-${ahead.partition}` }
}

/** Whoever appends in an epoch has it from the metadata. */
function isAhead(base: MetadataImage, { topicId, partition, leaderEpoch }: PartitionEvidence): boolean {
  const known = topicId === undefined ? undefined : base.topicsById.get(topicId)?.partitions[partition]
  return known !== undefined && leaderEpoch !== undefined && leaderEpoch > known.leaderEpoch
}

function nextProducerIds(base: MetadataImage, found: readonly PartitionEvidence[]): MetadataRecord {
  const used = found.reduce((largest, { producerId }) => (producerId < producerIdsMax ? Math.max(largest, producerId) : largest), base.nextProducerId)
  return { type: 'producerIdsAllocated', nodeId: -1, brokerEpoch: -1, next: (Math.floor(used / producerIdStep) + 1) * producerIdStep }
}

/** What of the metadata is looked at here does not depend on the settings of topics. */
const settingsOf = (): TopicSettings => ({}) as TopicSettings

function replayed({ snapshot, commands }: IntactMetadata): MetadataImage {
  let image = snapshot === undefined ? emptyImage : imageOf(decodeRecords(snapshot))
  for (const command of commands) {
    const changes = new ImageChanges(image, settingsOf)
    for (const record of decodeRecords(command)) changes.replay(record)
    image = changes.finish(0, -1).image
  }
  return image
}

function imageOf(records: readonly MetadataRecord[]): MetadataImage {
  const changes = new ImageChanges(emptyImage, settingsOf)
  for (const record of records) changes.replay(record)
  return changes.finish(0, -1).image
}

function leftWithoutMetadata(found: readonly PartitionEvidence[]): { path: string, reason: string }[] {
  return found.filter(({ topicId }) => topicId === undefined).map(({ path }) => ({ path, reason: 'its partition.metadata is gone or cannot be read: nothing says which topic it is of' }))
}

interface Changes {
  readonly records: readonly MetadataRecord[]
  readonly replaced: { readonly name: string, readonly topicId: Uuid }[]
}

/** Topics that only directories know, and more partitions of those that the metadata knows. */
function changesFor(base: MetadataImage, found: readonly PartitionEvidence[], nodeId: number, clusterId: Uuid, left: { path: string, reason: string }[]): Changes {
  const records: MetadataRecord[] = []
  const replaced: Changes['replaced'] = []
  if (base.clusterId === zeroUuid) {
    records.push({ type: 'cluster', clusterId })
    for (const [name, { max }] of supportedFeatures) if (!base.features.has(name)) records.push({ type: 'featureLevel', name, level: max })
  }
  const taken = new Map([...base.topics.values()].map(({ name, id }) => [collisionKey(name), id]))
  const byTopic = partsByTopic(found)
  // Equal disks give equal metadata: of two topics of one name the one with more bytes is taken, then by id.
  const weight = (parts: readonly PartitionEvidence[]): number => parts.reduce((sum, { bytes }) => sum + bytes, 0)
  const topics = [...byTopic].sort(([leftId, leftParts], [rightId, rightParts]) => weight(rightParts) - weight(leftParts) || (leftId < rightId ? -1 : 1))
  for (const [topicId, parts] of topics) {
    const name = parts[0]!.topic
    const known = base.topicsById.get(topicId)
    const holder = taken.get(collisionKey(name))
    const reason = known !== undefined || base.removals.has(topicId) ? undefined : refusalOf(name, parts, holder !== undefined && byTopic.has(holder) ? holder : undefined)
    if (reason !== undefined) left.push(...parts.map(({ path }) => ({ path, reason })))
    if (reason !== undefined || base.removals.has(topicId)) continue
    if (known === undefined && holder !== undefined) {
      const gone = base.topicsById.get(holder)!
      replaced.push({ name: gone.name, topicId: holder })
      records.push({ type: 'topicDeleted', topicId: holder }, { type: 'topicRemoval', topicId: holder, nodeIds: [] })
    }
    if (known === undefined) records.push({ type: 'topicCreated', topicId, name })
    taken.set(collisionKey(name), topicId)
    const count = Math.max(...parts.map(({ partition }) => partition)) + 1
    for (let partition = known?.partitions.length ?? 0; partition < count; partition++) {
      records.push({ type: 'partitionCreated', topicId, partition, leader: nodeId, leaderEpoch: 0, partitionEpoch: 0, replicas: [nodeId], isr: [nodeId] })
    }
    if (known === undefined) for (const [key, value] of safeConfigs(name)) records.push({ type: 'topicConfigSet', topicId, name: key, value })
  }
  return { records, replaced }
}

/**
 * Settings that lose nothing, in place of those that nobody knows any more: a topic that kept its records for ever, or the last of each key, must not be taken for one that keeps them for the
 * default of a week. What brokers keep for themselves has the settings that it is made with.
 */
function safeConfigs(name: string): readonly (readonly [key: string, value: string])[] {
  if (!isInternalTopic(name)) return [['retention.ms', '-1'], ['retention.bytes', '-1']]
  return [['cleanup.policy', 'compact'], ['compression.type', 'producer'], ['segment.bytes', '104857600'], ['durability', 'fsync']]
}

function partsByTopic(found: readonly PartitionEvidence[]): Map<Uuid, PartitionEvidence[]> {
  const byTopic = new Map<Uuid, PartitionEvidence[]>()
  for (const part of found) {
    if (part.topicId === undefined) continue
    const parts = byTopic.get(part.topicId)
    if (parts === undefined) byTopic.set(part.topicId, [part])
    else parts.push(part)
  }
  return byTopic
}

function refusalOf(name: string, parts: readonly PartitionEvidence[], holder: Uuid | undefined): string | undefined {
  if (!isTopicName(name)) return 'its name is none that a topic may have'
  if (parts.some(({ partition }) => partition >= partitionsMax)) return `no topic has ${partitionsMax} partitions`
  if (parts.some(({ topic }) => topic !== name)) return 'directories of several names say that they are of this topic'
  return holder === undefined ? undefined : `topic ${holder} has the same name, and directories too`
}

/** A log never goes back to an earlier leader epoch, and registrations that are lost have raised it. */
function raiseEpochs(image: MetadataImage, found: readonly PartitionEvidence[]): MetadataImage {
  const records = imageRecords(image).map((record): MetadataRecord => {
    if (record.type !== 'partitionCreated') return record
    const parts = found.filter(({ topicId, partition }) => topicId === record.topicId && partition === record.partition)
    const seen = parts.map(({ leaderEpoch }) => (leaderEpoch === undefined ? unknownEpochMargin : leaderEpoch + epochMargin))
    const leaderEpoch = Math.min(leaderEpochMax - epochMargin, Math.max(record.leaderEpoch + epochMargin, ...seen))
    return { ...record, leaderEpoch, partitionEpoch: record.partitionEpoch + epochMargin }
  })
  return imageOf(records)
}

function report(
  base: MetadataImage, image: MetadataImage, found: readonly PartitionEvidence[], replaced: RecoveredImage['replaced'], left: RecoveredImage['left'],
): Omit<RecoveredImage, 'ahead'> {
  const topics = [...image.topicsById.values()].sort((one, other) => (one.name < other.name ? -1 : 1)).map((topic): RecoveredTopic => {
    const parts = found.filter(({ topicId }) => topicId === topic.id)
    return {
      name: topic.name, topicId: topic.id, partitions: topic.partitions.length, from: base.topicsById.has(topic.id) ? 'metadata' : 'directories',
      absent: absentOf(topic.partitions, parts), isEmpty: parts.every(({ bytes }) => bytes === 0),
    }
  })
  return { snapshot: encodeRecords(imageRecords(image)), topics, replaced, left, removals: [...image.removals].length, nextProducerId: image.nextProducerId }
}

const absentOf = (partitions: readonly PartitionImage[], parts: readonly PartitionEvidence[]): readonly number[] =>
  partitions.map(({ partition }) => partition).filter((partition) => !parts.some((part) => part.partition === partition))
