import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { type Timer } from '../../kernel/ports/clock.ts'
import { argumentError } from '../arguments.ts'
import { onAbort } from '../abort-listeners.ts'
import { refuseMethods } from '../absent-methods.ts'
import { abortReason, closedError } from '../client-error.ts'
import { type CommittedOffset, type OffsetToCommit } from '../cluster/group-offsets.ts'
import { type OffsetAnswer } from '../cluster/offset-lookup.ts'
import { type AssignedPartition, type Start } from '../consumer/assigned-partition.ts'
import { checkPartitions, checkWait } from '../consumer/consumer-arguments.ts'
import { Consumer, type ConsumerParts, type PollOptions, type QueryOptions } from '../consumer/consumer.ts'
import { type ConsumerRecord } from '../consumer/consumer-record.ts'
import { giveBack, roundsOf } from '../consumer/give-back.ts'
import { keyOf, type TopicPartition } from './core/topic-partitions.ts'
import { checkOffsets, checkSubscription } from './group-arguments.ts'
import { Membership, type RebalanceListeners } from './membership.ts'
import { type GroupSettings } from './group-settings.ts'
import { TakenOffsets } from './taken-offsets.ts'

export interface GroupConsumerParts extends Omit<ConsumerParts, 'partitions'> {
  readonly group: GroupSettings
}

/** A pattern that the coordinator matches itself, in the words of RE2. The consumer protocol alone. */
export interface Re2Pattern {
  /** As re2 (github.com/google/re2) has them, matched against the whole name. */
  readonly re2: string
}

/** What bounds a commit. */
export type CommitOptions = QueryOptions

/** How a member leaves its group. */
export interface LeaveOptions {
  /** How long to wait for the last commit and for the coordinator. Default: the client's `requestTimeoutMs`. */
  readonly timeoutMs?: number
  /** Whether the group is told, so that others have the partitions at once. Default: true, and false with `groupInstanceId`: it is expected back. */
  readonly leave?: boolean
  /** Whether what was polled is committed, with `autoCommit`. Default true. */
  readonly commit?: boolean
}

/** How far a member is behind in a partition. */
export interface PartitionLag extends TopicPartition {
  /** The offset that `poll` gives next; -1 while it has to be looked up. */
  readonly position: number
  /** Behind the last record that may be read with this `isolation`, at the time of asking. */
  readonly endOffset: number
  /** How many offsets are between them; undefined while the position is not known. Not all of them need be records. */
  readonly lag: number | undefined
}

/** Who a member is, as it knows now. */
export interface GroupMembership {
  /** As it was configured. */
  readonly groupId: string
  /** Empty before the coordinator has given one. */
  readonly memberId: string
  /** The generation, or the member epoch; -1 outside of the group. */
  readonly generation: number
  /** As it was configured; undefined without one. */
  readonly groupInstanceId: string | undefined
  /** Where it stands: for people and logs. The words may change. */
  readonly phase: string
  /** Whether another thread watches over it now, and heartbeats while the event loop is blocked. */
  readonly heartbeatThread: boolean
}

/**
 * Reads topics together with the other members of a group: each partition is read by one of them. It joins with the first `poll`, and what a rebalance
 * asks of the application (listeners, the last commit) happens while it polls, never beside a handler.
 */
export class GroupConsumer implements AsyncIterable<ConsumerRecord> {
  private readonly parts: GroupConsumerParts
  private readonly partitions = new Map<string, AssignedPartition>()
  private readonly reader: Consumer
  private readonly taken: TakenOffsets
  private readonly membership: Membership
  private commitTimer: Timer | undefined
  /** The record that a loop is at. */
  private current: ConsumerRecord | undefined
  /** What the application has sought since the last poll gave something: nothing that was given before says where it goes on there. */
  private readonly sought = new Set<string>()
  private isPolling = false
  private closing: Promise<void> | undefined

  constructor(parts: GroupConsumerParts) {
    this.parts = parts
    this.reader = new Consumer({ ...parts, partitions: this.partitions, onClosed: () => Promise.resolve() })
    this.taken = new TakenOffsets(this.partitions)
    this.membership = new Membership({ ...parts, partitions: this.partitions, reader: this.reader, taken: this.taken })
  }

  /**
   * What to read from now on: topics by name, or all that match. Joins with the next `poll`. Topics need not exist yet. The listeners take the place of
   * those before; they may be async and are waited for. Throws MR_CLIENT_SETTING.
   */
  subscribe(topics: readonly string[] | RegExp | Re2Pattern, listeners: RebalanceListeners = {}): void {
    this.refuseIfClosed()
    checkSubscription(topics, listeners)
    if ('re2' in topics && this.parts.group.protocol !== 'consumer') {
      throw argumentError('consumer.subscribe', 're2 is for the broker to match, which it does with groupProtocol \'consumer\' alone; give a RegExp')
    }
    this.membership.subscribe(topics, listeners)
    this.planCommit()
  }

  /** Leaves the group, after the last commit and `onRevoked`. */
  async unsubscribe(options: Pick<LeaveOptions, 'timeoutMs' | 'commit'> = {}): Promise<void> {
    this.refuseIfClosed()
    checkWait('consumer.unsubscribe', options, ['timeoutMs', 'commit'])
    await this.leave(options)
  }

  /** The topics of the subscription; with a pattern those that match it by now. */
  subscription(): readonly string[] {
    return this.membership.topics
  }

  /** The partitions that this member has now, in no order that counts; none outside of the group. */
  assignment(): TopicPartition[] {
    return this.reader.assignment()
  }

  /** Who this member is. */
  groupMembership(): GroupMembership {
    const { memberId, generation, instanceId } = this.membership.session.machine.identity
    return { groupId: this.parts.group.groupId, memberId, generation, groupInstanceId: instanceId ?? undefined, phase: this.membership.session.machine.phase, heartbeatThread: this.membership.session.isStoodInFor }
  }

  /**
   * The records that come next, as `Consumer.poll` gives them; who polls again says that it is done with what it was given before. Rejects as that does, with
   * MR_CLIENT_GROUP_REFUSED, MR_CLIENT_GROUP_FENCED, MR_CLIENT_GROUP_NO_OFFSET, and once with what a listener threw.
   */
  async poll(options: PollOptions = {}): Promise<ConsumerRecord[]> {
    this.refuseIfClosed()
    checkWait('consumer.poll', options, ['maxRecords', 'timeoutMs', 'signal'])
    if (options.signal?.aborted === true) throw abortReason(options.signal)
    if (this.isPolling) throw new MillraceError('MR_CLIENT_UNSUPPORTED', { what: 'poll', reason: 'another poll is under way; await it first' })
    if (!this.membership.isSubscribed) throw argumentError('consumer.poll', 'it is subscribed to nothing; call subscribe first')
    this.current = undefined
    this.taken.takeAll()
    this.isPolling = true
    const { session } = this.membership
    session.tell({ type: 'polling' })
    try {
      return await this.pollWithin(options)
    } finally {
      this.isPolling = false
      this.sought.clear()
      session.tell({ type: 'polled' })
    }
  }

  /**
   * Record by record, for ever; ends without an error when the consumer is closed. Each record that is asked for says that the one before it is done. After a
   * `seek` the partition goes on there. Leaving the loop loses nothing.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<ConsumerRecord, void, undefined> {
    while (this.closing === undefined) {
      let records: ConsumerRecord[]
      try {
        records = await this.poll()
      } catch (error) {
        if (this.closing !== undefined) return
        throw error
      }
      const rounds = roundsOf(this.partitions)
      let given = 0
      try {
        while (given < records.length && !this.isWantedElsewhere(given)) {
          const record = records[given++]!
          const key = keyOf(record)
          // What was polled of a partition that is others' by now is theirs.
          if (!this.partitions.has(key) || this.sought.has(key)) continue
          this.current = record
          yield record
          if (!this.sought.has(key)) this.taken.take(record)
          this.membership.session.tell({ type: 'polled' })
        }
      } finally {
        if (given < records.length) giveBack(this.partitions, records, given, rounds)
        // From here on positions say what was given.
        this.current = undefined
        this.reader.resume([])
      }
    }
  }

  /** `poll` gives nothing of these until `resume`, or until they are others'. */
  pause(partitions: readonly TopicPartition[]): void {
    this.reader.pause(partitions)
  }

  /**
   * `poll` gives records of these again, beginning with what was fetched ahead. Fine for what is not paused. Throws MR_CLIENT_SETTING for partitions that it
   * does not have.
   */
  resume(partitions: readonly TopicPartition[]): void {
    this.reader.resume(partitions)
  }

  /** Assigned partitions that are paused. */
  paused(): TopicPartition[] {
    return [...this.partitions.values()].filter(({ isPaused }) => isPaused).map(({ topic, partition }) => ({ topic, partition }))
  }

  /** The next `poll` goes on from there. It is committed like any other position. */
  seek(where: TopicPartition & { readonly offset: Start }): void {
    this.reader.seek(where)
    this.sought.add(keyOf(where))
    this.taken.sought(where)
  }

  /** The next `poll` goes on with the first record that is not older than so many milliseconds since the epoch, or at the end where none is. Throws MR_CLIENT_SETTING. */
  seekToTime(partition: TopicPartition, timestampMs: number): void {
    this.reader.seekToTime(partition, timestampMs)
    this.sought.add(keyOf(partition))
    this.taken.sought({ ...partition, offset: { timestamp: timestampMs } })
  }

  /** The offset of the record that `poll` gives next. Waits while it has to be looked up, for `timeoutMs` at most: then it rejects with MR_CLIENT_REQUEST_TIMEOUT. */
  position(where: TopicPartition, options: QueryOptions = {}): Promise<number> {
    return this.reader.position(where, options)
  }

  /** The first offset that is still there, of each partition in the order given. They need not be assigned. */
  beginningOffsets(partitions: readonly TopicPartition[], options: QueryOptions = {}): Promise<OffsetAnswer[]> {
    return this.reader.beginningOffsets(partitions, options)
  }

  /** The offset behind the last record that may be read with this `isolation`, of each partition in the order given. They need not be assigned. */
  endOffsets(partitions: readonly TopicPartition[], options: QueryOptions = {}): Promise<OffsetAnswer[]> {
    return this.reader.endOffsets(partitions, options)
  }

  /** The first record that is not older than each time, in milliseconds since the epoch; offset -1 where there is none. In the order given; they need not be assigned. */
  offsetsForTimes(questions: readonly (TopicPartition & { readonly timestamp: number })[], options: QueryOptions = {}): Promise<OffsetAnswer[]> {
    return this.reader.offsetsForTimes(questions, options)
  }

  /**
   * Commits these offsets, or all that was polled; in a loop, up to the record that it is at; where it has sought, the place. The offset is that of the record to go on with. Commits are made
   * in the order of the calls. Resolves when the coordinator has stored them; rejects with MR_CLIENT_GROUP_COMMIT_REFUSED where the partitions are others' by now.
   */
  async commit(offsets?: readonly OffsetToCommit[], options: CommitOptions = {}): Promise<void> {
    this.refuseIfClosed()
    checkWait('consumer.commit', options, ['timeoutMs', 'signal'])
    if (offsets === undefined) this.takePolled()
    else {
      checkOffsets('consumer.commit', offsets)
      this.taken.atLeast(offsets)
    }
    await this.membership.commit(offsets ?? this.taken.open(), options)
  }

  /** What the group has committed of these partitions: offset -1 where nothing. They need not be assigned. */
  async committed(partitions: readonly TopicPartition[], options: QueryOptions = {}): Promise<CommittedOffset[]> {
    this.refuseIfClosed()
    checkPartitions('consumer.committed', partitions)
    checkWait('consumer.committed', options, ['timeoutMs', 'signal'])
    return this.membership.committed(partitions, options)
  }

  /** How far each assigned partition is behind its end, which is asked for. */
  async lag(options: QueryOptions = {}): Promise<PartitionLag[]> {
    this.refuseIfClosed()
    const ends = await this.reader.endOffsets(this.assignment(), options)
    return ends.map(({ topic, partition, offset }) => {
      const position = this.partitions.get(keyOf({ topic, partition }))?.position ?? -1
      return { topic, partition, position, endOffset: offset, lag: position < 0 ? undefined : Math.max(0, offset - position) }
    })
  }

  /** Asks the group for a rebalance, with the next `poll`: for an assignor to look anew. The classic protocol alone; in the other the coordinator decides. */
  enforceRebalance(reason = 'the application wants it'): void {
    this.refuseIfClosed()
    this.membership.session.tell({ type: 'rejoin', reason })
  }

  /**
   * Leaves in order: what was polled is committed with `autoCommit`, `onRevoked` is called, the group is told. A poll under way rejects with
   * MR_CLIENT_CLOSED. Never rejects; a second call waits for the first.
   */
  close(options: LeaveOptions = {}): Promise<void> {
    return this.closing ??= this.shut(options)
  }

  /** As `close`, for who may come here because something went wrong: what the last `poll` gave is not committed. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.closing ??= this.shut({ commit: true }, false)
  }

  private async shut(options: LeaveOptions, isDone = true): Promise<void> {
    this.membership.interrupt(closedError('consumer'))
    await this.leave(options, isDone)
    this.membership.close()
    await this.reader.close()
    await this.parts.onClosed()
  }

  private async leave({ timeoutMs = this.parts.client.requestTimeoutMs, commit = true, leave }: LeaveOptions, isDone = true): Promise<void> {
    this.commitTimer?.cancel()
    this.commitTimer = undefined
    if (commit && isDone) this.takePolled()
    await this.membership.leave({ timeoutMs, commits: commit, tells: leave ?? this.parts.group.instanceId === null })
  }

  /** While a poll is under way, and in a loop, positions are ahead of what the application was given, but where it has sought. */
  private takePolled(): void {
    const { current, sought } = this
    if (current === undefined && !this.isPolling) {
      this.taken.takeAll()
      return
    }
    if (current !== undefined && !sought.has(keyOf(current))) this.taken.take(current)
    this.taken.takeAll(sought)
  }

  private async pollWithin({ maxRecords = 500, timeoutMs = Infinity, signal }: PollOptions): Promise<ConsumerRecord[]> {
    const { world } = this.parts
    const { membership, reader } = this
    const deadlineMs = world.clock.monotonicMs() + timeoutMs
    if (membership.session.work === undefined) {
      membership.throwTrouble()
      const records = await reader.poll({ maxRecords, timeoutMs: 0 })
      if (records.length > 0 || timeoutMs <= 0) return records
      this.refuseIfClosed()
      if (signal?.aborted === true) throw abortReason(signal)
    }
    const controller = new AbortController()
    const unlisten = onAbort(signal, () => { controller.abort(abortReason(signal!)) })
    const undo = membership.onInterrupt(error => { controller.abort(error) })
    try {
      for (;;) {
        if (!await membership.idle(deadlineMs - world.clock.monotonicMs(), controller.signal)) return []
        membership.throwTrouble()
        const polled = await reader.poll({ maxRecords, timeoutMs: Math.max(0, deadlineMs - world.clock.monotonicMs()), signal: controller.signal })
        const records = await this.afterListeners(polled, deadlineMs, controller.signal)
        if (records.length > 0 || world.clock.monotonicMs() >= deadlineMs) return records
      }
    } finally {
      unlisten()
      undo()
    }
  }

  /** Listeners are never beside a handler. What they outlast, or take elsewhere, is not given. */
  private async afterListeners(records: ConsumerRecord[], deadlineMs: number, signal: AbortSignal): Promise<ConsumerRecord[]> {
    const { membership, partitions } = this
    if (membership.session.work === undefined) return records
    const rounds = roundsOf(partitions)
    let isIdle = false
    try {
      isIdle = await membership.idle(deadlineMs - this.parts.world.clock.monotonicMs(), signal)
    } finally {
      if (!isIdle) giveBack(partitions, records, 0, rounds)
      this.reader.resume([])
    }
    return isIdle ? records.filter(each => partitions.get(keyOf(each))?.round === rounds.get(keyOf(each))) : []
  }

  /** A rebalance waits: the rest of a batch is for afterwards. */
  private isWantedElsewhere(given: number): boolean {
    return given > 0 && this.membership.session.machine.waitsForPoll
  }

  private planCommit(): void {
    const { autoCommit, autoCommitIntervalMs } = this.parts.group
    if (!autoCommit || this.commitTimer !== undefined) return
    this.commitTimer = this.parts.world.timers.after(autoCommitIntervalMs, () => {
      this.commitTimer = undefined
      // Who is out is told so by the next poll; until then nothing can be committed.
      const open = this.membership.session.machine.identity.generation < 0 ? [] : this.taken.open()
      const done = open.length === 0 ? Promise.resolve() : this.membership.commit(open, { timeoutMs: Math.max(autoCommitIntervalMs, 1000) })
      done.catch((error: unknown) => {
        if (!isMillraceError(error, 'MR_CLIENT_CLOSED')) this.parts.world.logger?.warn('offsets could not be committed; it is tried again', { error })
      }).finally(() => { if (this.closing === undefined && this.membership.isSubscribed) this.planCommit() })
    })
  }

  private refuseIfClosed(): void {
    if (this.closing !== undefined) throw closedError('consumer')
  }
}

refuseMethods(GroupConsumer, ['assign'], 'a member of a group is assigned its partitions by the group; subscribe to topics, or leave groupId out and assign by hand')
