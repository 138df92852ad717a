import { zeroUuid, type Uuid } from '../../kernel/model/ids.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type ClusterImage, type ClusterMetadata, type MetadataChange, type PartitionImage, type TopicImage } from '../../kernel/ports/cluster-metadata.ts'
import { type Controller } from '../../kernel/ports/controller.ts'
import { topicSettings } from '../topic-settings.ts'

type Listener = (image: ClusterImage, change: MetadataChange) => void

/** Cluster metadata that a test writes by hand: topics come, change and go at once, without a controller. */
export class ManualMetadata implements ClusterMetadata, Pick<Controller, 'confirmRemovals'> {
  /** Deleted topics, by id, as a test wants them; what is dropped is added, what is confirmed taken out. */
  readonly removals = new Map<Uuid, readonly number[]>()
  private readonly topics = new Map<string, TopicImage>()
  private readonly topicsById = new Map<Uuid, TopicImage>()
  private readonly listeners = new Set<Listener>()
  private index = 0

  image(): ClusterImage {
    return {
      index: this.index, clusterId: zeroUuid, controllerId: 1, brokers: new Map(), topics: new Map(this.topics), topicsById: new Map(this.topicsById),
      removals: new Map(this.removals),
    }
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener)
    listener(this.image(), { created: [...this.topics.values()], deleted: [], changed: [] })
    return () => this.listeners.delete(listener)
  }

  /** Makes a topic, or changes the one of that id. */
  put(topic: TopicImage): TopicImage {
    const before = this.topicsById.get(topic.id)
    this.topics.set(topic.name, topic)
    this.topicsById.set(topic.id, topic)
    this.tell(before === undefined ? { created: [topic], deleted: [], changed: [] } : { created: [], deleted: [], changed: [topic] })
    return topic
  }

  drop(topic: TopicImage): void {
    const before = this.topicsById.get(topic.id)!
    this.topics.delete(before.name)
    this.topicsById.delete(before.id)
    this.removals.set(before.id, [...new Set(before.partitions.flatMap(({ replicas }) => replicas))])
    this.tell({ created: [], deleted: [before], changed: [] })
  }

  /** As the controller does. */
  confirmRemovals(nodeId: number, topicIds: readonly Uuid[]): Promise<void> {
    for (const id of topicIds) {
      const left = (this.removals.get(id) ?? []).filter((each) => each !== nodeId)
      if (left.length === 0) this.removals.delete(id)
      else this.removals.set(id, left)
    }
    return Promise.resolve()
  }

  private tell(change: MetadataChange): void {
    this.index++
    const image = this.image()
    for (const listener of [...this.listeners]) listener(image, change)
  }
}

/** A topic with one replica a partition, led by that replica. */
export function soleTopic(name: string, id: Uuid, leaders: readonly number[], changed: Partial<TopicSettings> = {}, leaderEpoch = 0): TopicImage {
  const partitions = leaders.map((leader, partition): PartitionImage =>
    ({ partition, leader, leaderEpoch, replicas: [leader], isr: [leader], partitionEpoch: leaderEpoch }))
  return { name, id, internal: false, partitions, overrides: new Map(), settings: topicSettings(changed) }
}
