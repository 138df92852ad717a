import { MillraceError, isMillraceError } from '../../kernel/errors/index.ts'
import { type PartitionId, type Uuid } from '../../kernel/model/ids.ts'
import { type Timer, type Timers } from '../../kernel/ports/clock.ts'
import {
  type ClusterImage, type ClusterMetadata, type MetadataChange, type PartitionImage, type TopicImage,
} from '../../kernel/ports/cluster-metadata.ts'
import { type Controller } from '../../kernel/ports/controller.ts'
import { type Health, type HealthCheck, type Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { type LogStore } from '../../kernel/ports/log-store.ts'
import { type PartitionLog } from '../../kernel/ports/partition-log.ts'
import { type Replica, type Replicator } from '../../kernel/ports/replicator.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { RemovalConfirmations } from './removal-confirmations.ts'
import { SoleReplica } from './sole-replica.ts'

/** Between two tries to make a log for which there was no space. */
const retryMs = 5000

export interface ReplicatorParts {
  readonly nodeId: number
  readonly metadata: ClusterMetadata
  readonly controller: Pick<Controller, 'confirmRemovals'>
  readonly store: LogStore
  readonly log: Logger
  readonly timers: Timers
}

/**
 * Keeps a log for every partition that the metadata places on this broker, for factors of one. The metadata is the truth: a log that it
 * lacks is made, one of a topic that it knows as deleted is removed, and one that it does not know is set aside with all its bytes.
 *
 * The metadata knows a deleted topic until this broker has confirmed that its logs are gone. They are while every data directory is in
 * service; one that is not may hold some, so that nothing is confirmed then.
 *
 * But the log of a partition that is older than this start may lie in a directory that is offline: then it is not made anew, empty, in another
 * one. Its place here stays without a replica until a start finds the directory. A log that could not be made for want of space is tried
 * again until it can.
 */
export class SingleReplicator implements Replicator, Lifecycle, HealthCheck {
  readonly name = 'replicas'
  private readonly nodeId: number
  private readonly metadata: ClusterMetadata
  private readonly store: LogStore
  private readonly log: Logger
  private readonly timers: Timers
  private readonly confirmations: RemovalConfirmations
  /** By topic id, then partition; places without a replica here are undefined. */
  private readonly byTopic = new Map<Uuid, (SoleReplica | undefined)[]>()
  /** Partitions of this broker whose log could not be made or used, as `topic-partition`, with why. */
  private readonly missing = new Map<string, { readonly topic: TopicImage, readonly partition: number, readonly failure: unknown }>()
  /** Of the topics that were there before this start: how many partitions they had. */
  private readonly found = new Map<Uuid, number>()
  private retry: Timer | undefined
  private unsubscribe: (() => void) | undefined

  constructor({ nodeId, metadata, controller, store, log, timers }: ReplicatorParts) {
    this.nodeId = nodeId
    this.metadata = metadata
    this.store = store
    this.log = log
    this.timers = timers
    this.confirmations = new RemovalConfirmations(nodeId, controller, timers, log)
  }

  start(): Promise<void> {
    const image = this.metadata.image()
    for (const topic of image.topicsById.values()) this.found.set(topic.id, topic.partitions.length)
    this.clear(image)
    this.unsubscribe = this.metadata.subscribe((_image, change) => this.follow(change))
    return Promise.resolve()
  }

  stop(): Promise<void> {
    this.unsubscribe?.()
    this.unsubscribe = undefined
    this.retry?.cancel()
    this.retry = undefined
    this.confirmations.stop()
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

  /** Partitions that are placed here and not served: their log is lost, damaged as a whole, or in a directory that is offline. */
  *notServed(): Iterable<{ readonly topic: string, readonly partition: number, readonly failure: unknown }> {
    for (const { topic, partition, failure } of this.missing.values()) yield { topic: topic.name, partition, failure }
    for (const { failure, log } of this.replicas()) if (failure !== undefined) yield { topic: log.id.topic, partition: log.id.partition, failure }
  }

  check(): Health {
    const [first] = this.missing.values()
    if (first === undefined) return { state: 'ok', detail: '' }
    const { topic, partition, failure } = first
    const detail = `${this.missing.size} partitions have no log here that can be served, ${topic.name}-${partition} among them: ${failure instanceof Error ? failure.message : String(failure)}; look at the data directories and restart the broker; docs/damage.md says what to do`
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
      const log = this.store.find(topic.id, partition) ?? this.makeLog(topic, partition)
      log.configure(topic.settings)
      this.missing.delete(name)
      return new SoleReplica(this.nodeId, log, topic.settings)
    } catch (error) {
      // The others are served; who asks for this one is told that it is not here.
      if (!this.missing.has(name)) this.log.error('a partition has no log on this broker', { topic: topic.name, topicId: topic.id, partition, error })
      this.missing.set(name, { topic, partition, failure: error })
      if (isMillraceError(error, 'MR_FILE_NO_SPACE')) this.retry ??= this.timers.after(retryMs, () => { this.retryMissing() })
      return undefined
    }
  }

  private makeLog(topic: TopicImage, partition: number): PartitionLog {
    const offline = this.store.directories().find((directory) => directory.offline !== undefined)
    if (offline !== undefined && partition < (this.found.get(topic.id) ?? 0)) {
      throw new MillraceError('MR_LOG_DIRECTORY_OFFLINE', { path: offline.path, reason: offline.offline })
    }
    return this.store.create({ topic: topic.name, topicId: topic.id, partition }, topic.settings)
  }

  private retryMissing(): void {
    this.retry = undefined
    for (const { id } of new Set(Array.from(this.missing.values(), ({ topic }) => topic))) {
      const topic = this.metadata.image().topicsById.get(id)
      if (topic !== undefined) this.placeTopic(topic)
    }
  }

  private removeTopic(topic: TopicImage): void {
    const replicas = this.byTopic.get(topic.id) ?? []
    this.byTopic.delete(topic.id)
    this.found.delete(topic.id)
    let gone = true
    for (const { partition } of topic.partitions) {
      this.missing.delete(`${topic.name}-${partition}`)
      replicas[partition]?.end(new MillraceError('MR_TOPIC_UNKNOWN', { topic: topic.name }))
      gone = this.removeLog({ topic: topic.name, topicId: topic.id, partition }) && gone
    }
    if (gone && this.allInService()) this.confirmations.add(topic.id)
  }

  /** Whether there is no such log now. */
  private removeLog(id: PartitionId): boolean {
    return this.attempt('removed', id, () => {
      if (this.store.find(id.topicId, id.partition) !== undefined) this.store.remove(id.topicId, id.partition)
    })
  }

  private allInService(): boolean {
    return this.store.directories().every((directory) => directory.offline === undefined)
  }

  /** Placed elsewhere now: its bytes may be the only ones there are, so they stay. */
  private leave(topic: TopicImage, { partition }: PartitionImage, replicas: (SoleReplica | undefined)[]): void {
    replicas[partition]!.end(new MillraceError('MR_REPLICA_NOT_LEADER', { nodeId: this.nodeId, topic: topic.name, partition }))
    replicas[partition] = undefined
    this.log.warn('a partition is no longer placed here; its log is set aside', { topic: topic.name, topicId: topic.id, partition })
    this.attempt('set aside', { topic: topic.name, topicId: topic.id, partition }, () => this.store.setAside(topic.id, partition))
  }

  private attempt(what: string, { topic, topicId, partition }: PartitionId, run: () => void): boolean {
    try {
      run()
      return true
    } catch (error) {
      this.log.error(`a log could not be ${what}`, { topic, topicId, partition, error })
      return false
    }
  }

  /** What is there at the start and belongs to no partition of this broker leaves service. */
  private clear(image: ClusterImage): void {
    const kept = new Set<Uuid>()
    for (const { id, sizeBytes } of [...this.store.logs()]) {
      const { topic, topicId, partition } = id
      const placed = image.topicsById.get(topicId)?.partitions[partition]
      if (placed !== undefined && placed.replicas.includes(this.nodeId)) continue
      if (image.removals.has(topicId)) {
        this.log.info('a log of a deleted topic is removed', { topic, topicId, partition, sizeBytes })
        if (!this.removeLog(id)) kept.add(topicId)
      } else {
        this.log.error('a log belongs to no partition of this broker; it is set aside', { topic, topicId, partition, sizeBytes })
        this.store.setAside(topicId, partition)
      }
    }
    if (!this.allInService()) return
    for (const [topicId, nodeIds] of image.removals) if (nodeIds.includes(this.nodeId) && !kept.has(topicId)) this.confirmations.add(topicId)
  }
}
