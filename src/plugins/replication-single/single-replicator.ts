import { MillraceError } from '../../kernel/errors/millrace-error.ts'
import { type Uuid } from '../../kernel/model/ids.ts'
import {
  type ClusterImage, type ClusterMetadata, type MetadataChange, type PartitionImage, type TopicImage,
} from '../../kernel/ports/cluster-metadata.ts'
import { type Health, type HealthCheck, type Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { type LogStore } from '../../kernel/ports/log-store.ts'
import { type Replica, type Replicator } from '../../kernel/ports/replicator.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { SoleReplica } from './sole-replica.ts'

/**
 * Keeps a log for every partition that the metadata places on this broker, for factors of one. The metadata is the truth: a log that it
 * lacks is made, a log that it does not know is set aside with all its bytes, never deleted.
 */
export class SingleReplicator implements Replicator, Lifecycle, HealthCheck {
  readonly name = 'replicas'
  private readonly nodeId: number
  private readonly metadata: ClusterMetadata
  private readonly store: LogStore
  private readonly log: Logger
  /** By topic id, then partition; places without a replica here are undefined. */
  private readonly byTopic = new Map<Uuid, (SoleReplica | undefined)[]>()
  /** Partitions of this broker whose log could not be made, as `topic-partition`. */
  private readonly missing = new Set<string>()
  private unsubscribe: (() => void) | undefined

  constructor(nodeId: number, metadata: ClusterMetadata, store: LogStore, log: Logger) {
    this.nodeId = nodeId
    this.metadata = metadata
    this.store = store
    this.log = log
  }

  start(): Promise<void> {
    this.setStrangersAside(this.metadata.image())
    this.unsubscribe = this.metadata.subscribe((_image, change) => this.follow(change))
    return Promise.resolve()
  }

  stop(): Promise<void> {
    this.unsubscribe?.()
    this.unsubscribe = undefined
    return Promise.resolve()
  }

  replica(topicId: Uuid, partition: number): Replica | undefined {
    return this.byTopic.get(topicId)?.[partition]
  }

  *replicas(): Iterable<Replica> {
    for (const replicas of this.byTopic.values()) {
      for (const replica of replicas) if (replica !== undefined) yield replica
    }
  }

  /** Partitions of this broker whose log could not be made. */
  get logsMissing(): number {
    return this.missing.size
  }

  check(): Health {
    const [first] = this.missing
    if (first === undefined) return { state: 'ok', detail: '' }
    const detail = `${this.missing.size} partitions have no log here, ${first} among them; look at the data directories and restart the broker`
    return { state: 'degraded', detail }
  }

  private follow(change: MetadataChange): void {
    for (const topic of change.deleted) this.removeTopic(topic)
    for (const topic of change.created) this.placeTopic(topic)
    for (const topic of change.changed) this.placeTopic(topic)
  }

  private placeTopic(topic: TopicImage): void {
    const replicas = this.byTopic.get(topic.id) ?? []
    for (const partition of topic.partitions) {
      const here = partition.replicas.includes(this.nodeId)
      if (here) replicas[partition.partition] ??= this.makeReplica(topic, partition)
      else if (replicas[partition.partition] !== undefined) this.leave(topic, partition, replicas)
      replicas[partition.partition]?.place(partition, topic.settings)
    }
    if (replicas.some((replica) => replica !== undefined)) this.byTopic.set(topic.id, replicas)
  }

  private makeReplica(topic: TopicImage, { partition }: PartitionImage): SoleReplica | undefined {
    const name = `${topic.name}-${partition}`
    try {
      let log = this.store.find(topic.id, partition)
      if (log === undefined) log = this.store.create({ topic: topic.name, topicId: topic.id, partition }, topic.settings)
      else log.configure(topic.settings)
      this.missing.delete(name)
      return new SoleReplica(this.nodeId, log, topic.settings)
    } catch (error) {
      // The others are served; who asks for this one is told that it is not here.
      this.missing.add(name)
      this.log.error('a partition has no log on this broker', { topic: topic.name, topicId: topic.id, partition, error })
      return undefined
    }
  }

  private removeTopic(topic: TopicImage): void {
    const replicas = this.byTopic.get(topic.id) ?? []
    this.byTopic.delete(topic.id)
    for (const { partition } of topic.partitions) {
      this.missing.delete(`${topic.name}-${partition}`)
      replicas[partition]?.end(new MillraceError('MR_TOPIC_UNKNOWN', { topic: topic.name }))
      this.attempt('removed', topic, partition, () => {
        if (this.store.find(topic.id, partition) !== undefined) this.store.remove(topic.id, partition)
      })
    }
  }

  /** Placed elsewhere now: its bytes may be the only ones there are, so they stay. */
  private leave(topic: TopicImage, { partition }: PartitionImage, replicas: (SoleReplica | undefined)[]): void {
    replicas[partition]!.end(new MillraceError('MR_REPLICA_NOT_LEADER', { nodeId: this.nodeId, topic: topic.name, partition }))
    replicas[partition] = undefined
    this.log.warn('a partition is no longer placed here; its log is set aside', { topic: topic.name, topicId: topic.id, partition })
    this.attempt('set aside', topic, partition, () => this.store.setAside(topic.id, partition))
  }

  private attempt(what: string, topic: TopicImage, partition: number, run: () => void): void {
    try {
      run()
    } catch (error) {
      this.log.error(`a log could not be ${what}`, { topic: topic.name, topicId: topic.id, partition, error })
    }
  }

  private setStrangersAside(image: ClusterImage): void {
    for (const log of [...this.store.logs()]) {
      const { topic, topicId, partition } = log.id
      const placed = image.topicsById.get(topicId)?.partitions[partition]
      if (placed !== undefined && placed.replicas.includes(this.nodeId)) continue
      this.log.error('a log belongs to no partition of this broker; it is set aside', { topic, topicId, partition, sizeBytes: log.sizeBytes })
      this.store.setAside(topicId, partition)
    }
  }
}
