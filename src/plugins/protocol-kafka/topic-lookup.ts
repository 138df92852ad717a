import { type PartitionCompaction } from '../../kernel/config/compaction-state.ts'
import { type PartitionDamage } from '../../kernel/config/damaged-offsets.ts'
import { type Uuid } from '../../kernel/model/ids.ts'
import { type ClusterMetadata, type PartitionImage, type TopicImage } from '../../kernel/ports/cluster-metadata.ts'
import { type Replica, type Replicator } from '../../kernel/ports/replicator.ts'
import { type Hindered } from './core/partition-view.ts'
import { type ProtocolMetrics, type TopicInstruments } from './metrics.ts'

/** A topic as the data path needs it. Valid until the metadata changes; do not keep it beyond a request. */
export class TopicEntry {
  readonly image: TopicImage
  readonly instruments: TopicInstruments
  private readonly replicator: Replicator
  private readonly nodeId: number
  private readonly replicas: (Replica | undefined)[] = []

  constructor(image: TopicImage, replicator: Replicator, nodeId: number, instruments: TopicInstruments) {
    this.image = image
    this.replicator = replicator
    this.nodeId = nodeId
    this.instruments = instruments
  }

  /** Undefined for a partition that the topic does not have. */
  partition(index: number): PartitionImage | undefined {
    return this.image.partitions[index]
  }

  /** By the metadata; the replica may not be there all the same. */
  isLedHere(index: number): boolean {
    return this.image.partitions[index]?.leader === this.nodeId
  }

  /** Whether this broker will have a replica of it shortly, and has not made it yet. */
  isMaking(index: number): boolean {
    return this.replicator.isMaking(this.image.id, index)
  }

  /** This broker's replica, if it has one. */
  replica(index: number): Replica | undefined {
    return this.replicas[index] ?? this.find(index)
  }

  private find(index: number): Replica | undefined {
    if (this.image.partitions[index] === undefined) return undefined
    const replica = this.replicator.replica(this.image.id, index)
    if (replica !== undefined) this.replicas[index] = replica
    return replica
  }
}

/** Finds topics and replicas with one look into a map, instead of three for each batch. Emptied whenever the metadata changes. */
export class TopicLookup {
  private readonly metadata: ClusterMetadata
  private readonly replicator: Replicator
  private readonly nodeId: number
  private readonly metrics: ProtocolMetrics
  private readonly names = new Map<string, TopicEntry>()
  private readonly ids = new Map<Uuid, TopicEntry>()
  private end: (() => void) | undefined

  constructor(metadata: ClusterMetadata, replicator: Replicator, nodeId: number, metrics: ProtocolMetrics) {
    this.metadata = metadata
    this.replicator = replicator
    this.nodeId = nodeId
    this.metrics = metrics
  }

  start(): void {
    this.end ??= this.metadata.subscribe((image, { deleted }) => {
      this.names.clear()
      this.ids.clear()
      for (const { name } of deleted) if (!image.topics.has(name)) this.metrics.forgetTopic(name)
    })
  }

  stop(): void {
    this.end?.()
    this.end = undefined
  }

  byName(name: string): TopicEntry | undefined {
    const known = this.names.get(name)
    if (known !== undefined) return known
    return this.enter(this.metadata.image().topics.get(name))
  }

  byId(id: Uuid): TopicEntry | undefined {
    const known = this.ids.get(id)
    if (known !== undefined) return known
    return this.enter(this.metadata.image().topicsById.get(id))
  }

  /**
   * What keeps this broker from serving a replica that is placed on it, if anything. `offline`: its log could not be made or found, is damaged, or
   * is in a directory that is offline.
   */
  hindranceHere(topic: TopicImage, { partition, replicas }: PartitionImage): 'offline' | 'in the making' | undefined {
    if (!replicas.includes(this.nodeId)) return undefined
    const replica = this.replicator.replica(topic.id, partition)
    if (replica === undefined && this.replicator.isMaking(topic.id, partition)) return 'in the making'
    return replica === undefined || replica.failure !== undefined ? 'offline' : undefined
  }

  /** This broker, where something keeps it from serving a replica that is placed on it. */
  hindered(topic: TopicImage, partition: PartitionImage): Hindered | undefined {
    const hindrance = this.hindranceHere(topic, partition)
    return hindrance && { nodeId: this.nodeId, isOffline: hindrance === 'offline' }
  }

  /** See `Replicator.made`. */
  made(topicId: Uuid): Promise<void> {
    return this.replicator.made(topicId)
  }

  /** Offsets of a topic that the logs of this broker found damaged and do not serve. */
  damageOf({ id, partitions }: TopicImage): PartitionDamage[] {
    return partitions.flatMap(({ partition }) => {
      const ranges = this.replicator.replica(id, partition)?.log.damage ?? []
      return ranges.length === 0 ? [] : [{ partition, ranges }]
    })
  }

  /** Offsets of a topic whose records the logs of this broker had before a power cut, and have not any more. */
  missingOf({ id, partitions }: TopicImage): PartitionDamage[] {
    return partitions.flatMap(({ partition }) => {
      const range = this.replicator.replica(id, partition)?.log.missing
      return range === undefined ? [] : [{ partition, ranges: [range] }]
    })
  }

  /** Where compaction stands of the logs that this broker has of a topic; empty for one that is not compacted. */
  compactionOf({ id, partitions }: TopicImage): PartitionCompaction[] {
    return partitions.flatMap(({ partition }) => {
      const state = this.replicator.replica(id, partition)?.log.compaction
      return state === undefined ? [] : [{ partition, ...state }]
    })
  }

  /** Of the broker that answers. */
  get ownNodeId(): number {
    return this.nodeId
  }

  private enter(image: TopicImage | undefined): TopicEntry | undefined {
    if (image === undefined) return undefined
    const entry = new TopicEntry(image, this.replicator, this.nodeId, this.metrics.topic(image.name))
    // Without a subscription nothing would empty the maps.
    if (this.end !== undefined) {
      this.names.set(image.name, entry)
      this.ids.set(image.id, entry)
    }
    return entry
  }
}
