import { uuidFromBytes } from '../../base/uuid.ts'
import { onAbort } from '../abort-listeners.ts'
import { abortReason, closedError } from '../client-error.ts'
import { Coordinator } from '../cluster/coordinator.ts'
import { type CommittedOffset, type OffsetToCommit } from '../cluster/group-offsets.ts'
import { type AssignedPartition } from '../consumer/assigned-partition.ts'
import { type Consumer, type ConsumerParts, type QueryOptions } from '../consumer/consumer.ts'
import { ClassicMember } from './core/classic-member.ts'
import { ConsumerMember } from './core/consumer-member.ts'
import { type GroupWork, type MemberMachine } from './core/member-machine.ts'
import { keyOf, type TopicPartition, without } from './core/topic-partitions.ts'
import { GroupSession } from './group-session.ts'
import { type GroupSettings } from './group-settings.ts'
import { OffsetCommits } from './offset-commits.ts'
import { PartitionStarts } from './partition-starts.ts'
import { StandIn } from './stand-in.ts'
import { SubscribedTopics } from './subscribed-topics.ts'
import { type TakenOffsets } from './taken-offsets.ts'

/**
 * What the application wants to know of rebalances. Each may be async and is waited for; meanwhile `poll` gives nothing of these partitions. They are called
 * while `poll`, `unsubscribe` or `close` waits. What one throws, `poll` rejects with.
 */
export interface RebalanceListeners {
  /** These are new here. Their positions are known: they may be sought. */
  readonly onAssigned?: (partitions: readonly TopicPartition[]) => void | Promise<void>
  /** These go to others: the last moment to commit them. With `autoCommit` what was polled before is committed already. */
  readonly onRevoked?: (partitions: readonly TopicPartition[]) => void | Promise<void>
  /** These are others' already: nothing can be committed of them. */
  readonly onLost?: (partitions: readonly TopicPartition[]) => void | Promise<void>
}

export interface MembershipParts extends ConsumerParts {
  readonly group: GroupSettings
  readonly partitions: Map<string, AssignedPartition>
  readonly reader: Consumer
  readonly taken: TakenOffsets
}

/** The side of a group consumer that belongs to the group: membership, committed offsets, and what a rebalance does to the partitions that are read. */
export class Membership {
  readonly session: GroupSession
  private readonly parts: MembershipParts
  private readonly commits: OffsetCommits
  private readonly starts: PartitionStarts
  private readonly subscribed: SubscribedTopics
  private readonly abort = new AbortController()
  private readonly interrupts = new Set<(error: unknown) => void>()
  private listeners: RebalanceListeners = {}
  private names: readonly string[] = []
  private failure: unknown
  private trouble: { readonly error: unknown } | undefined
  private commitsAtEnd = true
  isSubscribed = false

  constructor(parts: MembershipParts) {
    this.parts = parts
    const { world, client, pool, metadata, group } = parts
    const shared = { world, client, pool, metadata }
    const coordinator = new Coordinator(shared, group.groupId)
    this.session = new GroupSession({
      ...shared, standIn: this.standInFor(parts), machine: machineFor(parts), coordinator, rebalanceTimeoutMs: group.pollIntervalMsMax,
      application: {
        perform: work => this.perform(work),
        learn: topics => { void this.subscribed.learn(topics) },
        learnIds: topicIds => { this.subscribed.learnIds(topicIds) },
        told: error => { this.tellOnce(error) },
        failed: error => { this.fail(error) },
      },
    })
    const owns = (partitions: readonly TopicPartition[]): boolean => without(partitions, this.session.machine.owned).length === 0
    this.commits = new OffsetCommits({ ...shared, groupId: group.groupId, coordinator, identity: () => this.session.machine.identity, owns })
    this.starts = new PartitionStarts({
      world, client, group, partitions: parts.partitions, commits: this.commits, taken: parts.taken, isMember: () => this.session.machine.identity.generation >= 0,
      onStarted: () => { parts.reader.resume([]) }, onRefused: error => { this.tellOnce(error) }, signal: this.abort.signal,
    })
    this.subscribed = new SubscribedTopics({
      ...shared,
      onTopics: (topics, isLearned) => { this.session.topics(topics, isLearned) },
      onMatched: (matched) => { this.names = matched; this.session.tell({ type: 'subscribe', subscription: { topics: matched } }) },
      onFailed: error => { this.fail(error) },
    })
  }

  private standInFor({ world, client, group }: MembershipParts): StandIn | undefined {
    if (world.threads === undefined || client.inProcess !== undefined || !group.heartbeatThread) return undefined
    return new StandIn({
      threads: world.threads, timers: world.timers, client, protocol: group.protocol, groupId: group.groupId, intervalMs: group.heartbeatIntervalMs,
      pollIntervalMsMax: group.pollIntervalMsMax, logger: world.logger,
      onMessage: (message) => { this.session.tell(message.type === 'beaten' ? { type: 'beaten', response: message.response } : { type: 'expired' }) },
    })
  }

  get topics(): readonly string[] {
    return this.names
  }

  subscribe(topics: readonly string[] | RegExp | { readonly re2: string }, listeners: RebalanceListeners): void {
    this.listeners = listeners
    this.failure = undefined
    this.isSubscribed = true
    if (topics instanceof RegExp) {
      this.names = []
      this.subscribed.subscribePattern(topics)
    } else {
      this.names = 're2' in topics ? [] : [...new Set(topics)]
      this.subscribed.subscribe(this.names)
      this.session.tell({ type: 'subscribe', subscription: { topics: this.names, ...('re2' in topics ? { regex: topics.re2 } : {}) } })
    }
  }

  async commit(offsets: readonly OffsetToCommit[], options: QueryOptions): Promise<void> {
    const timeoutMs = options.timeoutMs ?? this.parts.client.requestTimeoutMs
    await this.commits.commit(offsets, { timeoutMs, signal: options.signal })
    this.parts.taken.wasCommitted(offsets)
  }

  async committed(partitions: readonly TopicPartition[], options: QueryOptions): Promise<CommittedOffset[]> {
    const found = await this.commits.fetch(partitions, { timeoutMs: options.timeoutMs ?? this.parts.client.requestTimeoutMs, signal: options.signal ?? this.abort.signal })
    const byKey = new Map(found.map(each => [keyOf(each), each]))
    return partitions.map(each => byKey.get(keyOf(each)) ?? { topic: each.topic, partition: each.partition, offset: -1, leaderEpoch: -1, metadata: '' })
  }

  /** Called when a poll under way has to end. Gives the function that ends it. */
  onInterrupt(listener: (error: unknown) => void): () => void {
    this.interrupts.add(listener)
    return () => { this.interrupts.delete(listener) }
  }

  interrupt(error: unknown): void {
    for (const listener of [...this.interrupts]) listener(error)
  }

  /** Throws what ended the membership, each time, and once what a listener has thrown or why partitions are not read. */
  throwTrouble(): void {
    if (this.failure !== undefined) throw this.failure as Error
    const { trouble } = this
    this.trouble = undefined
    if (trouble !== undefined) throw trouble.error as Error
  }

  /** Waits while a rebalance is at the application's partitions. False: the time is up. Rejects with the signal's reason. */
  async idle(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    while (this.session.work !== undefined) {
      if (timeoutMs <= 0) return false
      if (!await within(this.parts.world.timers, this.session.work, timeoutMs, signal)) return false
    }
    return true
  }

  /** Leaves the group; what is under way is given up when the time is over. */
  async leave({ timeoutMs, commits, tells }: { readonly timeoutMs: number, readonly commits: boolean, readonly tells: boolean }): Promise<void> {
    if (!this.isSubscribed) return
    this.isSubscribed = false
    this.commitsAtEnd = commits
    await within(this.parts.world.timers, this.session.leave(tells).then(() => this.commits.settled()), timeoutMs).catch(() => false)
    this.commitsAtEnd = true
    this.subscribed.clear()
    this.names = []
  }

  close(): void {
    this.abort.abort(closedError('consumer'))
    this.session.close()
    this.subscribed.close()
  }

  private fail(error: unknown): void {
    this.failure = error
    this.interrupt(error)
  }

  /** See `GroupApplication`: the partitions are held before anything is waited for. */
  private async perform({ kind, partitions }: GroupWork): Promise<void> {
    try {
      if (kind === 'assign') await this.takeOn(partitions)
      else await this.giveUp(partitions, kind === 'lost')
    } catch (error) {
      if (!this.abort.signal.aborted) this.tellOnce(error)
    }
  }

  /** A poll that waits is told now, and otherwise the next one. */
  private tellOnce(error: unknown): void {
    if (this.interrupts.size === 0) this.trouble ??= { error }
    this.interrupt(error)
  }

  private async giveUp(given: readonly TopicPartition[], isLost: boolean): Promise<void> {
    const { taken, reader } = this.parts
    // What was lost before anybody knew where to begin was never told of.
    const partitions = given.filter(each => this.parts.partitions.has(keyOf(each)))
    if (partitions.length === 0) return
    for (const each of partitions) this.hold(each, true)
    try {
      if (isLost) await this.listeners.onLost?.(partitions)
      else {
        await this.commitRevoked(partitions)
        await this.listeners.onRevoked?.(partitions)
      }
    } finally {
      reader.assign(without(reader.assignment(), partitions))
      taken.forget(partitions)
      this.commits.givenUp(partitions)
    }
  }

  /** What cannot be committed is read again by who has the partitions next; that is no reason to keep them from him. */
  private async commitRevoked(partitions: readonly TopicPartition[]): Promise<void> {
    const { group, client, taken, world } = this.parts
    const open = group.autoCommit && this.commitsAtEnd ? taken.open(partitions) : []
    if (open.length === 0) return
    try {
      await this.commit(open, { timeoutMs: Math.min(client.requestTimeoutMs, group.sessionTimeoutMs), signal: this.abort.signal })
    } catch (error) {
      if (!this.abort.signal.aborted) world.logger?.warn('what was read of partitions that go to others could not be committed', { error })
    }
  }

  private async takeOn(partitions: readonly TopicPartition[]): Promise<void> {
    const { reader } = this.parts
    const found = await this.starts.find(partitions)
    if (found === undefined) return
    reader.assign([...reader.assignment(), ...partitions])
    this.starts.begin(partitions, found)
    for (const each of partitions) this.hold(each, true)
    try {
      await this.listeners.onAssigned?.(partitions)
    } finally {
      for (const each of partitions) this.hold(each, false)
      reader.resume([])
    }
  }

  private hold(each: TopicPartition, isHeld: boolean): void {
    const assigned = this.parts.partitions.get(keyOf(each))
    if (assigned !== undefined) assigned.isHeld = isHeld
  }
}

function machineFor({ group, client, world }: MembershipParts): MemberMachine {
  const settings = {
    groupId: group.groupId, instanceId: group.instanceId, rack: client.rack === '' ? null : client.rack, sessionTimeoutMs: group.sessionTimeoutMs,
    heartbeatIntervalMs: group.heartbeatIntervalMs, pollIntervalMsMax: group.pollIntervalMsMax,
  }
  return group.protocol === 'consumer' ? new ConsumerMember({ ...settings, serverAssignor: group.serverAssignor }, uuidFromBytes(world.random.bytes(16)))
    : new ClassicMember(settings, group.assignors)
}

/** Whether it was settled before the time was up. Rejects with the signal's reason, and as it does itself. */
function within(timers: MembershipParts['world']['timers'], work: Promise<unknown>, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject: (error: Error) => void) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal))
      return
    }
    const timer = timeoutMs === Infinity ? undefined : timers.after(timeoutMs, () => { end(); resolve(false) })
    const unlisten = onAbort(signal, () => { end(); reject(abortReason(signal!)) })
    const end = (): void => {
      timer?.cancel()
      unlisten()
    }
    work.then(() => { end(); resolve(true) }, (error: unknown) => { end(); reject(error as Error) })
  })
}
