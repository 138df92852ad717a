import { MillraceError, isMillraceError } from '../../kernel/errors/index.ts'
import { type PartitionId, type Uuid } from '../../kernel/model/ids.ts'
import { type Clock, type Timer, type Timers } from '../../kernel/ports/clock.ts'
import {
  type ClusterImage, type ClusterMetadata, type MetadataChange, type PartitionImage, type TopicImage,
} from '../../kernel/ports/cluster-metadata.ts'
import { type Controller } from '../../kernel/ports/controller.ts'
import { type Health, type HealthCheck, type Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { type LogStore } from '../../kernel/ports/log-store.ts'
import { type PartitionLog } from '../../kernel/ports/partition-log.ts'
import { type Replica, type Replicator } from '../../kernel/ports/replicator.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { refuseOlderMetadata } from './older-metadata.ts'
import { RemovalConfirmations } from './removal-confirmations.ts'
import { SlicedWork } from './sliced-work.ts'
import { SoleReplica } from './sole-replica.ts'
import { TopicReplicas } from './topic-replicas.ts'

/** Between two tries to make a log for which there was no space. */
const retryMs = 5000

export interface ReplicatorParts {
  readonly nodeId: number
  readonly metadata: ClusterMetadata
  readonly controller: Pick<Controller, 'confirmRemovals'>
  readonly store: LogStore
  readonly log: Logger
  readonly clock: Clock
  readonly timers: Timers
}

/** The logs of a deleted topic that are to go. */
interface Removal {
  readonly topicId: Uuid
  left: number
  /** None could not be removed so far. */
  gone: boolean
}

/** Each costs a few syncs, which block. */
type LogUnit =
  | { readonly kind: 'make', readonly id: PartitionId }
  | { readonly kind: 'remove', readonly id: PartitionId, readonly removal: Removal }
  | { readonly kind: 'set aside', readonly run: () => void }

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
 *
 * To make or remove a log blocks for a few syncs, so that it is done in slices between the turns of the event loop. A small topic is made within
 * the turn in which it was created; of a large one the partitions come one after another, and answer with a retriable error until then.
 */
export class SingleReplicator implements Replicator, Lifecycle, HealthCheck {
  readonly name = 'replicas'
  private readonly nodeId: number
  private readonly metadata: ClusterMetadata
  private readonly store: LogStore
  private readonly log: Logger
  private readonly timers: Timers
  private readonly confirmations: RemovalConfirmations
  /** A lane for each name of a topic: what had the name before is gone before something new is made under it. */
  private readonly work: SlicedWork<LogUnit>
  /** Topics of which something is placed here, by id. */
  private readonly byTopic = new Map<Uuid, TopicReplicas>()
  /** Partitions of this broker whose log could not be made or used, as `topic-partition`, with why. */
  private readonly missing = new Map<string, { readonly topic: TopicImage, readonly partition: number, readonly failure: unknown }>()
  /** Of the topics that were there before this start: how many partitions they had. */
  private readonly found = new Map<Uuid, number>()
  private retry: Timer | undefined
  private unsubscribe: (() => void) | undefined
  private starting = false

  constructor({ nodeId, metadata, controller, store, log, clock, timers }: ReplicatorParts) {
    this.nodeId = nodeId
    this.metadata = metadata
    this.store = store
    this.log = log
    this.timers = timers
    this.work = new SlicedWork({ clock, timers, run: (unit) => { this.run(unit) } })
    this.confirmations = new RemovalConfirmations(nodeId, controller, timers, log)
  }

  /**
   * All logs that are found are taken, and served, when it resolves. What a crash or a stop has left to be made or removed is done from now on, in
   * slices: nobody has to wait for it who wants another topic, nor has a stop. Rejects with MR_CLUSTER_METADATA_OLDER, and has done nothing then.
   */
  async start(): Promise<void> {
    const image = this.metadata.image()
    refuseOlderMetadata(image, this.nodeId, this.store)
    for (const topic of image.topicsById.values()) this.found.set(topic.id, topic.partitions.length)
    this.clear(image)
    this.starting = true
    this.unsubscribe = this.metadata.subscribe((_image, change) => this.follow(change))
    this.starting = false
  }

  /** What is not made or removed yet is left to the next start. */
  stop(): Promise<void> {
    this.unsubscribe?.()
    this.unsubscribe = undefined
    this.retry?.cancel()
    this.retry = undefined
    if (this.work.left > 0) this.log.info('logs that were to be made or removed are left to the next start', { logs: this.work.left })
    this.work.stop()
    const error = new MillraceError('MR_CLUSTER_STOPPED')
    for (const here of this.byTopic.values()) here.stop(error)
    this.confirmations.stop()
    return Promise.resolve()
  }

  replica(topicId: Uuid, partition: number): Replica | undefined {
    return this.byTopic.get(topicId)?.replicas[partition]
  }

  *replicas(): Iterable<Replica> {
    for (const { replicas } of this.byTopic.values()) {
      for (const replica of replicas) if (replica !== undefined) yield replica
    }
  }

  isMaking(topicId: Uuid, partition: number): boolean {
    return this.byTopic.get(topicId)?.isMaking(partition) ?? false
  }

  made(topicId: Uuid): Promise<void> {
    return this.byTopic.get(topicId)?.made() ?? Promise.resolve()
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
    this.work.begin()
  }

  private placeTopic(topic: TopicImage): void {
    const here = this.byTopic.get(topic.id) ?? new TopicReplicas()
    for (const placed of topic.partitions) {
      const { partition } = placed
      const replica = here.replicas[partition]
      if (placed.replicas.includes(this.nodeId)) {
        this.byTopic.set(topic.id, here)
        if (replica !== undefined) replica.place(placed, topic.settings)
        else if (here.begin(partition)) this.bring(topic, partition)
      } else if (replica !== undefined) this.leave(topic, placed, here)
    }
  }

  /** Nothing is written for a log that the start has found. Later one may be found that is to be removed first. */
  private bring({ name, id }: TopicImage, partition: number): void {
    const unit: LogUnit = { kind: 'make', id: { topic: name, topicId: id, partition } }
    if (this.starting && this.store.find(id, partition) !== undefined) this.run(unit)
    else this.work.add(name, unit)
  }

  private run(unit: LogUnit): void {
    if (unit.kind === 'make') this.place(unit.id)
    else if (unit.kind === 'remove') this.removeLog(unit.id, unit.removal)
    else unit.run()
  }

  /** As the metadata has it now. */
  private place({ topicId, partition }: PartitionId): void {
    const topic = this.metadata.image().topicsById.get(topicId)
    const placed = topic?.partitions[partition]
    const here = this.byTopic.get(topicId)!
    if (topic !== undefined && placed?.replicas.includes(this.nodeId) === true) {
      const replica = this.makeReplica(topic, placed)
      replica?.place(placed, topic.settings)
      here.replicas[partition] = replica
    }
    here.finish(partition)
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
      // Of damage the store has told, with file and remedy.
      if (!this.missing.has(name) && !isMillraceError(error, 'MR_LOG_CORRUPT')) this.log.error('a partition has no log on this broker', { topic: topic.name, topicId: topic.id, partition, error })
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
    this.work.begin()
  }

  /** Nothing of it is served from now on, and what was not made yet never is. Its name may be taken anew at once: a lane keeps the order. */
  private removeTopic(topic: TopicImage): void {
    const here = this.byTopic.get(topic.id)
    this.byTopic.delete(topic.id)
    this.found.delete(topic.id)
    this.work.drop(topic.name, (unit) => unit.kind === 'make' && unit.id.topicId === topic.id)
    here?.end()
    const removal = { topicId: topic.id, left: 0, gone: true }
    for (const { partition } of topic.partitions) {
      this.missing.delete(`${topic.name}-${partition}`)
      here?.replicas[partition]?.end(new MillraceError('MR_TOPIC_UNKNOWN', { topic: topic.name }))
      const id = { topic: topic.name, topicId: topic.id, partition }
      if (this.store.find(topic.id, partition) !== undefined) this.removeLater(id, removal)
    }
    if (removal.left === 0) this.removed(removal)
  }

  private removeLater(id: PartitionId, removal: Removal): void {
    removal.left++
    this.work.add(id.topic, { kind: 'remove', id, removal })
  }

  private removeLog(id: PartitionId, removal: Removal): void {
    const gone = this.attempt('removed', id, () => this.store.remove(id.topicId, id.partition))
    removal.gone &&= gone
    if (--removal.left === 0) this.removed(removal)
  }

  private removed({ topicId, gone }: Removal): void {
    if (gone && this.allInService()) this.confirmations.add(topicId)
  }

  private allInService(): boolean {
    return this.store.directories().every((directory) => directory.offline === undefined)
  }

  /** Placed elsewhere now: its bytes may be the only ones there are, so they stay. */
  private leave(topic: TopicImage, { partition }: PartitionImage, { replicas }: TopicReplicas): void {
    const id = { topic: topic.name, topicId: topic.id, partition }
    replicas[partition]!.end(new MillraceError('MR_REPLICA_NOT_LEADER', { nodeId: this.nodeId, topic: topic.name, partition }))
    replicas[partition] = undefined
    this.log.warn('a partition is no longer placed here; its log is set aside', { ...id })
    this.setAsideLater(id)
  }

  private setAsideLater(id: PartitionId): void {
    this.work.add(id.topic, { kind: 'set aside', run: () => void this.attempt('set aside', id, () => this.store.setAside(id.topicId, id.partition)) })
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
    const removals = new Map<Uuid, Removal>()
    for (const { id, sizeBytes } of [...this.store.logs()]) {
      const { topic, topicId, partition } = id
      const placed = image.topicsById.get(topicId)?.partitions[partition]
      if (placed !== undefined && placed.replicas.includes(this.nodeId)) continue
      if (image.removals.has(topicId)) {
        this.log.info('a log of a deleted topic is removed', { topic, topicId, partition, sizeBytes })
        const removal = removals.get(topicId) ?? { topicId, left: 0, gone: true }
        removals.set(topicId, removal)
        this.removeLater(id, removal)
      } else {
        this.log.error('a log belongs to no partition of this broker; it is set aside', { topic, topicId, partition, sizeBytes })
        this.setAsideLater(id)
      }
    }
    for (const [topicId, nodeIds] of image.removals) {
      if (nodeIds.includes(this.nodeId) && !removals.has(topicId)) this.removed({ topicId, left: 0, gone: true })
    }
  }
}
