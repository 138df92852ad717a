import { MillraceError } from '../../kernel/errors/index.ts'
import { type Timer } from '../../kernel/ports/clock.ts'
import { onAbort } from '../abort-listeners.ts'
import { refuseMethods } from '../absent-methods.ts'
import { abortReason, closedError } from '../client-error.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { type BrokerPool } from '../cluster/broker-pool.ts'
import { type Metadata } from '../cluster/metadata.ts'
import { earliestTimestamp, latestTimestamp, lookUpOffsets, type OffsetAnswer } from '../cluster/offset-lookup.ts'
import { AssignedPartition, type Start } from './assigned-partition.ts'
import { checkAssignments, checkPartition, checkPartitions, checkSeek, checkSeekToTime, checkTimes, checkWait } from './consumer-arguments.ts'
import { type ConsumerRecord } from './consumer-record.ts'
import { type ConsumerSettings } from './consumer-settings.ts'
import { Fetcher } from './fetcher.ts'
import { FetchOutcomes } from './fetch-outcomes.ts'
import { giveBack, roundsOf } from './give-back.ts'
import { PositionLookup } from './position-lookup.ts'
import { PositionWaiters } from './position-waiters.ts'

export interface ConsumerParts {
  readonly world: ClientWorld
  readonly client: ClientSettings
  readonly settings: ConsumerSettings
  readonly pool: BrokerPool
  readonly metadata: Metadata
  /** What is read, by topic/partition: for who steers a consumer from inside of the client. */
  readonly partitions?: Map<string, AssignedPartition>
  /** Called once, at the end of `close`. */
  readonly onClosed: () => Promise<void>
}

/** A partition of a topic: the topic's name as it was made, and a number from 0. */
export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** A partition to read, and where to begin. */
export interface Assignment extends TopicPartition {
  /** Where to begin. Default: where it was, for a partition that was assigned before; else `beginning`. */
  readonly offset?: Start
}

/** What bounds one poll. What is out of its range is refused with MR_CLIENT_SETTING. */
export interface PollOptions {
  /** At most so many, from 1. Default 500. */
  readonly maxRecords?: number
  /** How long to wait when nothing is there. 0 looks and does not wait. Default: for ever. */
  readonly timeoutMs?: number
  /** Ends the wait: the poll rejects with its reason, and nothing is lost. */
  readonly signal?: AbortSignal
}

/** What bounds a question to the cluster. */
export interface QueryOptions {
  /** Default: the client's `requestTimeoutMs`. */
  readonly timeoutMs?: number
  /** Ends the wait: the call rejects with its reason. */
  readonly signal?: AbortSignal
}

const queryNames: readonly (keyof QueryOptions)[] = ['timeoutMs', 'signal']
const pollNames: readonly (keyof PollOptions)[] = ['maxRecords', 'timeoutMs', 'signal']

interface PendingPoll {
  readonly maxRecords: number
  readonly resolve: (records: ConsumerRecord[]) => void
  readonly reject: (error: unknown) => void
  stop: () => void
}

/**
 * Reads partitions that it is told to read. Records of a partition come in the order of their offsets; between partitions there is no order. Fetching goes
 * on ahead of `poll`, up to `prefetchBytesMax`. It belongs to no group and commits nothing: where it has read to is the application's to keep.
 */
export class Consumer implements AsyncIterable<ConsumerRecord> {
  private readonly parts: ConsumerParts
  private readonly partitions: Map<string, AssignedPartition>
  private readonly fetcher: Fetcher
  private readonly lookup: PositionLookup
  private readonly positionWaiters: PositionWaiters
  private readonly unlisten: () => void
  private pending: PendingPoll | undefined
  private turn = 0
  private isClosed = false
  private closing: Promise<void> | undefined

  constructor(parts: ConsumerParts) {
    this.parts = parts
    this.partitions = parts.partitions ?? new Map<string, AssignedPartition>()
    const { world, client, settings, pool, metadata } = parts
    this.positionWaiters = new PositionWaiters(world.timers)
    const onNews = (): void => { this.answerPoll() }
    this.lookup = new PositionLookup({ world, client, settings, pool, metadata, onNews: () => { this.fetcher.runSoon(); onNews() } })
    this.fetcher = new Fetcher({
      world, client, settings, pool, metadata, partitions: this.partitions, lookup: this.lookup, onNews,
      outcomes: new FetchOutcomes({ world, client, settings, metadata }),
    })
    this.unlisten = metadata.onChange(() => { this.fetcher.runSoon() })
  }

  /**
   * Reads these partitions from now on, and no others. Topics need not exist yet: they are read when they do. Throws MR_CLIENT_SETTING for something that
   * is no partition or no place to begin; then nothing has changed.
   */
  assign(assignments: readonly Assignment[]): void {
    this.refuseIfClosed()
    checkAssignments('consumer.assign', assignments)
    const { metadata, world, settings } = this.parts
    const before = new Map(this.partitions)
    this.partitions.clear()
    for (const { topic, partition, offset } of assignments) {
      const key = keyOf(topic, partition)
      let assigned = before.get(key)
      const isNew = assigned === undefined
      assigned ??= new AssignedPartition(topic, partition, world.clock.monotonicMs(), world.compression, settings.decompressedBytesMax)
      if (isNew || offset !== undefined) assigned.seek(offset ?? 'beginning')
      if (isNew) metadata.track(topic, false)
      this.partitions.set(key, assigned)
      before.delete(key)
    }
    for (const gone of before.values()) {
      gone.seek('end')
      metadata.untrack(gone.topic)
    }
    this.fetcher.runSoon()
  }

  /** What was assigned last, in the order given; nothing after `close`. */
  assignment(): TopicPartition[] {
    return [...this.partitions.values()].map(({ topic, partition }) => ({ topic, partition }))
  }

  /**
   * The records that come next, up to `maxRecords`; those that are there, at once. Waits while there are none; an empty array when `timeoutMs` is up.
   *
   * Rejects when an assigned partition that is not paused cannot be read on: MR_CLIENT_OFFSET_OUT_OF_RANGE, MR_CLIENT_LOG_TRUNCATED,
   * MR_CLIENT_NOT_AUTHORIZED, MR_CLIENT_PARTITION_UNKNOWN, MR_RECORD_CORRUPT and others, each with topic and partition in its details; and again until
   * somebody seeks, pauses or assigns. Nothing that was read is lost by that. Rejects with MR_CLIENT_AUTHENTICATION, MR_CLIENT_CLOSED and the signal's
   * reason. What will pass by itself is waited for. One poll at a time.
   */
  poll(options: PollOptions = {}): Promise<ConsumerRecord[]> {
    try {
      this.refuseIfClosed()
      checkWait('consumer.poll', options, pollNames)
    } catch (error) {
      return Promise.reject(error as Error)
    }
    const { maxRecords = 500, timeoutMs = Infinity, signal } = options
    try {
      if (signal?.aborted === true) throw abortReason(signal)
      if (this.pending !== undefined) throw new MillraceError('MR_CLIENT_UNSUPPORTED', { what: 'poll', reason: 'another poll is under way; await it first' })
      const records = this.collect(maxRecords)
      if (records.length > 0 || timeoutMs <= 0) return Promise.resolve(records)
    } catch (error) {
      return Promise.reject(error as Error)
    }
    return this.wait(maxRecords, timeoutMs, signal)
  }

  /**
   * Record by record, for ever; ends without an error when the consumer is closed. Leaving the loop loses nothing: reading goes on behind the last record
   * it was given. For speed, take the arrays of `poll`.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<ConsumerRecord, void, undefined> {
    while (!this.isClosed) {
      let records: ConsumerRecord[]
      try {
        records = await this.poll()
      } catch (error) {
        if (this.isClosed) return
        throw error
      }
      const rounds = roundsOf(this.partitions)
      let given = 0
      try {
        while (given < records.length) yield records[given++]!
      } finally {
        if (given < records.length) giveBack(this.partitions, records, given, rounds)
        if (!this.isClosed) this.fetcher.runSoon()
      }
    }
  }

  /** `poll` gives nothing of these until `resume`; what was fetched ahead is kept. */
  pause(partitions: readonly TopicPartition[]): void {
    checkPartitions('consumer.pause', partitions)
    for (const assigned of partitions.map(each => this.assigned(each.topic, each.partition))) assigned.isPaused = true
  }

  /**
   * `poll` gives records of these again, beginning with what was fetched ahead. Fine for what is not paused. Throws MR_CLIENT_SETTING for partitions that are
   * not assigned.
   */
  resume(partitions: readonly TopicPartition[]): void {
    checkPartitions('consumer.resume', partitions)
    for (const assigned of partitions.map(each => this.assigned(each.topic, each.partition))) assigned.isPaused = false
    this.fetcher.runSoon()
    this.answerPoll()
  }

  /** The next `poll` goes on from there. Offsets of the same partition polled before may come again. Throws MR_CLIENT_SETTING. */
  seek(where: TopicPartition & { readonly offset: Start }): void {
    checkSeek(where)
    this.assigned(where.topic, where.partition).seek(where.offset)
    this.fetcher.runSoon()
  }

  /** Goes to the first record that is not older, in milliseconds; where none is, to the end. Throws MR_CLIENT_SETTING. */
  seekToTime(partition: TopicPartition, timestampMs: number): void {
    checkSeekToTime(partition, timestampMs)
    this.seek({ topic: partition.topic, partition: partition.partition, offset: { timestamp: timestampMs } })
  }

  /**
   * The offset of the record that `poll` gives next, or behind the last one it gave. Waits while it has to be looked up; rejects with
   * MR_CLIENT_REQUEST_TIMEOUT when it was not found out in time, with the reason.
   */
  async position(where: TopicPartition, options: QueryOptions = {}): Promise<number> {
    checkPartition({ call: 'consumer.position' }, where)
    checkWait('consumer.position', options, queryNames)
    const assigned = this.assigned(where.topic, where.partition)
    const look = (): number | undefined => {
      this.refuseIfClosed()
      if (assigned.phase === 'failed' && assigned.position < 0) throw assigned.error!
      return assigned.position >= 0 ? assigned.position : undefined
    }
    const found = look()
    if (found !== undefined) return found
    const { client, metadata } = this.parts
    const { timeoutMs = client.requestTimeoutMs, signal } = options
    return this.positionWaiters.wait(look, { timeoutMs, signal, late: () => {
      const cause = metadata.topicError(where.topic) ?? metadata.lastFailure
      const reason = cause instanceof Error ? cause.message : 'no leader of the partition has answered'
      const what = `the position in ${where.topic}-${where.partition}`
      return new MillraceError('MR_CLIENT_REQUEST_TIMEOUT', { api: what, timeoutMs, reason }, cause, `${what} was not found out within ${timeoutMs} ms: ${reason}`)
    } })
  }

  /** Behind the last record that may be read. */
  async endOffsets(partitions: readonly TopicPartition[], options: QueryOptions = {}): Promise<OffsetAnswer[]> {
    checkPartitions('consumer.endOffsets', partitions)
    checkWait('consumer.endOffsets', options, queryNames)
    return this.offsetsForTimes(partitions.map(each => ({ ...each, timestamp: latestTimestamp })), options)
  }

  /** Of the first record that is still there. */
  async beginningOffsets(partitions: readonly TopicPartition[], options: QueryOptions = {}): Promise<OffsetAnswer[]> {
    checkPartitions('consumer.beginningOffsets', partitions)
    checkWait('consumer.beginningOffsets', options, queryNames)
    return this.offsetsForTimes(partitions.map(each => ({ ...each, timestamp: earliestTimestamp })), options)
  }

  /** Of the first record that is not older than each time, in milliseconds; -1 where there is none. The partitions need not be assigned. */
  async offsetsForTimes(questions: readonly (TopicPartition & { readonly timestamp: number })[], options: QueryOptions = {}): Promise<OffsetAnswer[]> {
    this.refuseIfClosed()
    checkTimes('consumer.offsetsForTimes', questions)
    checkWait('consumer.offsetsForTimes', options, queryNames)
    const { client, settings } = this.parts
    return lookUpOffsets(this.parts, questions, {
      isolationLevel: settings.isolationLevel, timeoutMs: options.timeoutMs ?? client.requestTimeoutMs, signal: options.signal,
    })
  }

  /** A poll under way rejects with MR_CLIENT_CLOSED. Never rejects; a second call waits for the first. */
  close(): Promise<void> {
    this.closing ??= this.shut()
    return this.closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  private async shut(): Promise<void> {
    this.isClosed = true
    this.fetcher.close()
    this.lookup.close()
    this.unlisten()
    for (const { topic } of this.partitions.values()) this.parts.metadata.untrack(topic)
    this.partitions.clear()
    this.positionWaiters.lookAgain()
    const { pending } = this
    this.pending = undefined
    pending?.stop()
    pending?.reject(closedError('consumer'))
    await this.parts.onClosed()
  }

  private wait(maxRecords: number, timeoutMs: number, signal: AbortSignal | undefined): Promise<ConsumerRecord[]> {
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined
      const pending: PendingPoll = {
        maxRecords, resolve, reject,
        stop: () => {
          timer?.cancel()
          unlisten()
        },
      }
      const end = (settle: () => void): void => {
        if (this.pending !== pending) return
        this.pending = undefined
        pending.stop()
        settle()
      }
      if (timeoutMs < Infinity) timer = this.parts.world.timers.after(timeoutMs, () => { end(() => { resolve([]) }) })
      const unlisten = onAbort(signal, () => { end(() => { reject(abortReason(signal!)) }) })
      this.pending = pending
    })
  }

  /** Something may have changed for who waits. */
  private answerPoll(): void {
    this.positionWaiters.lookAgain()
    const { pending } = this
    if (pending === undefined) return
    let records: ConsumerRecord[] = []
    let failure: unknown
    try {
      records = this.collect(pending.maxRecords)
    } catch (error) {
      failure = error
    }
    if (records.length === 0 && failure === undefined) return
    this.pending = undefined
    pending.stop()
    if (failure === undefined) pending.resolve(records)
    else pending.reject(failure)
  }

  /** Takes turns between partitions: each begins once. Throws the error of one that has failed. */
  private collect(maxRecords: number): ConsumerRecord[] {
    const records: ConsumerRecord[] = []
    const all = [...this.partitions.values()]
    throwFailure(all)
    let hasMoved = false
    for (let step = 0; step < all.length && records.length < maxRecords; step++) {
      const partition = all[(this.turn + step) % all.length]!
      if (partition.isSilent) continue
      const chunksBefore = partition.chunks.length
      try {
        partition.take(records, maxRecords - records.length)
      } catch (error) {
        // What was read before it goes to the application first.
        partition.fail(error as MillraceError)
        if (records.length === 0) throw error
        break
      }
      hasMoved ||= partition.chunks.length !== chunksBefore
      if (partition.isOutOfRange && partition.chunks.length === 0) {
        this.leaveRange(partition)
        hasMoved = true
      }
    }
    this.turn = all.length === 0 ? 0 : (this.turn + 1) % all.length
    if (hasMoved) this.fetcher.run()
    if (records.length === 0) throwFailure(all)
    return records
  }

  private leaveRange(partition: AssignedPartition): void {
    const { onOffsetOutOfRange } = this.parts.settings
    const { topic, partition: index, position: offset } = partition
    partition.isOutOfRange = false
    if (onOffsetOutOfRange === 'error') partition.fail(new MillraceError('MR_CLIENT_OFFSET_OUT_OF_RANGE', { topic, partition: index, offset }))
    else partition.seek(onOffsetOutOfRange === 'earliest' ? 'beginning' : 'end')
  }

  private assigned(topic: string, partition: number): AssignedPartition {
    this.refuseIfClosed()
    const assigned = this.partitions.get(keyOf(topic, partition))
    if (assigned === undefined) throw new MillraceError('MR_CLIENT_SETTING', { key: 'partition', reason: `${topic}-${partition} is not assigned` })
    return assigned
  }

  private refuseIfClosed(): void {
    if (this.isClosed) throw closedError('consumer')
  }
}

refuseMethods(Consumer, ['subscribe', 'unsubscribe', 'subscription', 'groupMembership', 'enforceRebalance', 'commit', 'committed', 'paused', 'lag'],
  'this consumer is in no group, and reads what it is told by assign; give createConsumer a groupId for a member of a group')

function throwFailure(partitions: readonly AssignedPartition[]): void {
  for (const partition of partitions) if (partition.phase === 'failed' && !partition.isSilent) throw partition.error!
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`
}
