import { assert, unreachable } from '../../../base/assert.ts'
import { type Uuid } from '../../../kernel/model/ids.ts'
import { collisionKey, isInternalTopic } from '../../../kernel/model/topic-name.ts'
import { type TopicSettings } from '../../../kernel/model/topic-settings.ts'
import { type MetadataChange, type PartitionImage, type TopicImage } from '../../../kernel/ports/cluster-metadata.ts'
import { checkFeatureLevel } from './feature-levels.ts'
import { type MetadataImage, type RegisteredBroker } from './metadata-image.ts'
import {
  type BrokerRegisteredRecord, type MetadataRecord, type PartitionCreatedRecord, type TopicConfigSetRecord,
} from './metadata-records.ts'

/** What overrides come to under the broker's defaults. */
export type SettingsOf = (overrides: ReadonlyMap<string, string>) => TopicSettings

interface TopicDraft {
  readonly name: string
  readonly id: Uuid
  partitions: PartitionImage[]
  overrides: Map<string, string>
  settings: TopicSettings | undefined
}

export interface ChangedImage {
  readonly image: MetadataImage
  readonly change: MetadataChange
}

/** Replays records on top of an image and gives the image that follows, once. The one below stays as it is. */
export class ImageChanges {
  private readonly base: MetadataImage
  private readonly settingsOf: SettingsOf
  private clusterId: Uuid
  private nextProducerId: number
  private features: Map<string, number> | undefined
  private brokers: Map<number, RegisteredBroker> | undefined
  /** Topics that were touched, by id. Undefined: deleted. */
  private readonly drafts = new Map<Uuid, TopicDraft | undefined>()
  /** By topic id. Undefined: none is left. */
  private readonly removals = new Map<Uuid, readonly number[] | undefined>()

  constructor(base: MetadataImage, settingsOf: SettingsOf) {
    this.base = base
    this.settingsOf = settingsOf
    this.clusterId = base.clusterId
    this.nextProducerId = base.nextProducerId
  }

  /** Throws MR_CLUSTER_METADATA_NEWER for a feature level of a newer release, and nothing else. */
  replay(record: MetadataRecord): void {
    switch (record.type) {
      case 'cluster':
        this.clusterId = record.clusterId
        return
      case 'featureLevel':
        checkFeatureLevel(record.name, record.level)
        this.features ??= new Map(this.base.features)
        this.features.set(record.name, record.level)
        return
      case 'brokerRegistered': return this.registerBroker(record)
      case 'topicCreated':
        this.drafts.set(record.topicId, { name: record.name, id: record.topicId, partitions: [], overrides: new Map(), settings: undefined })
        return
      case 'partitionCreated': return this.createPartition(record)
      case 'topicConfigSet': return this.setConfig(record)
      case 'topicDeleted': return this.deleteTopic(record.topicId)
      case 'topicRemoval':
        this.removals.set(record.topicId, record.nodeIds.length === 0 ? undefined : record.nodeIds)
        return
      case 'producerIdsAllocated':
        this.nextProducerId = Math.max(this.nextProducerId, record.next)
        return
      default: return unreachable(record, 'metadata replay')
    }
  }

  finish(index: number, controllerId: number): ChangedImage {
    const created: TopicImage[] = []
    const deleted: TopicImage[] = []
    const changed: TopicImage[] = []
    const byName = new Map<string, TopicImage | undefined>()
    const byId = new Map<Uuid, TopicImage | undefined>()
    const byKey = new Map<string, string | undefined>()
    // Deletions first: a name may be taken again in the same step.
    for (const [id, draft] of this.drafts) {
      const before = this.base.topicsById.get(id)
      if (draft !== undefined || before === undefined) continue
      deleted.push(before)
      byName.set(before.name, undefined)
      byId.set(id, undefined)
      byKey.set(collisionKey(before.name), undefined)
    }
    for (const [id, draft] of this.drafts) {
      if (draft === undefined) continue
      const topic = this.imageOf(draft)
      const existed = this.base.topicsById.has(id)
      if (existed) changed.push(topic)
      else created.push(topic)
      byName.set(topic.name, topic)
      byId.set(id, topic)
      byKey.set(collisionKey(topic.name), topic.name)
    }
    const image: MetadataImage = {
      index,
      clusterId: this.clusterId,
      controllerId,
      brokers: this.brokers ?? this.base.brokers,
      topics: this.base.topics.with(byName),
      topicsById: this.base.topicsById.with(byId),
      namesByCollisionKey: this.base.namesByCollisionKey.with(byKey),
      removals: this.base.removals.with(this.removals),
      features: this.features ?? this.base.features,
      nextProducerId: this.nextProducerId,
    }
    return { image, change: { created, deleted, changed } }
  }

  private registerBroker(record: BrokerRegisteredRecord): void {
    const { nodeId, epoch, incarnationId, endpoints, rack, fenced, directoryIds } = record
    this.brokers ??= new Map(this.base.brokers)
    this.brokers.set(nodeId, { nodeId, epoch, incarnationId, endpoints, rack, fenced, directoryIds })
    for (const topic of this.base.topics.values()) {
      if (!this.drafts.has(topic.id) && topic.partitions.some((partition) => partition.leader === nodeId)) this.drafts.set(topic.id, draftOf(topic))
    }
    for (const draft of this.drafts.values()) {
      if (draft !== undefined) draft.partitions = draft.partitions.map((partition) => (partition.leader === nodeId ? ledAgain(partition) : partition))
    }
  }

  private createPartition(record: PartitionCreatedRecord): void {
    const { partition, leader, leaderEpoch, partitionEpoch, replicas, isr } = record
    const draft = this.draft(record.topicId)
    assert(draft.partitions.length === partition, 'partitions follow their topic in order')
    draft.partitions.push({ partition, leader, leaderEpoch, replicas, isr, partitionEpoch })
  }

  private deleteTopic(id: Uuid): void {
    const { partitions } = this.draft(id)
    this.drafts.set(id, undefined)
    this.removals.set(id, [...new Set(partitions.flatMap(({ replicas }) => replicas))])
  }

  private setConfig(record: TopicConfigSetRecord): void {
    const draft = this.draft(record.topicId)
    if (record.value === undefined) draft.overrides.delete(record.name)
    else draft.overrides.set(record.name, record.value)
    draft.settings = undefined
  }

  private draft(id: Uuid): TopicDraft {
    const known = this.drafts.get(id)
    if (known !== undefined) return known
    const topic = this.base.topicsById.get(id)
    assert(topic !== undefined && !this.drafts.has(id), 'records of a topic lie between its creation and its deletion')
    const draft = draftOf(topic)
    this.drafts.set(id, draft)
    return draft
  }

  private imageOf(draft: TopicDraft): TopicImage {
    return {
      name: draft.name,
      id: draft.id,
      internal: isInternalTopic(draft.name),
      partitions: draft.partitions,
      overrides: draft.overrides,
      settings: draft.settings ?? this.settingsOf(draft.overrides),
    }
  }
}

const draftOf = (topic: TopicImage): TopicDraft => ({
  name: topic.name, id: topic.id, partitions: [...topic.partitions], overrides: new Map(topic.overrides), settings: topic.settings,
})

const ledAgain = (partition: PartitionImage): PartitionImage =>
  ({ ...partition, leaderEpoch: partition.leaderEpoch + 1, partitionEpoch: partition.partitionEpoch + 1 })
