import { backoffMs } from '../../base/backoff.ts'
import { isMillraceError, type MillraceError } from '../../kernel/errors/index.ts'
import { type Timer } from '../../kernel/ports/clock.ts'
import { kafkaError, kafkaErrors, metadataApi, type MetadataResponse } from '../../wire/index.ts'
import { call } from '../channel/call.ts'
import { onAbort } from '../abort-listeners.ts'
import { abortReason, brokerError, closedError, isRetriable } from '../client-error.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { type BrokerPool } from './broker-pool.ts'
import { leaderless, type NodeInfo, topicFrom, type TopicInfo, withLeader } from './topic-info.ts'

/** What is known of a topic that somebody uses. */
interface Tracked {
  /** The last good answer; it stays through answers that say "not now". */
  info: TopicInfo | undefined
  /** Why there is no good answer. */
  error: MillraceError | undefined
  /** The broker may create it, where it is set up to. */
  mayCreate: boolean
  users: number
}

/**
 * What the cluster looks like: brokers, and the topics in use with their leaders. It asks one question at a time, of any broker; whoever meets an error
 * that says "your picture is old" calls `refresh`. Listeners are told after each answer and after each failed attempt.
 */
export class Metadata {
  private readonly world: ClientWorld
  private readonly settings: ClientSettings
  private readonly pool: BrokerPool
  private readonly tracked = new Map<string, Tracked>()
  private readonly listeners = new Set<() => void>()
  private nodesById = new Map<number, NodeInfo>()
  /** Attempts in a row that got no answer. */
  private failures = 0
  /** Answers in a row that lacked something. */
  private shortfalls = 0
  private asking = false
  /** A question came up that the one under way may not answer. */
  private again = false
  private timer: Timer | undefined
  private timerDueMs = Infinity
  private lastAskedMs = -Infinity
  private askedMs = -Infinity
  private isClosed = false
  private problem: unknown

  clusterId: string | null = null
  controllerId = -1

  constructor(world: ClientWorld, settings: ClientSettings, pool: BrokerPool) {
    this.world = world
    this.settings = settings
    this.pool = pool
  }

  get nodes(): ReadonlyMap<number, NodeInfo> {
    return this.nodesById
  }

  /** Why no broker could be asked last time; undefined when one answered. */
  get lastFailure(): unknown {
    return this.problem
  }

  /** When the question was asked whose answer is this picture: what somebody has heard of since need not be in it. */
  get pictureMs(): number {
    return this.askedMs
  }

  topic(name: string): TopicInfo | undefined {
    return this.tracked.get(name)?.info
  }

  /** Why a topic is not known; undefined while nothing is known yet, or all is well. */
  topicError(name: string): MillraceError | undefined {
    return this.tracked.get(name)?.error
  }

  /** Keeps a topic in the picture until `untrack`, and asks for it if it is not. */
  track(name: string, mayCreate: boolean): void {
    const known = this.tracked.get(name)
    if (known === undefined) {
      this.tracked.set(name, { info: undefined, error: undefined, mayCreate, users: 1 })
      this.refresh()
      return
    }
    known.users++
    known.mayCreate ||= mayCreate
    if (known.info === undefined) this.refresh()
  }

  untrack(name: string): void {
    const known = this.tracked.get(name)
    if (known !== undefined && --known.users === 0) this.tracked.delete(name)
  }

  /** Called after the picture may have changed, or an attempt has failed. Gives the function that ends it. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => { this.listeners.delete(listener) }
  }

  /** A broker has named the leader itself (KIP-951), so nobody need ask. */
  learnLeader(topic: string, partition: number, leaderId: number, leaderEpoch: number, nodes: readonly NodeInfo[]): void {
    const known = this.tracked.get(topic)
    if (known?.info === undefined) return
    const changed = withLeader(known.info, partition, leaderId, leaderEpoch)
    if (changed === known.info) return
    if (nodes.some(node => !this.nodesById.has(node.id))) {
      for (const node of nodes) this.nodesById.set(node.id, node)
      this.pool.update([...this.nodesById.values()])
    }
    if (!this.nodesById.has(leaderId)) return
    known.info = changed
    this.tell()
  }

  /** Asks as soon as is decent: at once after a quiet time, otherwise after the backoff. Calls in between cost nothing. */
  refresh(): void {
    if (this.isClosed) return
    if (this.asking) {
      this.again = true
      return
    }
    const nowMs = this.world.clock.monotonicMs()
    const troubles = Math.max(1, this.failures, this.shortfalls)
    const pauseMs = backoffMs(troubles, this.settings.backoff, () => this.world.random.fraction())
    this.plan(Math.max(nowMs, this.lastAskedMs + pauseMs))
  }

  /**
   * Waits until `look` gives something. Rejects when it throws, when the cluster refuses this client for good, with the signal's reason, and after
   * `timeoutMs` with `late()`.
   */
  waitFor<T>(look: () => T | undefined, options: { timeoutMs: number, signal?: AbortSignal | undefined, late: () => Error }): Promise<T> {
    return new Promise((resolve, reject: (error: Error) => void) => {
      const { timeoutMs, signal, late } = options
      let stop = (): void => undefined
      const check = (): boolean => {
        try {
          if (this.isClosed) throw closedError('client')
          const found = look()
          if (found === undefined && this.problem !== undefined && !isRetriable(this.problem)) throw this.problem as Error
          if (found === undefined) return false
          stop()
          resolve(found)
        } catch (error) {
          stop()
          reject(error as Error)
        }
        return true
      }
      if (signal?.aborted === true) {
        reject(abortReason(signal))
        return
      }
      if (check()) return
      const timer = this.world.timers.after(timeoutMs, () => {
        stop()
        reject(late())
      })
      const unlisten = this.onChange(check)
      const unlistenAbort = onAbort(signal, () => {
        stop()
        reject(abortReason(signal!))
      })
      stop = () => {
        timer.cancel()
        unlisten()
        unlistenAbort()
      }
      this.refresh()
    })
  }

  /** Who waits is told that it is over. */
  close(): void {
    this.isClosed = true
    this.timer?.cancel()
    this.timer = undefined
    this.tell()
    this.listeners.clear()
  }

  private plan(atMs: number): void {
    if (atMs >= this.timerDueMs) return
    this.timer?.cancel()
    this.timerDueMs = atMs
    const fire = (): void => {
      this.timer = undefined
      this.timerDueMs = Infinity
      void this.ask()
    }
    this.timer = this.world.timers.after(Math.max(0, atMs - this.world.clock.monotonicMs()), fire)
  }

  /** Never rejects. */
  private async ask(): Promise<void> {
    this.asking = true
    this.again = false
    this.lastAskedMs = this.world.clock.monotonicMs()
    let isShort = false
    try {
      // Only topics that somebody wants to have created may be, whatever else is asked for.
      const names = [...this.tracked.keys()]
      const creating = names.filter(name => this.mayCreate(name))
      const others = creating.length === 0 ? names : names.filter(name => !this.mayCreate(name))
      if (creating.length > 0) isShort = this.take(await this.askFor(creating, true))
      if (creating.length === 0 || others.length > 0) isShort = this.take(await this.askFor(others, false)) || isShort
      this.askedMs = this.lastAskedMs
      this.problem = undefined
      this.failures = 0
      this.shortfalls = isShort ? this.shortfalls + 1 : 0
    } catch (error) {
      if (!isMillraceError(error)) this.world.logger?.error('a metadata answer could not be taken', { error })
      this.problem = error
      this.failures++
    }
    if (this.isClosed) return
    this.asking = false
    this.tell()
    if (this.again || isShort || this.failures > 0) this.refresh()
    else if (this.tracked.size > 0) this.plan(this.lastAskedMs + this.settings.metadataAgeMsMax)
  }

  private mayCreate(name: string): boolean {
    const tracked = this.tracked.get(name)
    return tracked?.mayCreate === true && tracked.info === undefined
  }

  private askFor(topics: readonly string[], allowAutoTopicCreation: boolean): Promise<MetadataResponse> {
    return call(
      this.pool.anyChannel(this.failures), metadataApi, () => ({ topics: topics.map(name => ({ name })), allowAutoTopicCreation }),
      { timeoutMs: this.settings.requestTimeoutMs, oldest: 1 },
    )
  }

  /** Whether somebody waits for something that the answer lacks, though it may come. */
  private take(response: MetadataResponse): boolean {
    if (response.errorCode === kafkaErrors.REBOOTSTRAP_REQUIRED) {
      this.pool.forget()
      this.nodesById = new Map()
      return true
    }
    if (response.errorCode !== kafkaErrors.NONE) throw brokerError(response.errorCode, { what: 'Metadata' })
    const nodes = response.brokers.map(({ nodeId, host, port, rack }): NodeInfo => ({ id: nodeId, host, port, rack }))
    // A broker that has just started may know none; what was known is better than nothing.
    if (nodes.length > 0) {
      this.nodesById = new Map(nodes.map(node => [node.id, node]))
      this.pool.update(nodes)
    }
    this.clusterId = response.clusterId
    this.controllerId = response.controllerId
    let incomplete = false
    for (const answer of response.topics) {
      const tracked = answer.name === null ? undefined : this.tracked.get(answer.name)
      if (tracked === undefined) continue
      if (answer.errorCode === kafkaErrors.NONE && answer.partitions.length > 0) {
        const before = tracked.info
        tracked.info = topicFrom(answer, before)
        this.warnOfLost(tracked.info, before)
        tracked.error = undefined
        incomplete ||= tracked.info.partitions.some(partition => partition.leaderId < 0)
      } else {
        tracked.error = brokerError(answer.errorCode, { what: `metadata of topic ${answer.name}`, topic: answer.name! })
        // "Unknown" means gone, once the topic had been there; other passing errors leave the picture as it was.
        if (!kafkaError(answer.errorCode).retriable || answer.errorCode === kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION) tracked.info = undefined
        incomplete ||= kafkaError(answer.errorCode).retriable
      }
    }
    return incomplete
  }

  /** Once for each partition that came to have no leader: who uses it waits, and may wait long. */
  private warnOfLost(topic: TopicInfo, before: TopicInfo | undefined): void {
    for (const each of topic.partitions) {
      if (each.leaderId >= 0 || before?.partitions[each.partition]?.leaderId === -1) continue
      this.world.logger?.warn('a partition has no leader', { topic: topic.name, partition: each.partition, error: leaderless(topic.name, each) })
    }
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener()
  }
}
