import { MillraceError } from '../../kernel/errors/index.ts'
import { type BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type Clock, type Timers } from '../../kernel/ports/clock.ts'
import { type ClusterMetadata, type MetadataChange } from '../../kernel/ports/cluster-metadata.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type Controller } from '../../kernel/ports/controller.ts'
import { type CoordinatorFinder } from '../../kernel/ports/coordinator-finder.ts'
import { type Health, type HealthCheck, type Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { type Replicator } from '../../kernel/ports/replicator.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { MachineHost, type Done, type PartitionState } from '../../runtime/index.ts'
import { type GroupCommand, type GroupReply, type ReplyTo } from './core/group-commands.ts'
import { type GroupChange, type GroupObserver } from './core/group-change.ts'
import { GroupMachine } from './core/group-machine.ts'
import { groupPartition } from './core/group-partition.ts'
import { groupRules } from './group-rules.ts'
import { ClusterTopics } from './io/cluster-topics.ts'
import { TopicPatterns } from './io/topic-patterns.ts'
import { OffsetsTopic, offsetsTopicName } from './offsets-topic.ts'

export interface GroupServiceParts {
  readonly settings: BrokerSettings
  readonly identity: BrokerIdentity
  readonly metadata: ClusterMetadata
  readonly controller: Controller
  readonly replicator: Replicator
  readonly compression: Compression
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  readonly observer: GroupObserver
}

/** A command about one group. */
export type CommandOfGroup = Extract<GroupCommand, { readonly groupId: string }>

/** Groups by their machines: which partition a group is in, which broker leads that, and what follows from topics that are deleted. */
export class GroupService implements Lifecycle, CoordinatorFinder, HealthCheck {
  readonly keyType = 0
  readonly name = 'groups'
  private readonly metadata: ClusterMetadata
  private readonly topic: OffsetsTopic
  private readonly topics: ClusterTopics
  private readonly patterns: TopicPatterns
  /** Patterns of groups that are being looked up. */
  private readonly resolving = new Set<string>()
  private readonly host: MachineHost<GroupCommand, GroupChange, GroupReply>
  private unfollow: (() => void) | undefined
  private unsubscribe: (() => void) | undefined

  constructor(parts: GroupServiceParts) {
    const { settings, observer, metadata, controller, logger } = parts
    const rules = groupRules(settings)
    const topics = new ClusterTopics(metadata)
    this.metadata = metadata
    this.topics = topics
    this.patterns = new TopicPatterns(parts.timers)
    this.topic = new OffsetsTopic(metadata, controller, settings, logger)
    this.host = new MachineHost({
      ...parts,
      topic: offsetsTopicName,
      makeMachine: () => new GroupMachine(rules, topics, observer),
      codec: settings.integer('offsets.topic.compression.codec'),
      loadChunkBytes: settings.integer('offsets.load.buffer.size'),
      replyTimeoutMs: settings.integer('offsets.commit.timeout.ms'),
    })
  }

  start(): Promise<void> {
    // Before the groups, which look at it.
    this.unfollow = this.metadata.subscribe((image, change) => { this.topics.follow(image, change) })
    this.host.start()
    this.unsubscribe = this.metadata.subscribe((_image, change) => { this.forget(change) })
    return Promise.resolve()
  }

  stop(): Promise<void> {
    this.unsubscribe?.()
    this.unsubscribe = undefined
    this.unfollow?.()
    this.unfollow = undefined
    this.patterns.stop()
    this.host.stop()
    return Promise.resolve()
  }

  /** Answers the members that wait for others, and takes no more commands. */
  stopWaiting(): void {
    this.host.stopWaiting()
  }

  find(groupId: string, done: (error: unknown, nodeId: number) => void): void {
    this.topic.ensure((error, topic) => {
      if (topic === undefined) {
        done(error, -1)
        return
      }
      const partition = groupPartition(groupId, topic.partitions.length)
      const { leader } = topic.partitions[partition]!
      // Some clients (kafkajs) take COORDINATOR_LOAD_IN_PROGRESS at their JoinGroup for a crash: where it is this broker, they are named it when it has loaded.
      if (leader >= 0) this.host.onceLoaded(partition, () => { done(undefined, leader) })
      else done(new MillraceError('MR_COORDINATOR_UNAVAILABLE', { topic: offsetsTopicName, partition, reason: 'the partition has no leader' }), -1)
    })
  }

  /** See MachinePartition.submit; MR_COORDINATOR_NOT_HERE also while nobody has asked for a coordinator ever. */
  submit<C extends CommandOfGroup>(command: C, done: Done<ReplyTo<C>>): void {
    const { topic } = this.topic
    const partition = topic === undefined ? 0 : groupPartition(command.groupId, topic.partitions.length)
    this.host.submit(partition, command, done as Done<GroupReply>)
  }

  /** Why a pattern of topics is not served; undefined where it is. */
  patternFault(pattern: string): string | undefined {
    return this.patterns.fault(pattern)
  }

  /** Looks up which topics a group's pattern stands for, and tells the group. */
  resolvePattern(groupId: string, pattern: string): void {
    const key = `${groupId.length} ${groupId}${pattern}`
    if (this.resolving.has(key)) return
    this.resolving.add(key)
    const { version } = this.topics
    this.patterns.find(pattern, this.topics.names(), (topics) => {
      this.resolving.delete(key)
      // Where the group is not here any more, whoever has it asks again.
      this.submit({ type: 'patternResolved', groupId, pattern, topics, version }, () => undefined)
    })
  }

  /** Asks all partitions that this broker leads. `done` is told of the replies, or of the first error, when all have answered. */
  submitToAll<C extends Extract<GroupCommand, { readonly type: 'list' }>>(command: C, done: Done<readonly ReplyTo<C>[]>): void {
    const partitions = [...this.host.partitions().keys()]
    const replies: ReplyTo<C>[] = []
    let failure: unknown
    let open = partitions.length
    if (open === 0) done(undefined, replies)
    partitions.forEach((partition, index) => {
      this.host.submit(partition, command, (error, reply) => {
        failure ??= error
        if (reply !== undefined) replies[index] = reply as ReplyTo<C>
        if (--open > 0) return
        if (failure === undefined) done(undefined, replies)
        else done(failure, undefined)
      })
    })
  }

  /** What an operator sees. */
  machines(): { readonly state: PartitionState, readonly machine: GroupMachine | undefined }[] {
    return Array.from(this.host.partitions().values(), ({ state, machine }) => ({ state, machine: machine as GroupMachine | undefined }))
  }

  check(): Health {
    const failed = [...this.host.partitions()].filter(([, { state }]) => state === 'failed').map(([partition]) => partition)
    if (failed.length === 0) return { state: 'ok', detail: '' }
    return { state: 'degraded', detail: `the groups in partitions ${failed.join(', ')} of ${offsetsTopicName} cannot be loaded; the log says why` }
  }

  /** What was committed for a topic goes with it: one that is made again under its name begins anew. */
  private forget({ deleted }: MetadataChange): void {
    const topics = new Set(deleted.map(({ name }) => name).filter((name) => name !== offsetsTopicName))
    if (topics.size === 0) return
    // A partition that cannot do it now keeps offsets of topic ids that are no more: they are not told, and expire.
    for (const partition of this.host.partitions().keys()) this.host.submit(partition, { type: 'topicsDeleted', topics }, () => undefined)
  }
}
